//! Reader of calls whose names stand between marks, with arguments in JSON.

use maskwright_suites::tool_calls::Call;

use super::{Cursor, call};

/// Reads DeepSeek's calls: the marks `before` and `behind` the name, then the arguments, then `fence`, the end of a code block, where it is used.
pub(super) fn deepseek(text: &str, before: &str, behind: &str, fence: &str) -> Result<Vec<Call>, String> {
    let mut calls = Vec::new();
    let mut cursor = Cursor::new(text);
    // Outside the section of calls, the marks of a single call have no meaning.
    if cursor.past("<｜tool▁calls▁begin｜>").is_none() {
        return Ok(calls);
    }
    while cursor.past("<｜tool▁call▁begin｜>").is_some() {
        if !cursor.take(before) {
            return Err(format!("{before} is missing before {:?}", cursor.ahead()));
        }
        let name = cursor.past(behind).ok_or("a call without arguments")?;
        let (arguments, repeated) = cursor.json()?;
        calls.push(call(name.trim(), arguments, repeated)?);
        cursor.end(fence)?;
        cursor.end("<｜tool▁call▁end｜>")?;
    }
    Ok(calls)
}

/// Reads gpt-oss's calls: messages to a function.
pub(super) fn harmony(text: &str) -> Result<Vec<Call>, String> {
    let mut calls = Vec::new();
    // Messages of other channels may mention functions; the recipient stands in the header.
    for message in text.split("<|start|>") {
        let Some((header, content)) = message.split_once("<|message|>") else {
            continue;
        };
        let Some((_, name)) = header.split_once("to=functions.") else {
            continue;
        };
        let end = name.find(|character: char| character.is_whitespace() || character == '<');
        let mut cursor = Cursor::new(content);
        let (arguments, repeated) = cursor.json()?;
        calls.push(call(&name[..end.unwrap_or(name.len())], arguments, repeated)?);
        cursor.end("<|call|>")?;
    }
    Ok(calls)
}

//! The continuations of a document that are allowed in place of a forbidden byte: values, names and bytes.

use super::json_position::{JsonPosition, Phase, decoded};
use super::messages::Expected;
use crate::automaton::{Automaton, AutomatonError, State};

/// Maximal number of strings that are listed; where there are more, none is.
const MAX_STRINGS: usize = 12;
/// Maximal number of bytes that may follow one prefix of the listed strings. More of them show that there are too many
/// strings.
const MAX_BRANCHES: usize = 48;
/// Maximal number of states visited for a list of strings.
const MAX_STATES: usize = 1_000;
/// Most single bytes that are listed.
const MAX_BYTES: usize = 6;

/// Returns the continuations at a state: the values, names and bytes that may come next, shortest description first.
pub(super) fn expected(
    automaton: &mut Automaton,
    at: State,
    position: &JsonPosition,
    text: &[u8],
) -> Result<Vec<Expected>, AutomatonError> {
    let mut expected = Vec::new();
    match position.phase {
        Phase::Text { start, .. } => listed_strings(automaton, at, &text[start..], Expected::Text, &mut expected)?,
        Phase::Key { start, .. } => listed_strings(automaton, at, &text[start..], Expected::Name, &mut expected)?,
        Phase::Value => listed_values(automaton, at, &mut expected)?,
        Phase::Name => listed_names(automaton, at, &mut expected)?,
        Phase::Literal(_) | Phase::Number | Phase::Colon | Phase::After => {}
    }
    let bytes: Vec<u8> = following(automaton, at)?.into_iter().map(|(byte, _)| byte).collect();
    let is_in_string = matches!(position.phase, Phase::Text { .. } | Phase::Key { .. });
    let mut members = Vec::new();
    if matches!(position.phase, Phase::After | Phase::Number)
        && !position.is_in_array()
        && let Some(comma) = automaton.step(at, b',')?
    {
        listed_names(automaton, comma, &mut members)?;
    }
    let is_listed = |byte: &u8| match position.phase {
        Phase::Value => *byte == b']',
        Phase::Name => *byte == b'}',
        Phase::Text { .. } | Phase::Key { .. } => expected.is_empty(),
        _ => *byte != b',' || members.is_empty(),
    };
    let bytes: Vec<u8> = bytes.into_iter().filter(is_listed).collect();
    if bytes.len() <= MAX_BYTES || !is_in_string {
        push_bytes(&bytes, &mut expected);
    }
    expected.append(&mut members);
    if automaton.is_complete(at)? {
        expected.push(Expected::End);
    }
    Ok(expected)
}

/// Adds bytes to the expected continuations, digits as one.
fn push_bytes(bytes: &[u8], expected: &mut Vec<Expected>) {
    if bytes.iter().filter(|byte| byte.is_ascii_digit()).count() > 2 {
        expected.push(Expected::Digit);
        expected.extend(
            bytes
                .iter()
                .filter(|byte| !byte.is_ascii_digit())
                .map(|byte| Expected::Byte(*byte)),
        );
    } else {
        expected.extend(bytes.iter().map(|byte| Expected::Byte(*byte)));
    }
}

/// Adds the kinds of values that may begin, with the strings where they are few.
fn listed_values(automaton: &mut Automaton, at: State, expected: &mut Vec<Expected>) -> Result<(), AutomatonError> {
    const KINDS: [(u8, &str); 6] = [
        (b'n', "null"),
        (b't', "true"),
        (b'f', "false"),
        (b'"', "a string"),
        (b'[', "an array"),
        (b'{', "an object"),
    ];
    for (byte, kind) in KINDS {
        let Some(next) = automaton.step(at, byte)? else {
            continue;
        };
        let before = expected.len();
        if byte == b'"' {
            listed_strings(automaton, next, b"\"", Expected::Text, expected)?;
        }
        if expected.len() == before {
            expected.push(Expected::Value(kind));
        }
    }
    for byte in b"-0123456789" {
        if automaton.step(at, *byte)?.is_some() {
            expected.push(Expected::Value("a number"));
            break;
        }
    }
    Ok(())
}

/// Adds the names that may begin.
fn listed_names(automaton: &mut Automaton, at: State, expected: &mut Vec<Expected>) -> Result<(), AutomatonError> {
    let Some(next) = automaton.step(at, b'"')? else {
        return Ok(());
    };
    let before = expected.len();
    listed_strings(automaton, next, b"\"", Expected::Name, expected)?;
    if expected.len() == before {
        expected.push(Expected::AnyName);
    }
    Ok(())
}

/// The place within an escape, or outside of any, at which a string ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EscapePart {
    None,
    /// After the backslash.
    Backslash,
    /// After `\u` and so many digits.
    Digits(u8),
}

impl EscapePart {
    /// Whether a byte continues to a spelling that is the only one of its character, or one of few. Others are second spellings
    /// of characters that are found without them.
    fn may_be_followed_by(self, byte: u8) -> bool {
        match self {
            Self::None => true,
            Self::Backslash => b"\"\\nrtbfu".contains(&byte),
            Self::Digits(0 | 1) => byte == b'0',
            Self::Digits(2) => matches!(byte, b'0' | b'1'),
            Self::Digits(_) => matches!(byte, b'0'..=b'9' | b'a'..=b'f'),
        }
    }

    fn then(self, byte: u8) -> Self {
        match (self, byte) {
            (Self::None, b'\\') => Self::Backslash,
            (Self::Backslash, b'u') => Self::Digits(0),
            (Self::Digits(digits @ 0..=2), _) => Self::Digits(digits + 1),
            _ => Self::None,
        }
    }
}

/// Adds the strings that begin with a prefix, where they are few.
fn listed_strings(
    automaton: &mut Automaton,
    at: State,
    begun: &[u8],
    what: fn(String) -> Expected,
    expected: &mut Vec<Expected>,
) -> Result<(), AutomatonError> {
    let mut found = Vec::new();
    let mut left = vec![(at, begun.to_vec(), EscapePart::None)];
    let mut looked_at = 0;
    while let Some((at, text, part)) = left.pop() {
        looked_at += 1;
        let mut next = following(automaton, at)?;
        next.retain(|(byte, _)| part.may_be_followed_by(*byte));
        if next.len() > MAX_BRANCHES || looked_at > MAX_STATES || found.len() > MAX_STRINGS {
            return Ok(());
        }
        for (byte, after) in next.into_iter().rev() {
            let longer = [&text[..], &[byte]].concat();
            if byte == b'"' && part == EscapePart::None {
                found.extend(decoded(&longer));
            } else {
                left.push((after, longer, part.then(byte)));
            }
        }
    }
    if found.len() <= MAX_STRINGS {
        found.sort();
        found.dedup();
        expected.extend(found.into_iter().map(what));
    }
    Ok(())
}

/// The bytes that may follow, and where they lead to. Whitespace between the parts of a document is left out.
fn following(automaton: &mut Automaton, at: State) -> Result<Vec<(u8, State)>, AutomatonError> {
    let in_string = automaton.is_in_text(at);
    let mut following = Vec::new();
    for byte in 0..=255 {
        if !in_string && matches!(byte, b' ' | b'\t' | b'\n' | b'\r') {
            continue;
        }
        if let Some(next) = automaton.step(at, byte)? {
            following.push((byte, next));
        }
    }
    Ok(following)
}

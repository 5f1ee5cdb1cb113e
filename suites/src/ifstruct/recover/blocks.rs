//! Reads structures that stand as a block of their own, and gives back the rest of the prompt.

use serde_json::{Map, Value};

use super::super::Presentation;
use super::lexer::{Limits, Token, Type, lex, regex};
use super::recovered::{Field, Recovered, schema};

/// Reads the structure in `prompt` into `recovered`; returns the sentences around it.
pub(super) fn read(prompt: &str, style: Presentation, recovered: &mut Recovered) -> String {
    match style {
        Presentation::Prose => prompt.to_owned(),
        Presentation::JsonSchema => json_schema(prompt, recovered),
        Presentation::AnnotatedJson => annotated_json(prompt, recovered),
        Presentation::AnnotatedYaml => annotated_yaml(prompt, recovered),
        Presentation::AsciiTable => table(prompt, recovered),
        Presentation::Bullets => lines(prompt, recovered, |line| {
            let found = regex!(r"^\s*[-*•] `([^`]+)`(?:: | \(| — )(.*)$").captures(line)?;
            Some((found[1].to_owned(), found[2].to_owned()))
        }),
        Presentation::PathGlossary => lines(prompt, recovered, |line| {
            let found = regex!(r"^(?:\$\.|/)?([a-z][\w./\[\]*]*)\s*(?: = | -> | :: |: )(.*)$").captures(line)?;
            Some((found[1].to_owned(), found[2].to_owned()))
        }),
    }
}

/// Reads a field from its description: type, limits and presence; `None` without a type. The text behind `about` marks is read
/// too, and changes nothing.
fn field(name: &str, description: &str) -> Option<Field> {
    let mut read: Option<Field> = None;
    for token in lex(description) {
        match (token, &mut read) {
            (Token::Type(kind), None) => read = Some(Field::new(name, kind)),
            (Token::Bounds(bounds), Some(field)) => field.bounds = bounds,
            (Token::Length(length), Some(field)) => {
                if let Type::List(_, of) | Type::Objects(of) = &mut field.kind {
                    *of = length;
                }
            }
            (Token::Optional, Some(field)) => field.optional = true,
            (Token::Null, Some(field)) => field.nullable = true,
            _ => {}
        }
    }
    read
}

fn insert(fields: &mut Vec<Field>, path: &str, field: Field) {
    let parts: Vec<&str> = path
        .split(['.', '/', '[', ']', '*'])
        .filter(|part| !part.is_empty())
        .collect();
    match parts.as_slice() {
        [parent, name] => {
            if let Some(parent) = fields.iter_mut().find(|field| field.name == *parent) {
                parent.fields.push(Field {
                    name: (*name).to_owned(),
                    ..field
                });
            }
        }
        _ => fields.push(field),
    }
}

fn lines(prompt: &str, recovered: &mut Recovered, entry: impl Fn(&str) -> Option<(String, String)>) -> String {
    let mut fields = Vec::new();
    let mut rest = String::new();
    for line in prompt.lines() {
        let read = entry(line).and_then(|(path, description)| Some((field(&path, &description)?, path)));
        match read {
            Some((field, path)) => insert(&mut fields, &path, field),
            None => {
                rest.push_str(line);
                rest.push('\n');
            }
        }
    }
    recovered.schema = schema(&fields);
    rest
}

fn table(prompt: &str, recovered: &mut Recovered) -> String {
    let mut fields = Vec::new();
    let mut rest = String::new();
    let mut columns: Vec<String> = Vec::new();
    for line in prompt.lines() {
        let ruled = regex!(r"^\S+(?:   +\S.*)+$").is_match(line);
        let cells: Vec<String> = match (line.starts_with('|'), ruled) {
            (true, _) => line
                .trim_matches('|')
                .split('|')
                .map(|cell| cell.trim().to_owned())
                .collect(),
            (_, true) => regex!(r"   +").split(line).map(|cell| cell.trim().to_owned()).collect(),
            _ if line.starts_with("+-") => continue,
            _ => {
                rest.push_str(line);
                rest.push('\n');
                continue;
            }
        };
        if cells[0].starts_with("--") || cells[0].is_empty() {
            continue;
        }
        if columns.is_empty() {
            columns = cells;
            continue;
        }
        let cell = |names: &[&str]| {
            let place = columns.iter().position(|column| names.contains(&column.as_str()));
            place.and_then(|place| cells.get(place)).map_or("", String::as_str)
        };
        let path = cell(&["Field", "Path", "Name"]);
        let description = format!("{}; {}", cell(&["Type"]), cell(&["Constraints", "Limits"]));
        let Some(mut field) = field(path, &description) else {
            continue;
        };
        field.optional = ["no", "optional", "N"].contains(&cell(&["Required", "Presence"]));
        insert(&mut fields, path, field);
    }
    recovered.schema = schema(&fields);
    rest
}

fn json_schema(prompt: &str, recovered: &mut Recovered) -> String {
    let Some(start) = prompt.find('{') else {
        return prompt.to_owned();
    };
    let mut values = serde_json::Deserializer::from_str(&prompt[start..]).into_iter::<Value>();
    let Some(Ok(value)) = values.next() else {
        return prompt.to_owned();
    };
    let end = start + values.byte_offset();
    let mut list = bare(&value);
    if list["type"] == "object" {
        let properties = list["properties"]
            .as_object()
            .filter(|properties| properties.len() == 1);
        let Some((key, value)) = properties.and_then(|properties| properties.iter().next()) else {
            return prompt.to_owned();
        };
        if list["required"][0] != **key {
            return prompt.to_owned();
        }
        recovered.wrapper = Some(key.clone());
        list = value.clone();
    }
    if let Some(members) = list.as_object_mut() {
        let bounds = (members.remove("minItems"), members.remove("maxItems"));
        if let (Some(min), Some(max)) = bounds {
            recovered.count = min.as_u64().zip(max.as_u64());
        }
    }
    recovered.schema = list;
    format!(
        "{}{}",
        prompt[..start].trim_end().trim_end_matches("```json"),
        prompt[end..].trim_start().trim_start_matches("```")
    )
}

/// Returns a schema without the members that judge nothing.
fn bare(value: &Value) -> Value {
    let Some(members) = value.as_object() else {
        return value.clone();
    };
    let mut kept = Map::new();
    for (name, value) in members {
        match (name.as_str(), value) {
            ("title" | "description" | "$schema", Value::String(_)) => {}
            ("additionalProperties", Value::Bool(false)) => {}
            ("properties", Value::Object(properties)) => {
                let properties = properties.iter().map(|(name, schema)| (name.clone(), bare(schema)));
                kept.insert(name.clone(), properties.collect());
            }
            _ => {
                kept.insert(name.clone(), bare(value));
            }
        }
    }
    Value::Object(kept)
}

/// Splits a line into the text before a comment, and the comment.
fn comment(line: &str) -> (&str, &str) {
    match regex!(r"(?:^|\s)(?://|#)\s").find(line) {
        Some(mark) => (line[..mark.start()].trim_end(), &line[mark.end()..]),
        None => (line.trim_end(), ""),
    }
}

/// Reads the number of items from a comment.
fn items(text: &str) -> Limits {
    let found = lex(text).into_iter().find_map(|token| match token {
        Token::Length(length) => Some(length),
        _ => None,
    });
    found.unwrap_or_default()
}

fn count(text: &str) -> Option<(u64, u64)> {
    let limits = items(text);
    limits.min?.parse().ok().zip(limits.max?.parse().ok())
}

fn annotated_json(prompt: &str, recovered: &mut Recovered) -> String {
    let mut rest = String::new();
    // Fields read, and the containers that are open.
    let mut stack: Vec<Field> = Vec::new();
    let mut top: Vec<Field> = Vec::new();
    let mut inside = false;
    let mut brackets = 0_i32;
    for line in prompt.lines() {
        let (code, said) = comment(line);
        let code = code.trim();
        if !(inside || code == "{" || code == "[") {
            rest.push_str(line);
            rest.push('\n');
            continue;
        }
        inside = true;
        if ["{", "["].contains(&code) {
            if brackets == 0 && code == "[" {
                recovered.count = count(said);
            }
            brackets += 1;
        } else if ["}", "},", "]", "],"].contains(&code) {
            brackets -= 1;
            let opened = stack
                .last()
                .is_some_and(|field| field.bounds.max.as_deref() == Some(&brackets.to_string()));
            if opened && let Some(mut field) = stack.pop() {
                field.bounds = Limits::default();
                let fields = stack.last_mut().map_or(&mut top, |parent| &mut parent.fields);
                fields.push(field);
            }
            inside = brackets > 0;
        } else if let Some(found) = regex!(r#"^"(\w+)": ([\[{])$"#).captures(code) {
            if brackets == 1
                && code.ends_with('[')
                && top.is_empty()
                && recovered.count.is_none()
                && count(said).is_some()
            {
                recovered.wrapper = Some(found[1].to_owned());
                recovered.count = count(said);
                brackets += 1;
                continue;
            }
            let kind = if code.ends_with('[') {
                Type::Objects(items(said))
            } else {
                Type::Object
            };
            let mut field = Field::new(&found[1], kind);
            field.optional = lex(said).contains(&Token::Optional);
            // Where the container ends is kept until it does.
            field.bounds.max = Some(brackets.to_string());
            brackets += 1;
            stack.push(field);
        } else if let Some(found) = regex!(r#"^"(\w+)": (.*?),?$"#).captures(code) {
            let read = scalar_or_list(&found[1], &found[2], said);
            let fields = stack.last_mut().map_or(&mut top, |parent| &mut parent.fields);
            fields.extend(read);
        }
    }
    recovered.schema = schema(&top);
    rest
}

fn scalar_or_list(name: &str, value: &str, said: &str) -> Option<Field> {
    let unquote = |value: &str| value.replace("\"<", "").replace(">\"", "").replace(['<', '>'], " ");
    match value.strip_prefix('[').and_then(|value| value.strip_suffix(']')) {
        Some(item) => {
            let mut read = field(name, &format!("{}; {said}", unquote(item)))?;
            let Type::Scalar(scalar) = read.kind else { return None };
            read.kind = Type::List(scalar, items(said));
            Some(read)
        }
        None if value.starts_with('"') && !value.starts_with("\"<") => field(name, &format!("{value}; {said}")),
        None => field(
            name,
            &format!(
                "{}; {said}",
                value
                    .trim_start_matches("\"<")
                    .trim_end_matches(">\"")
                    .trim_matches(['<', '{', '}'])
            )
            .replace("{{", ""),
        ),
    }
}

fn annotated_yaml(prompt: &str, recovered: &mut Recovered) -> String {
    let all: Vec<&str> = prompt.lines().collect();
    let is_start = |line: &str| {
        let (code, said) = comment(line);
        count(said).is_some() && (code.is_empty() || regex!(r"^\w+:$").is_match(code))
    };
    let Some(start) = all.iter().position(|line| is_start(line)) else {
        return prompt.to_owned();
    };
    let length = all[start..]
        .iter()
        .position(|line| line.is_empty())
        .unwrap_or(all.len() - start);
    let block = &all[start..start + length];
    let (code, said) = comment(block[0]);
    recovered.count = count(said);
    if let Some(key) = code.strip_suffix(':') {
        recovered.wrapper = Some(key.to_owned());
    }
    let mut top: Vec<Field> = Vec::new();
    let mut base = None;
    for (place, line) in block.iter().enumerate().skip(1) {
        let (code, said) = comment(line);
        let Some(found) = regex!(r"^(\s*(?:- )?)(\w+):(?: (.*))?$").captures(code) else {
            continue;
        };
        let depth = found[1].len();
        let base = *base.get_or_insert(depth);
        let value = found.get(3).map_or("", |value| value.as_str());
        let fields = match (depth > base, top.last_mut()) {
            (true, Some(container)) => &mut container.fields,
            _ => &mut top,
        };
        if !value.is_empty() {
            fields.extend(scalar_or_list(&found[2], value, said));
            continue;
        }
        let next = block.get(place + 1).map_or("", |line| comment(line).0).trim();
        let item = next.strip_prefix("- ");
        let mut read = match item {
            Some(item) if !regex!(r"^\w+:").is_match(item) => scalar_or_list(&found[2], &format!("[{item}]"), said),
            Some(_) => Some(Field::new(&found[2], Type::Objects(items(said)))),
            None => Some(Field::new(&found[2], Type::Object)),
        };
        if let Some(read) = &mut read {
            read.optional = lex(said).contains(&Token::Optional);
        }
        fields.extend(read);
    }
    recovered.schema = schema(&top);
    let mut rest = all[..start].join("\n");
    rest.push('\n');
    rest.push_str(&all[start + length..].join("\n"));
    rest
}

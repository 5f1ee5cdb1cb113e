//! Patterns with brackets that stand for themselves without a backslash, as in `^\[.+]$` or `\{\{.+}}`.
//!
//! ECMA-262 allows them in patterns without the `u` flag (annex B.1.2), and authors of schemas use them; the crate beneath
//! reads patterns as with the flag, where they are errors.

use serde_json::{Map, Value};

/// `schema` with a backslash before each such bracket in its patterns; `None` if there is none.
///
/// `schema` must not be nested too deep for recursion.
pub(super) fn escaped(schema: &Value) -> Option<Value> {
    let mut changed = false;
    let rewritten = rewrite(schema, &mut changed);
    changed.then_some(rewritten)
}

fn rewrite(value: &Value, changed: &mut bool) -> Value {
    match value {
        Value::Object(members) => {
            let members = members
                .iter()
                .map(|(name, member)| (name.clone(), rewrite_member(name, member, changed)));
            Value::Object(members.collect())
        }
        Value::Array(items) => Value::Array(items.iter().map(|item| rewrite(item, changed)).collect()),
        other => other.clone(),
    }
}

fn rewrite_member(name: &str, member: &Value, changed: &mut bool) -> Value {
    let mut pattern = |text: &str| {
        let escaped = escape(text);
        *changed |= escaped != text;
        escaped
    };
    match (name, member) {
        ("pattern", Value::String(text)) => Value::String(pattern(text)),
        ("patternProperties", Value::Object(schemas)) => {
            let keys: Vec<String> = schemas.keys().map(|key| pattern(key)).collect();
            let schemas = schemas.values().map(|schema| rewrite(schema, changed));
            Value::Object(keys.into_iter().zip(schemas).collect::<Map<_, _>>())
        }
        // The names are no keywords.
        ("properties" | "$defs" | "definitions" | "dependencies" | "dependentSchemas", Value::Object(schemas)) => {
            let schemas = schemas
                .iter()
                .map(|(name, schema)| (name.clone(), rewrite(schema, changed)));
            Value::Object(schemas.collect())
        }
        // Values to compare with, not schemas.
        ("enum" | "const" | "default" | "examples", _) => member.clone(),
        _ => rewrite(member, changed),
    }
}

fn escape(pattern: &str) -> String {
    let mut escaped = String::with_capacity(pattern.len() + 2);
    let mut rest = pattern;
    let mut in_class = false;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '\\' => escape_length(rest),
            '{' if !in_class => quantifier_length(rest).unwrap_or(0),
            ']' | '}' if !in_class => 0,
            _ => first.len_utf8(),
        };
        if length == 0 {
            escaped.push('\\');
        }
        match first {
            '[' => in_class = true,
            ']' => in_class = false,
            _ => {}
        }
        let (taken, left) = rest.split_at(length.max(first.len_utf8()));
        escaped.push_str(taken);
        rest = left;
    }
    escaped
}

/// Bytes of the escape that `text` begins with, with its braces in `\p{L}` and `\u{1F600}`.
fn escape_length(text: &str) -> usize {
    let Some(second) = text[1..].chars().next() else {
        return 1;
    };
    let short = 1 + second.len_utf8();
    if matches!(second, 'p' | 'P' | 'u') && text[short..].starts_with('{') {
        return text.find('}').map_or(short, |end| end + 1);
    }
    short
}

/// Bytes of the quantifier that `text` begins with: `{2}`, `{2,}` or `{2,5}`.
fn quantifier_length(text: &str) -> Option<usize> {
    let end = text.find('}')?;
    let (least, most) = text[1..end].split_once(',').unwrap_or((&text[1..end], ""));
    let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    (!least.is_empty() && digits(least) && digits(most)).then_some(end + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn brackets_that_mean_something_stay() {
        for pattern in [
            "",
            "a{2}",
            "a{2,}b{2,5}",
            "[^]]",
            "[{}]",
            r"\[\]\{\}",
            r"\p{L}{2}\u{1F600}",
            r"[\]}]",
            "é\\",
        ] {
            let expected = if pattern == "[^]]" { r"[^]\]" } else { pattern };
            assert_eq!(escape(pattern), expected);
        }
    }

    #[test]
    fn brackets_that_stand_for_themselves_are_escaped() {
        assert_eq!(escape(r"^\[.+]$"), r"^\[.+\]$");
        assert_eq!(escape(r".*\{\{.+}}.*"), r".*\{\{.+\}\}.*");
        assert_eq!(escape("{a}"), r"\{a\}");
        assert_eq!(escape("x{,3}"), r"x\{,3\}");
    }

    #[test]
    fn only_patterns_change() {
        let schema = json!({"properties": {"pattern": {"pattern": "]", "enum": [{"pattern": "]"}]}}, "patternProperties": {"}": {"title": "]"}}});
        let expected = json!({"properties": {"pattern": {"pattern": "\\]", "enum": [{"pattern": "]"}]}}, "patternProperties": {"\\}": {"title": "]"}}});
        assert_eq!(escaped(&schema), Some(expected));
        assert_eq!(escaped(&json!({"pattern": "[a]"})), None);
        // Properties and definitions may be called like keywords.
        for holder in ["properties", "definitions"] {
            for name in ["default", "enum", "patternProperties"] {
                let schema = |pattern: &str| json!({holder: {name: {"pattern": pattern}}});
                assert_eq!(escaped(&schema("]")), Some(schema("\\]")), "{holder} {name}");
            }
        }
    }
}

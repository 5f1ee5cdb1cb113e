//! Writes the reference matcher's structural tags as JSON.

use crate::matcher::{EXPRESSIONS, Mark, Node, SCHEMAS, TagNode};
use crate::parameters::{ARGUMENTS, STYLES};

fn marks(marks: &[Mark]) -> Vec<serde_json::Value> {
    marks.iter().map(mark).collect()
}

fn mark(mark: &Mark) -> serde_json::Value {
    match mark {
        Mark::Text(text) => serde_json::json!(text),
        Mark::Token(token) => serde_json::json!(token),
    }
}

fn side(side: &Mark) -> serde_json::Value {
    match side {
        Mark::Text(text) => serde_json::json!(text),
        Mark::Token(token) => serde_json::json!({"type": "token", "token": token}),
    }
}

fn tag_json(tag: &TagNode) -> serde_json::Value {
    let end = match &tag.ends[..] {
        [end] => side(end),
        ends => serde_json::Value::Array(ends.iter().map(side).collect()),
    };
    serde_json::json!({"type": "tag", "begin": side(&tag.begin), "content": json(&tag.content), "end": end})
}

/// A node as the JSON of a format.
pub(super) fn json(node: &Node) -> serde_json::Value {
    use serde_json::json as of;
    let all = |nodes: &[Node]| nodes.iter().map(json).collect::<Vec<_>>();
    let tags = |tags: &[TagNode]| tags.iter().map(tag_json).collect::<Vec<_>>();
    match node {
        Node::Choice(texts) => of!({"type": "choice", "choices": texts}),
        Node::Json(number) => {
            let schema: serde_json::Value = serde_json::from_str(SCHEMAS[*number].0).unwrap();
            of!({"type": "json_schema", "json_schema": schema})
        }
        Node::Regex(number) => of!({"type": "regex", "pattern": EXPRESSIONS[*number].0}),
        Node::Parameters(style, arguments) => {
            let schema: serde_json::Value = serde_json::from_str(ARGUMENTS[*arguments].schema).unwrap();
            of!({"type": "json_schema", "json_schema": schema, "style": STYLES[*style].0})
        }
        Node::AnyText(excludes) => of!({"type": "any_text", "excludes": excludes}),
        Node::Token(token) => of!({"type": "token", "token": token}),
        Node::ExcludeToken(tokens) => of!({"type": "exclude_token", "exclude_tokens": tokens}),
        Node::AnyTokens(tokens) => of!({"type": "any_tokens", "exclude_tokens": tokens}),
        Node::Sequence(nodes) => of!({"type": "sequence", "elements": all(nodes)}),
        Node::Or(nodes) => of!({"type": "or", "elements": all(nodes)}),
        Node::Tag(tag) => tag_json(tag),
        Node::Triggered {
            triggers,
            tags: list,
            excludes,
            at_least_one,
            stop_after_first,
        } => match triggers[0] {
            Mark::Text(_) => {
                of!({"type": "triggered_tags", "triggers": marks(triggers), "excludes": marks(excludes), "tags": tags(list),
                "at_least_one": at_least_one, "stop_after_first": stop_after_first})
            }
            Mark::Token(_) => {
                of!({"type": "token_triggered_tags", "trigger_tokens": marks(triggers), "exclude_tokens": marks(excludes),
                "tags": tags(list), "at_least_one": at_least_one, "stop_after_first": stop_after_first})
            }
        },
        Node::Separated {
            tags: list,
            separator,
            at_least_one,
            stop_after_first,
        } => {
            of!({"type": "tags_with_separator", "tags": tags(list), "separator": separator,
                "at_least_one": at_least_one, "stop_after_first": stop_after_first})
        }
        Node::Repeat(least, most, node) => {
            let most = most.map_or(-1, i64::from);
            of!({"type": "repeat", "min": least, "max": most, "content": json(node)})
        }
        Node::Dispatch(rules, excludes, repeats) => {
            let list: Vec<_> = rules
                .iter()
                .map(|(pattern, node)| of!([mark(pattern), json(node)]))
                .collect();
            match rules[0].0 {
                Mark::Text(_) => of!({"type": "dispatch", "rules": list, "excludes": marks(excludes), "loop": repeats}),
                Mark::Token(_) => {
                    of!({"type": "token_dispatch", "rules": list, "exclude_tokens": marks(excludes), "loop": repeats})
                }
            }
        }
    }
}

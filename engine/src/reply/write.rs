//! Writes the end of a document in YAML, from the compact JSON that ends it.

use super::yaml::{Collection, CollectionId, Collections, Top, Yaml};

/// A list or mapping that is open: whether it is a mapping, and how far its lines are indented.
type OpenCollection = (bool, u32);

/// The context in which the next piece of JSON is written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Before {
    /// The beginning of a line, or the column at which an item begins, at so many spaces.
    Column(u32),
    /// The colon of a name.
    Colon,
    /// The colon and the space behind it.
    Space,
    /// No context that has to be ended first.
    Nothing,
}

/// Returns the YAML that ends the document at a state, from the compact JSON that ends it; `string` has the number of bytes of
/// that JSON that end a string, where it begins within one.
pub(super) fn rest(collections: &Collections, at: Yaml, string: Option<usize>, json: &[u8]) -> Vec<u8> {
    let mut open: Vec<OpenCollection> = Vec::new();
    let mut id: CollectionId = at.collection;
    while let Some(Collection {
        is_mapping,
        indent,
        around,
    }) = collections.get(id)
    {
        open.insert(0, (is_mapping, indent));
        id = around;
    }
    let mut text = Vec::new();
    let innermost = open.last().copied();
    let (is_mapping, indent) = innermost.unwrap_or((false, 0));
    let mut before = match at.top {
        Top::Root => Before::Column(0),
        Top::Item => Before::Column(indent + 2),
        Top::Dash => {
            text.push(b' ');
            Before::Column(indent + 2)
        }
        Top::Line(left) => {
            text.resize(left as usize, b' ');
            if is_mapping {
                Before::Nothing
            } else {
                text.extend(b"- ");
                Before::Column(indent + 2)
            }
        }
        Top::Colon => Before::Colon,
        Top::Member => Before::Space,
        Top::Name | Top::Scalar | Top::Empty | Top::End => Before::Nothing,
    };
    let mut json = json;
    // The name, scalar or line that was begun is ended first.
    match at.top {
        Top::Name => {
            let end = json.iter().position(|byte| *byte == b'"').unwrap_or(json.len());
            text.extend(&json[..end]);
            text.push(b':');
            json = json.get(end + 2..).unwrap_or_default();
            before = Before::Colon;
        }
        Top::Scalar => json = copy(json, string.unwrap_or_else(|| word_end(json)), &mut text),
        Top::Empty => json = copy(json, json.len().min(1), &mut text),
        _ => {}
    }
    while let Some(&byte) = json.first() {
        match byte {
            b',' => {
                let (is_mapping, indent) = open.last().copied().unwrap_or_default();
                line(&mut text, indent);
                before = match is_mapping {
                    true => Before::Nothing,
                    false => {
                        text.extend(b"- ");
                        Before::Column(indent + 2)
                    }
                };
                json = &json[1..];
            }
            b']' | b'}' => {
                open.pop();
                json = &json[1..];
            }
            b'[' if json.starts_with(b"[]") => {
                if before == Before::Colon {
                    text.push(b' ');
                }
                json = copy(json, 2, &mut text);
                before = Before::Nothing;
            }
            b'[' | b'{' => {
                let is_mapping = byte == b'{';
                let column = match before {
                    Before::Column(column) => column,
                    _ => {
                        let column = open.last().map_or(0, |(_, indent)| indent + 2);
                        line(&mut text, column);
                        column
                    }
                };
                open.push((is_mapping, column));
                before = match is_mapping {
                    true => Before::Nothing,
                    false => {
                        text.extend(b"- ");
                        Before::Column(column + 2)
                    }
                };
                json = &json[1..];
            }
            b'"' if before == Before::Nothing => {
                // A name.
                let name = &json[1..];
                let end = name.iter().position(|byte| *byte == b'"').unwrap_or(name.len());
                text.extend(&name[..end]);
                text.push(b':');
                json = name.get(end + 2..).unwrap_or_default();
                before = Before::Colon;
            }
            _ => {
                if before == Before::Colon {
                    text.push(b' ');
                }
                let length = match byte {
                    b'"' => 1 + string_end(&json[1..], false),
                    _ => word_end(json),
                };
                json = copy(json, length, &mut text);
                before = Before::Nothing;
            }
        }
    }
    text
}

/// Bytes up to a closing quote and with it; `is_escaped` where a backslash before them begins an escape.
pub(super) fn string_end(json: &[u8], mut is_escaped: bool) -> usize {
    let end = json.iter().position(|&byte| {
        let ends = byte == b'"' && !is_escaped;
        is_escaped = byte == b'\\' && !is_escaped;
        ends
    });
    end.map_or(json.len(), |end| end + 1)
}

/// Bytes of a number or word.
fn word_end(json: &[u8]) -> usize {
    let end = json.iter().position(|byte| matches!(byte, b',' | b']' | b'}'));
    end.unwrap_or(json.len())
}

fn line(text: &mut Vec<u8>, indent: u32) {
    text.push(b'\n');
    text.resize(text.len() + indent as usize, b' ');
}

fn copy<'a>(json: &'a [u8], length: usize, text: &mut Vec<u8>) -> &'a [u8] {
    text.extend(&json[..length]);
    &json[length..]
}

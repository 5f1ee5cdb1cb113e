//! [`TextTree`]: the values of a prefix of a JSON text as a tree, each with its span.

use std::ops::Range;

use super::json_position::decoded;

/// The type of a value, which its first byte decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TextKind {
    Null,
    Boolean,
    Number,
    String,
    Array,
    Object,
}

/// A value of a text, or its beginning.
#[derive(Clone, Debug)]
pub(super) struct TextValue {
    pub(super) kind: TextKind,
    /// The bytes of the value; up to the end of the text where it is open.
    pub(super) span: Range<usize>,
    /// Whether the value goes on beyond the text.
    pub(super) is_open: bool,
    /// The members or items that have begun, in order.
    pub(super) children: Vec<TextChild>,
    /// The number of members or items that the value has at least: after a comma one more than have begun.
    pub(super) least_children: usize,
}

/// A member of an object, or an item of an array.
#[derive(Clone, Debug)]
pub(super) struct TextChild {
    /// The name of a member, or its beginning.
    pub(super) name: String,
    /// Whether the name is there as a whole.
    pub(super) is_named: bool,
    /// The byte at which the member or item begins.
    pub(super) start: usize,
    /// The bytes of the name, quotes included.
    pub(super) name_span: Range<usize>,
    /// Index of the value in the tree; none where it has not begun.
    pub(super) value: Option<usize>,
}

/// The values of a text in the order in which they begin; the root comes first.
#[derive(Clone, Debug, Default)]
pub(super) struct TextTree {
    pub(super) values: Vec<TextValue>,
}

impl TextTree {
    /// The values of `text`, up to the first byte that is not JSON. `is_all`: whether the text ends here, so that a number at
    /// its end does too.
    pub(super) fn of(text: &[u8], is_all: bool) -> Self {
        let mut tree = Self::default();
        let mut open: Vec<usize> = Vec::new();
        let mut at = 0;
        while let Some(&byte) = text.get(at) {
            match byte {
                b' ' | b'\t' | b'\n' | b'\r' | b':' => at += 1,
                b',' => {
                    let Some(&parent) = open.last() else { return tree };
                    if tree.values[parent].least_children > tree.values[parent].children.len() {
                        return tree;
                    }
                    tree.values[parent].least_children = tree.values[parent].children.len() + 1;
                    at += 1;
                }
                b'}' | b']' => {
                    let Some(closed) = open.pop() else { return tree };
                    at += 1;
                    let value = &mut tree.values[closed];
                    (value.is_open, value.span.end) = (false, at);
                }
                b'"' if tree.awaits_name(&open) && tree.lacks_comma(&open) => return tree,
                b'"' if tree.awaits_name(&open) => at = tree.read_name(text, at, &open),
                _ => match tree.read_value(text, at, is_all, &mut open) {
                    Some(after) => at = after,
                    None => return tree,
                },
            }
        }
        tree
    }

    /// The name that stands or begins at a byte, or as the next member, where its object has it already.
    pub(super) fn repeated_name(&self, text: &[u8], offset: usize) -> Option<&str> {
        let objects = self.values.iter().filter(|value| value.kind == TextKind::Object);
        let inner = objects.filter(|object| object.span.start < offset && offset < object.span.end);
        let object = inner.max_by_key(|object| object.span.start)?;
        let next = object.children.partition_point(|child| child.start <= offset);
        let is_here = |at: &usize| offset < end_of_string(text, object.children[*at].start).0;
        let is_next = |at: &usize| {
            let start = object.children.get(*at).map(|child| child.start);
            start.is_some_and(|start| text[offset..start].iter().all(|byte| b" \t\r\n,".contains(byte)))
        };
        let at = next.checked_sub(1).filter(is_here);
        let at = at.or_else(|| Some(next).filter(is_next))?;
        let (before, name) = (&object.children[..at], &object.children[at].name);
        (object.children[at].is_named && before.iter().any(|child| child.name == *name)).then_some(name)
    }

    /// Whether a string that begins now is the name of a member.
    fn awaits_name(&self, open: &[usize]) -> bool {
        open.last().is_some_and(|&parent| {
            let parent = &self.values[parent];
            let has_value = parent.children.last().is_none_or(|child| child.value.is_some());
            parent.kind == TextKind::Object && has_value
        })
    }

    /// Whether the innermost value has a part, and no comma behind it.
    fn lacks_comma(&self, open: &[usize]) -> bool {
        let parent = open.last().map(|&parent| &self.values[parent]);
        parent.is_some_and(|parent| !parent.children.is_empty() && parent.least_children == parent.children.len())
    }

    fn read_name(&mut self, text: &[u8], start: usize, open: &[usize]) -> usize {
        let (end, is_named) = end_of_string(text, start);
        if let Some(&parent) = open.last() {
            let parent = &mut self.values[parent];
            parent.children.push(TextChild {
                name: beginning(&text[start..end], is_named),
                is_named,
                start,
                name_span: start..end,
                value: None,
            });
            parent.least_children = parent.children.len();
        }
        end
    }

    /// Reads a value that is no container, or the bracket that opens one; returns the offset behind it.
    fn read_value(&mut self, text: &[u8], start: usize, is_all: bool, open: &mut Vec<usize>) -> Option<usize> {
        let (kind, end, is_open) = match text[start] {
            b'{' => (TextKind::Object, start + 1, true),
            b'[' => (TextKind::Array, start + 1, true),
            b'"' => {
                let (end, is_closed) = end_of_string(text, start);
                (TextKind::String, end, !is_closed)
            }
            b'-' | b'0'..=b'9' => {
                let is_in = |byte: &u8| matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E');
                let end = start + text[start..].iter().take_while(|byte| is_in(byte)).count();
                (TextKind::Number, end, end == text.len() && !is_all)
            }
            b'a'..=b'z' => {
                let end = start
                    + text[start..]
                        .iter()
                        .take_while(|byte| byte.is_ascii_lowercase())
                        .count();
                let kind = if text[start] == b'n' {
                    TextKind::Null
                } else {
                    TextKind::Boolean
                };
                (kind, end, !matches!(&text[start..end], b"null" | b"true" | b"false"))
            }
            _ => return None,
        };
        let index = self.values.len();
        match open.last().copied() {
            None if index > 0 => return None,
            None => {}
            Some(parent) => {
                let parent = &mut self.values[parent];
                match (parent.kind, parent.children.last_mut()) {
                    (TextKind::Object, Some(member)) if member.value.is_none() && member.is_named => {
                        member.value = Some(index);
                    }
                    (TextKind::Array, _) => {
                        parent.children.push(TextChild {
                            name: String::new(),
                            is_named: true,
                            start,
                            name_span: start..start,
                            value: Some(index),
                        });
                        parent.least_children = parent.children.len();
                    }
                    _ => return None,
                }
            }
        }
        if matches!(kind, TextKind::Array | TextKind::Object) {
            open.push(index);
        }
        self.values.push(TextValue {
            kind,
            span: start..if is_open { text.len() } else { end },
            is_open,
            children: Vec::new(),
            least_children: 0,
        });
        Some(end)
    }
}

/// Returns the byte behind the string that begins at `start`, and whether the string ends within the text.
fn end_of_string(text: &[u8], start: usize) -> (usize, bool) {
    let mut at = start + 1;
    while let Some(byte) = text.get(at) {
        match byte {
            b'"' => return (at + 1, true),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    (text.len(), false)
}

/// Decodes the characters of a string or of its prefix, without a partial character at the end.
pub(super) fn beginning(string: &[u8], is_whole: bool) -> String {
    /// Bytes of the longest character: two escapes of surrogates.
    const LONGEST: usize = 12;
    if is_whole {
        return decoded(string).unwrap_or_default();
    }
    let shortest = string.len().saturating_sub(LONGEST).max(1);
    let ends = (shortest..=string.len()).rev();
    let mut beginnings = ends.map(|end| decoded(&[&string[..end], b"\""].concat()));
    beginnings.find_map(|beginning| beginning).unwrap_or_default()
}

//! [`lines_of`]: the lines of many places of a JSON text, found in one pass.

use std::borrow::Cow;
use std::collections::HashMap;

/// Node of the tree of wanted places: its children by name or position, and the indices of the pointers that end at it.
#[derive(Default)]
struct Wanted {
    children: HashMap<String, usize>,
    places: Vec<usize>,
}

/// An array or object that is not closed yet.
struct Open {
    is_array: bool,
    /// Index in the tree of the places that are wanted below it.
    wanted: Option<usize>,
    /// Items that came before.
    position: usize,
    /// The name of the member whose value comes next is read.
    has_name: bool,
    /// Index in the tree of the places that are wanted at and below the member whose name was read.
    member: Option<usize>,
}

/// The line, from 1, on which the name of each member, or each item, begins that one of the JSON Pointers names; none where
/// a pointer leads nowhere. The text is JSON.
pub fn lines_of(text: &str, pointers: &[&str]) -> Vec<Option<usize>> {
    let mut tree = vec![Wanted::default()];
    for (place, pointer) in pointers.iter().enumerate() {
        let mut at = 0;
        for token in pointer.split('/').skip(1) {
            let name = token.replace("~1", "/").replace("~0", "~");
            let next = tree.len();
            at = *tree[at].children.entry(name).or_insert(next);
            if at == next {
                tree.push(Wanted::default());
            }
        }
        tree[at].places.push(place);
    }
    let mut found = vec![None; pointers.len()];
    let mark = |tree: &[Wanted], at: Option<usize>, line: usize, found: &mut [Option<usize>]| {
        for &place in at.map_or(&[][..], |at| &tree[at].places) {
            found[place] = Some(line);
        }
    };
    mark(&tree, Some(0), 1, &mut found);
    let (bytes, mut line, mut at) = (text.as_bytes(), 1, 0);
    let mut open: Vec<Open> = Vec::new();
    while let Some(&byte) = bytes.get(at) {
        let begins_value = !matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | b',' | b':' | b']' | b'}');
        let mut value = (open.is_empty() && begins_value).then_some(0);
        if let Some(frame) = open.last_mut().filter(|_| begins_value) {
            if frame.is_array {
                let name = frame.position.to_string();
                frame.position += 1;
                value = frame
                    .wanted
                    .and_then(|wanted| tree[wanted].children.get(&name).copied());
                mark(&tree, value, line, &mut found);
            } else if frame.has_name {
                frame.has_name = false;
                value = frame.member;
            } else {
                let end = string_end(bytes, at);
                frame.has_name = true;
                frame.member = frame.wanted.and_then(|wanted| {
                    let name = unescaped(&text[at..end]);
                    tree[wanted].children.get(&*name).copied()
                });
                mark(&tree, frame.member, line, &mut found);
                at = end;
                continue;
            }
        }
        match byte {
            b'"' => at = string_end(bytes, at),
            b'{' | b'[' => {
                open.push(Open {
                    is_array: byte == b'[',
                    wanted: value,
                    position: 0,
                    has_name: false,
                    member: None,
                });
                at += 1;
            }
            b'}' | b']' => {
                open.pop();
                at += 1;
            }
            _ if begins_value => {
                let length = bytes[at..]
                    .iter()
                    .take_while(|byte| !b" \t\r\n,]}".contains(byte))
                    .count();
                at += length.max(1);
            }
            _ => {
                line += usize::from(byte == b'\n');
                at += 1;
            }
        }
    }
    found
}

/// Returns the byte offset after the string that begins at `start`, its closing quotation mark included.
fn string_end(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    bytes.len()
}

/// The characters of a string, quotation marks around it.
fn unescaped(string: &str) -> Cow<'_, str> {
    match string.contains('\\') {
        true => Cow::Owned(serde_json::from_str(string).unwrap_or_default()),
        false => Cow::Borrowed(string.trim_matches('"')),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_those_of_names_and_items() {
        let text =
            "\n{\"a\": {\"b/c\":\n [1, \"]\\\"\\n\",\n {\"d\": null}]},\n\"\\u0065~\": \n 2, \"f\": [[],\n[{}]]}";
        let pointers = [
            "",
            "/a",
            "/a/b~1c",
            "/a/b~1c/1",
            "/a/b~1c/2",
            "/a/b~1c/2/d",
            "/e~0",
            "/f/1/0",
            "/f",
            "/nowhere",
            "/a/b~1c/3",
        ];
        let expected = [
            Some(1),
            Some(2),
            Some(2),
            Some(3),
            Some(4),
            Some(4),
            Some(5),
            Some(7),
            Some(6),
            None,
            None,
        ];
        assert_eq!(lines_of(text, &pointers), expected);
        for (pointer, line) in pointers.iter().zip(expected) {
            assert_eq!(maskwright::explain::line_of(text, pointer), line, "{pointer}");
        }
        assert_eq!(lines_of("3", &[""]), [Some(1)]);
        assert_eq!(lines_of("[", &["/0"]), [None]);
    }
}

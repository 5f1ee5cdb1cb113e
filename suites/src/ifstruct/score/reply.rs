//! The data within a reply: without reasoning, in a fenced block or bare.
//!
//! The benchmark is defined by a program in Python, so whitespace, lines and letter case are Python's here.

/// Reasoning tags, an opening and a closing one each.
const REASONING: [(&str, &str); 2] = [("<think>", "</think>"), ("[think]", "[/think]")];

/// Mark of a fence at the start of a line.
const FENCE: &str = "```";

/// A reply without its reasoning, and the place of the data in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Reply {
    /// Text of the reply, without its reasoning.
    pub text: String,
    /// The first fenced block.
    pub block: Block,
}

/// The first fenced block of a reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Block {
    /// No line begins with a fence.
    None,
    /// The fence is never closed.
    Unclosed { info: String },
    /// A fenced block: the text behind the fence on its line, and the lines up to the next fence.
    Closed { info: String, content: String },
}

impl Reply {
    /// Takes a reply apart.
    pub fn new(reply: &str) -> Self {
        let text = without_reasoning(reply);
        let block = first_block(&text);
        Self { text, block }
    }

    /// Returns the text behind the opening fence on its line, in lower case.
    pub fn info(&self) -> Option<String> {
        match &self.block {
            Block::None => None,
            Block::Unclosed { info } | Block::Closed { info, .. } => Some(info.to_lowercase()),
        }
    }

    /// The language that the opening fence names: its first word, in lower case.
    pub fn language(&self) -> Option<String> {
        let info = self.info()?;
        Some(
            info.split(is_space)
                .find(|word| !word.is_empty())
                .unwrap_or_default()
                .to_owned(),
        )
    }

    /// Returns the text before the first fence and behind the last; `None` where there is no closed block or no such text.
    ///
    /// Fences count here wherever they are, not only at the start of a line.
    pub fn commentary(&self) -> Option<String> {
        let Block::Closed { .. } = self.block else { return None };
        let first = self.text.find(FENCE)?;
        let last = self.text.rfind(FENCE)? + FENCE.len();
        let beside = format!("{} {}", strip(&self.text[..first]), strip(&self.text[last..]));
        Some(strip(&beside).to_owned()).filter(|beside| !beside.is_empty())
    }
}

/// Whether Python's `str.isspace` holds.
fn is_space(c: char) -> bool {
    c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c)
}

/// `text` without whitespace around it.
pub(super) fn strip(text: &str) -> &str {
    text.trim_matches(is_space)
}

/// The lines of `text`, as Python's `str.splitlines` finds them: there are more line ends than `\n`.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let ends = |c: char| matches!(c, '\n'..='\r' | '\u{1c}'..='\u{1e}' | '\u{85}' | '\u{2028}' | '\u{2029}');
        let Some((line, tail)) = rest.find(ends).map(|end| rest.split_at(end)) else {
            return Some(std::mem::take(&mut rest));
        };
        rest = tail.strip_prefix("\r\n").unwrap_or_else(|| {
            let mut tail = tail.chars();
            tail.next();
            tail.as_str()
        });
        Some(line)
    })
}

fn first_block(text: &str) -> Block {
    let mut lines = lines(text);
    let Some(info) = lines.find_map(|line| line.strip_prefix(FENCE)) else {
        return Block::None;
    };
    let info = info.to_owned();
    let mut content = String::new();
    for (number, line) in lines.enumerate() {
        if line.starts_with(FENCE) {
            return Block::Closed { info, content };
        }
        if number > 0 {
            content.push('\n');
        }
        content.push_str(line);
    }
    Block::Unclosed { info }
}

/// Removes a model's reasoning from `reply`, in the forms in which models mark it.
///
/// In this order: spans between tags; all up to a closing tag without an opening one; all from an opening tag that is never
/// closed; all up to the final channel of the Harmony format; its end marker.
fn without_reasoning(reply: &str) -> String {
    let text = without_spans(reply);
    let mut text = text.as_str();
    if let Some((_, end)) = REASONING.iter().find_map(|(_, closing)| find(text, 0, closing)) {
        text = &text[end..];
    }
    let opening = REASONING.iter().filter_map(|(opening, _)| find(text, 0, opening));
    if let Some((start, _)) = opening.min() {
        text = &text[..start];
    }
    if let Some(answer) = final_channel(text) {
        text = answer;
    }
    let end = text.trim_end_matches(is_space);
    for marker in ["<|end|>", "<|return|>"] {
        if let Some(before) = end.strip_suffix(marker) {
            text = before;
            break;
        }
    }
    strip(text).to_owned()
}

/// Removes from `text` the spans between an opening tag and the next closing one of the same kind.
fn without_spans(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    // Of each kind of tag the next closing one, once looked for: none, or its place.
    let mut closings: [Option<Option<(usize, usize)>>; 2] = [None; 2];
    let (mut at, mut from) = (0, 0);
    while let Some(start) = text[from..].find(['<', '[']).map(|start| from + start) {
        from = start + 1;
        for ((opening, closing), known) in REASONING.iter().zip(&mut closings) {
            let Some(length) = matches(&text[start..], opening) else {
                continue;
            };
            let inside = start + length;
            let stale = known.is_none_or(|known| known.is_some_and(|(start, _)| start < inside));
            if stale {
                *known = Some(find(text, inside, closing));
            }
            if let Some(Some((_, end))) = *known {
                kept.push_str(&text[at..start]);
                (at, from) = (end, end);
            }
            break;
        }
    }
    kept.push_str(&text[at..]);
    kept
}

/// Returns the text behind the announcement of Harmony's final channel.
fn final_channel(text: &str) -> Option<&str> {
    text.match_indices("assistant").find_map(|(at, role)| {
        let rest = &text[at + role.len()..];
        let answer = rest.strip_prefix("<|channel|>").unwrap_or(rest).strip_prefix("final")?;
        Some(answer.strip_prefix("<|message|>").unwrap_or(answer))
    })
}

/// The first place of `tag` from `from` on: start and end. A tag is of ASCII, in lower case.
fn find(text: &str, from: usize, tag: &str) -> Option<(usize, usize)> {
    let first = tag.chars().next()?;
    let candidates = text[from..].match_indices(first).map(|(at, _)| from + at);
    candidates
        .filter_map(|start| Some((start, start + matches(&text[start..], tag)?)))
        .next()
}

/// The length of `tag` at the start of `text`, in letters of either case. `i` and `k` have further relatives, which Python's
/// regular expressions count among their cases.
fn matches(text: &str, tag: &str) -> Option<usize> {
    let mut rest = text.chars();
    for expected in tag.chars() {
        let folded = match rest.next()? {
            'İ' | 'ı' => 'i',
            '\u{212a}' => 'k',
            c => c.to_ascii_lowercase(),
        };
        if folded != expected {
            return None;
        }
    }
    Some(text.len() - rest.as_str().len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasoning_is_stripped_in_all_its_forms() {
        for (reply, expected) in [
            ("<think>a</think>[1]", "[1]"),
            ("<THINK>a\n</Think> x <think></think>y", "x y"),
            ("[THINK]a[/think]b", "b"),
            ("<think>a [/THINK]</think>b", "b"),
            ("thought</think>[1]", "[1]"),
            ("a</think>b</think>c", "b</think>c"),
            ("a[/THINK]b", "b"),
            ("a[/THINK]b</think>c", "c"),
            ("[1]<think>more", "[1]"),
            ("[THINK]a<think>b</think>c", ""),
            ("x<think>a[THINK]b", "x"),
            ("<think>a</thınk>b", "b"),
            ("a</THİN\u{212a}>b", "b"),
            ("notes<|start|>assistant<|channel|>final<|message|>[1]<|end|>", "[1]"),
            ("assistantfinal[1]<|return|> \n", "[1]"),
            ("assistant said; assistantfinal<|message|>1", "1"),
            ("1<|end|><|return|>", "1<|end|>"),
            ("1<|end|>x", "1<|end|>x"),
            ("\u{1f} 1 \u{a0}", "1"),
            ("\u{feff}1", "\u{feff}1"),
        ] {
            assert_eq!(without_reasoning(reply), expected, "{reply:?}");
        }
    }

    #[test]
    fn blocks_start_and_end_at_the_start_of_a_line() {
        let closed = |info: &str, content: &str| Block::Closed {
            info: info.to_owned(),
            content: content.to_owned(),
        };
        for (reply, expected) in [
            ("[1]", Block::None),
            (" ```\n1\n```", closed("", "1")),
            ("x\n ```json\n1\n```", Block::Unclosed { info: String::new() }),
            ("```json\r\n1\u{2028}2\x0b3\n``` x", closed("json", "1\n2\n3")),
            ("```json\n```", closed("json", "")),
            ("```a\n\n```", closed("a", "")),
            ("````\n1\n```", closed("`", "1")),
            (
                "```json [1]```",
                Block::Unclosed {
                    info: "json [1]```".to_owned(),
                },
            ),
            ("```\n1\n```\n```\n2\n```", closed("", "1")),
        ] {
            assert_eq!(Reply::new(reply).block, expected, "{reply:?}");
        }
    }

    #[test]
    fn commentary_is_what_stands_before_the_first_and_behind_the_last_fence() {
        for (reply, expected) in [
            ("[1] x", None),
            ("```\n1\n```", None),
            ("a\n```\n1\n```\nb", Some("a b")),
            ("```\n1\n```x", Some("x")),
            ("```\n1\n```\nbetween\n```\n2\n```", None),
            ("a ``` b\n```\n1\n```", Some("a")),
            ("```\n1\n````", None),
        ] {
            assert_eq!(Reply::new(reply).commentary().as_deref(), expected, "{reply:?}");
        }
    }

    #[test]
    fn tags_without_end_take_linear_time() {
        let many = "[THINK]<think></think>".repeat(200_000);
        assert_eq!(without_reasoning(&many), "");
        assert_eq!(without_reasoning(&"<think>".repeat(500_000)), "");
    }
}

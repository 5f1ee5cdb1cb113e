//! A reference matcher of structural tags, slow and independent of the engine: it follows all parses.

use std::collections::BTreeSet;

use crate::{CALL, END, LONGER, SPECIAL, UNNAMED};
use maskwright::{TokenId, TokenKind, Vocabulary};

/// A fixed text, or a token by its id.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Mark {
    Text(String),
    Token(TokenId),
}

/// A structural tag.
#[derive(Clone, Debug)]
pub(super) enum Node {
    Choice(Vec<String>),
    Json(usize),
    Regex(usize),
    AnyText(Vec<String>),
    Token(TokenId),
    ExcludeToken(Vec<TokenId>),
    AnyTokens(Vec<TokenId>),
    Sequence(Vec<Node>),
    Or(Vec<Node>),
    Tag(Box<TagNode>),
    Triggered {
        triggers: Vec<Mark>,
        tags: Vec<TagNode>,
        excludes: Vec<Mark>,
        at_least_one: bool,
        stop_after_first: bool,
    },
    Separated {
        tags: Vec<TagNode>,
        separator: String,
        at_least_one: bool,
        stop_after_first: bool,
    },
    Repeat(u32, Option<u32>, Box<Node>),
    Dispatch(Vec<(Mark, Node)>, Vec<Mark>, bool),
    /// Parameters in a style, by the numbers of both.
    Parameters(usize, usize),
}

/// A part between a beginning and one of some ends.
#[derive(Clone, Debug)]
pub(super) struct TagNode {
    pub(super) begin: Mark,
    pub(super) content: Node,
    pub(super) ends: Vec<Mark>,
}

/// Schemas, each with its documents in compact style.
pub(super) const SCHEMAS: [(&str, &[&str]); 5] = [
    (r#"{"enum": [1, 12, 2]}"#, &["1", "12", "2"]),
    (r#"{"type": "boolean"}"#, &["true", "false"]),
    (r#"{"const": {"a": "<"}}"#, &[r#"{"a":"<"}"#]),
    (
        r#"{"enum": ["a", "</a>", "<|t|>", "é"]}"#,
        &[r#""a""#, r#""</a>""#, r#""<|t|>""#, "\"é\""],
    ),
    (r#"{"enum": [[], ["a"], [[]]]}"#, &["[]", r#"["a"]"#, "[[]]"]),
];

/// Expressions, each with some texts that it matches.
pub(super) const EXPRESSIONS: [(&str, &[&str]); 4] = [
    ("a*", &["", "a", "aaa"]),
    ("[ab]{1,2}|<", &["a", "ba", "<"]),
    (".", &["x", "\"", "é"]),
    ("(ab|é)+", &["ab", "éab"]),
];

/// A byte of a text token or a special token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Symbol {
    Byte(u8),
    Special(TokenId),
}

/// Symbols that are looked for.
type Pattern = Vec<Symbol>;

/// The names of special tokens, the longest first.
const NAMES: [(&str, TokenId); 5] = [
    ("<|t|>>", LONGER),
    ("<|t|>", SPECIAL),
    ("<|call|>", CALL),
    ("<|end|>", END),
    ("<|u|>", UNNAMED),
];

/// The symbols of a fixed text.
pub(super) fn symbols(text: &str) -> Vec<Symbol> {
    let (mut rest, mut found) = (text.as_bytes(), Vec::new());
    while let Some(&byte) = rest.first() {
        match NAMES.iter().find(|(name, _)| rest.starts_with(name.as_bytes())) {
            Some((name, token)) => {
                found.push(Symbol::Special(*token));
                rest = &rest[name.len()..];
            }
            None => {
                found.push(Symbol::Byte(byte));
                rest = &rest[1..];
            }
        }
    }
    found
}

/// A text as bytes, without special tokens.
pub(super) fn spelled(text: &str) -> Vec<Symbol> {
    text.bytes().map(Symbol::Byte).collect()
}

/// A reply.
pub(super) struct Reply {
    symbols: Vec<Symbol>,
    /// For each symbol its token, where it is the first of it.
    begins: Vec<Option<TokenId>>,
}

/// Where a part of a reply may end.
pub(super) type Places = BTreeSet<usize>;

impl Reply {
    pub(super) fn new(vocabulary: &Vocabulary, tokens: &[TokenId]) -> Self {
        let (mut all, mut begins) = (Vec::new(), Vec::new());
        for &token in tokens {
            let before = all.len();
            match vocabulary.kind(token) {
                TokenKind::Text => all.extend(vocabulary.token_bytes(token).iter().map(|byte| Symbol::Byte(*byte))),
                _ => all.push(Symbol::Special(token)),
            }
            begins.resize(all.len(), None);
            begins[before] = Some(token);
        }
        Self { symbols: all, begins }
    }

    /// Whether the reply is one of a tag.
    pub(super) fn matches(&self, node: &Node) -> bool {
        self.ends(node, 0, &[]).contains(&self.symbols.len())
    }

    /// Where the symbols end, if they stand at a place.
    pub(super) fn literal(&self, at: usize, literal: &[Symbol]) -> Option<usize> {
        self.symbols[at..].starts_with(literal).then_some(at + literal.len())
    }

    /// The token that begins at a place, and where it ends.
    fn token(&self, at: usize) -> Option<(TokenId, usize)> {
        let token = *self.begins.get(at)?.as_ref()?;
        let behind = self.begins[at + 1..].iter().position(Option::is_some);
        Some((token, behind.map_or(self.begins.len(), |more| at + 1 + more)))
    }

    /// The token that begins at a place where it may stand for itself.
    fn any_token(&self, at: usize) -> Option<(TokenId, usize)> {
        let (token, end) = self.token(at)?;
        (token != END && token != CALL).then_some((token, end))
    }

    fn mark(&self, at: usize, mark: &Mark) -> Option<usize> {
        match mark {
            Mark::Text(text) => self.literal(at, &symbols(text)),
            Mark::Token(token) => {
                let (found, end) = self.token(at)?;
                (found == *token).then_some(end)
            }
        }
    }

    /// A text of some kind.
    pub(super) fn text(&self, at: usize, is_one: impl Fn(&str) -> bool) -> Places {
        let mut bytes = Vec::new();
        let mut ends = Places::new();
        for end in at..=self.symbols.len() {
            if std::str::from_utf8(&bytes).is_ok_and(&is_one) {
                ends.insert(end);
            }
            match self.symbols.get(end) {
                Some(Symbol::Byte(byte)) => bytes.push(*byte),
                _ => break,
            }
        }
        ends
    }

    /// Where free text may end, and where patterns that are followed end in it, each with its number.
    fn free(&self, from: usize, known: &[Pattern], refused: &[Mark]) -> (Places, Vec<(usize, usize)>) {
        let mut dead: Vec<Pattern> = refused.iter().map(pattern).collect();
        dead.extend(refused.iter().filter_map(|mark| match mark {
            Mark::Text(text) => Some(spelled(text)),
            Mark::Token(_) => None,
        }));
        dead.retain(|text| !known.contains(text));
        let ends_here =
            |pattern: &[Symbol], end: usize| !pattern.is_empty() && self.symbols[from..end].ends_with(pattern);
        let (mut exits, mut hits) = (Places::new(), Vec::new());
        let mut open = Vec::new();
        exits.insert(from);
        for end in from + 1..=self.symbols.len() {
            match self.symbols[end - 1] {
                Symbol::Byte(byte) => open.push(byte),
                Symbol::Special(_) if !open.is_empty() => break,
                Symbol::Special(END | CALL) => break,
                Symbol::Special(_) => {}
            }
            match std::str::from_utf8(&open) {
                Ok(_) => open.clear(),
                Err(error) if error.error_len().is_none() => {}
                Err(_) => break,
            }
            let found = (0..known.len()).filter(|number| ends_here(&known[*number], end));
            hits.extend(found.map(|number| (number, end)));
            if !hits.is_empty() || dead.iter().any(|pattern| ends_here(pattern, end)) {
                break;
            }
            if open.is_empty() {
                exits.insert(end);
            }
        }
        (exits, hits)
    }

    /// Where free tokens may end, and where tokens that are followed end, each with its number.
    fn free_tokens(&self, from: usize, followed: &[Pattern], refused: &[Mark]) -> (Places, Vec<(usize, usize)>) {
        let is = |mark: &[Symbol], token: TokenId| *mark == [Symbol::Special(token)];
        let (mut exits, mut at) = (Places::from([from]), from);
        while let Some((token, end)) = self.any_token(at) {
            let hits: Vec<_> = (0..followed.len())
                .filter(|number| is(&followed[*number], token))
                .collect();
            if !hits.is_empty() {
                return (exits, hits.into_iter().map(|number| (number, end)).collect());
            }
            if refused.iter().any(|mark| is(&pattern(mark), token)) {
                break;
            }
            exits.insert(end);
            at = end;
        }
        (exits, Vec::new())
    }

    /// The places behind a tag whose beginning has been read.
    fn behind_begin(&self, tag: &TagNode, at: usize) -> Places {
        let contents = self.ends(&tag.content, at, &tag.ends);
        let ends = contents
            .iter()
            .flat_map(|content| tag.ends.iter().filter_map(|end| self.mark(*content, end)));
        ends.collect()
    }

    fn tag(&self, tag: &TagNode, at: usize) -> Places {
        let begin = self.mark(at, &tag.begin);
        begin.map_or_else(Places::new, |at| self.behind_begin(tag, at))
    }

    /// Places that are reached by repeating a step.
    fn closure(from: Places, step: impl Fn(usize) -> Places) -> Places {
        let (mut all, mut open) = (from.clone(), from);
        while let Some(at) = open.pop_first() {
            for next in step(at) {
                if all.insert(next) {
                    open.insert(next);
                }
            }
        }
        all
    }

    fn ends(&self, node: &Node, at: usize, around: &[Mark]) -> Places {
        match node {
            Node::Choice(texts) => texts
                .iter()
                .filter_map(|text| self.literal(at, &symbols(text)))
                .collect(),
            Node::Json(number) => self.text(at, |text| SCHEMAS[*number].1.contains(&text)),
            Node::Regex(number) => {
                let expression = fancy_regex::Regex::new(&format!("^(?:{})$", EXPRESSIONS[*number].0)).unwrap();
                // The dollar of that crate stands before a last line break too, and its dot for what ends lines in ECMA-262.
                let ends_line = |text: &str| text.ends_with('\n') || text.contains(['\r', '\u{2028}', '\u{2029}']);
                self.text(at, |text| !ends_line(text) && expression.is_match(text).unwrap())
            }
            Node::AnyText(excludes) => {
                let excludes = excludes.iter().cloned().map(Mark::Text).chain(around.iter().cloned());
                self.free(at, &[], &excludes.collect::<Vec<_>>()).0
            }
            Node::Token(token) => self.mark(at, &Mark::Token(*token)).into_iter().collect(),
            Node::ExcludeToken(tokens) => {
                let refused: Vec<Mark> = tokens
                    .iter()
                    .copied()
                    .map(Mark::Token)
                    .chain(around.iter().cloned())
                    .collect();
                let (ends, _) = self.free_tokens(at, &[], &refused);
                let end = self.token(at).map(|(_, end)| end);
                end.filter(|end| ends.contains(end)).into_iter().collect()
            }
            Node::AnyTokens(tokens) => {
                let refused: Vec<Mark> = tokens
                    .iter()
                    .copied()
                    .map(Mark::Token)
                    .chain(around.iter().cloned())
                    .collect();
                self.free_tokens(at, &[], &refused).0
            }
            Node::Sequence(nodes) => nodes.iter().fold(Places::from([at]), |places, node| {
                places.into_iter().flat_map(|at| self.ends(node, at, around)).collect()
            }),
            Node::Or(nodes) => nodes.iter().flat_map(|node| self.ends(node, at, around)).collect(),
            Node::Tag(tag) => self.tag(tag, at),
            Node::Triggered { .. } => self.triggered(node, at, around),
            Node::Separated {
                tags,
                separator,
                at_least_one,
                stop_after_first,
            } => {
                let one = |at| tags.iter().flat_map(|tag| self.tag(tag, at)).collect::<Places>();
                let mut ends = one(at);
                if !stop_after_first {
                    ends = Self::closure(ends, |at| {
                        self.literal(at, &symbols(separator)).map_or_else(Places::new, one)
                    });
                }
                ends.extend((!at_least_one).then_some(at));
                ends
            }
            Node::Repeat(least, most, node) => {
                let once = |places: Places| -> Places {
                    places.into_iter().flat_map(|at| self.ends(node, at, around)).collect()
                };
                let mut places = (0..*least).fold(Places::from([at]), |places, _| once(places));
                match most {
                    None => places = Self::closure(places, |at| self.ends(node, at, around)),
                    Some(most) => {
                        let mut last = places.clone();
                        for _ in *least..*most {
                            last = once(last);
                            places.extend(&last);
                        }
                    }
                }
                places
            }
            Node::Parameters(style, arguments) => {
                let mut ends = Places::new();
                self.parameters((*style, *arguments), 0, at, &mut BTreeSet::new(), &mut ends);
                ends
            }
            Node::Dispatch(rules, excludes, repeats) => {
                let refused: Vec<Mark> = excludes.iter().chain(around).cloned().collect();
                let marks = rules.iter().map(|(pattern, _)| pattern.clone());
                let refused: Vec<Mark> = refused.into_iter().chain(marks).collect();
                // A pattern that begins with others is found behind the shortest of them.
                let shortest = |mark: &Mark| {
                    let beginnings = rules.iter().filter_map(|(other, _)| beginning(mark, other));
                    beginnings.min_by_key(Vec::len).unwrap_or_else(|| pattern(mark))
                };
                let patterns: Vec<Pattern> = rules.iter().map(|(mark, _)| shortest(mark)).collect();
                let is_tokens = matches!(rules[0].0, Mark::Token(_));
                self.dispatched(at, (&patterns, is_tokens), &refused, *repeats, |number, at| {
                    let rest = pattern(&rules[number].0)[patterns[number].len()..].to_vec();
                    let behind = self.literal(at, &rest);
                    behind.map_or_else(Places::new, |at| self.ends(&rules[number].1, at, around))
                })
            }
        }
    }

    /// Free text, in which patterns are followed by parts.
    fn dispatched(
        &self,
        at: usize,
        (patterns, is_tokens): (&[Pattern], bool),
        refused: &[Mark],
        repeats: bool,
        follow: impl Fn(usize, usize) -> Places,
    ) -> Places {
        let free = |at| match is_tokens {
            true => self.free_tokens(at, patterns, refused),
            false => self.free(at, patterns, refused),
        };
        let behind = |at| {
            let (_, hits) = free(at);
            hits.into_iter()
                .flat_map(|(number, at)| follow(number, at))
                .collect::<Places>()
        };
        if !repeats {
            return free(at).0.into_iter().chain(behind(at)).collect();
        }
        let begins = Self::closure(Places::from([at]), behind);
        begins.into_iter().flat_map(|at| free(at).0).collect()
    }

    fn triggered(&self, node: &Node, at: usize, around: &[Mark]) -> Places {
        let Node::Triggered {
            triggers,
            tags,
            excludes,
            at_least_one,
            stop_after_first,
        } = node
        else {
            return Places::new();
        };
        let trigger_of = |tag: &TagNode| {
            triggers
                .iter()
                .filter_map(|trigger| beginning(&tag.begin, trigger))
                .min_by_key(Vec::len)
        };
        let mut live: Vec<Pattern> = tags.iter().filter_map(trigger_of).collect();
        live.sort_by_key(|pattern| format!("{pattern:?}"));
        live.dedup();
        let refused: Vec<Mark> = triggers.iter().chain(excludes).chain(around).cloned().collect();
        let follow = |number: usize, at: usize| -> Places {
            let of = tags
                .iter()
                .filter(|tag| trigger_of(tag).as_ref() == Some(&live[number]));
            let behind = of.filter_map(|tag| {
                let rest = pattern(&tag.begin)[live[number].len()..].to_vec();
                Some(self.behind_begin(tag, self.literal(at, &rest)?))
            });
            behind.flatten().collect()
        };
        let is_tokens = matches!(triggers[0], Mark::Token(_));
        let mut firsts = Places::from([at]);
        if *at_least_one {
            firsts = tags.iter().flat_map(|tag| self.tag(tag, at)).collect();
            if *stop_after_first {
                return firsts;
            }
        }
        let repeats = !stop_after_first;
        firsts
            .into_iter()
            .flat_map(|at| self.dispatched(at, (&live, is_tokens), &refused, repeats, follow))
            .collect()
    }
}

/// A mark as it is searched for in free text. A token of text, which is not found there, is a symbol of its own.
fn pattern(mark: &Mark) -> Pattern {
    match mark {
        Mark::Text(text) => symbols(text),
        Mark::Token(token) => vec![Symbol::Special(*token)],
    }
}

/// The least part of a text that has another at its beginning; none where it does not begin so.
fn beginning(text: &Mark, begins: &Mark) -> Option<Pattern> {
    let (all, wanted) = (pattern(text), pattern(begins));
    if all.starts_with(&wanted) {
        return Some(wanted);
    }
    let (Mark::Text(text), Mark::Text(begins)) = (text, begins) else {
        return None;
    };
    if !text.starts_with(begins) {
        return None;
    }
    let lengths = (1..=all.len()).find(|length| {
        let spelled: usize = all[..*length]
            .iter()
            .map(|symbol| match symbol {
                Symbol::Byte(_) => 1,
                Symbol::Special(token) => NAMES
                    .iter()
                    .find(|(_, other)| other == token)
                    .map_or(0, |(name, _)| name.len()),
            })
            .sum();
        spelled >= begins.len()
    });
    lengths.map(|length| all[..length].to_vec())
}

//! Random structural tags and replies: the engine accepts what the slow matcher does, and masks say so.

use rand::seq::IndexedRandom as _;
use rand::{Rng as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

use crate::matcher::{EXPRESSIONS, Mark, Node, Reply, SCHEMAS, TagNode};
use crate::{CALL, LONGER, SPECIAL, UNNAMED, accepts_tokens, check, compiler, vocabulary};
use maskwright::{CompileErrorKind, TokenId, TokenKind, Vocabulary};

/// Texts that begin and end alike.
const MARKS: [&str; 11] = [
    "<a>", "</a>", "<b", "<", "ab", "aab", "é", "<|t|>", "<|t|>a", "a<|t|>>", "<|call|>",
];

/// A part of a reply that is written.
enum Piece {
    Text(String),
    Token(TokenId),
}

struct Writer {
    random: ChaCha8Rng,
}

impl Writer {
    fn text(&mut self) -> String {
        (*MARKS.choose(&mut self.random).unwrap()).to_owned()
    }

    fn texts(&mut self, most: usize) -> Vec<String> {
        (0..self.random.random_range(0..=most)).map(|_| self.text()).collect()
    }

    fn token(&mut self) -> TokenId {
        *[SPECIAL, LONGER, UNNAMED, CALL, 97, 256, 266]
            .choose(&mut self.random)
            .unwrap()
    }

    fn tokens(&mut self) -> Vec<TokenId> {
        (0..self.random.random_range(0..3)).map(|_| self.token()).collect()
    }

    fn tag(&mut self, depth: usize, token: Option<TokenId>) -> TagNode {
        let ends = match self.random.random_bool(0.2) {
            true => vec![Mark::Token(self.token())],
            false => (0..self.random.random_range(1..3))
                .map(|_| Mark::Text(self.text()))
                .collect(),
        };
        TagNode {
            begin: token.map_or_else(|| Mark::Text(self.text()), Mark::Token),
            content: self.node(depth + 1),
            ends,
        }
    }

    fn nodes(&mut self, depth: usize) -> Vec<Node> {
        (0..self.random.random_range(1..4))
            .map(|_| self.node(depth + 1))
            .collect()
    }

    fn node(&mut self, depth: usize) -> Node {
        let kinds = if depth < 3 { 15 } else { 7 };
        match self.random.random_range(0..kinds) {
            0 => Node::Choice(vec![self.text(), self.text()]),
            1 => Node::Json(self.random.random_range(0..SCHEMAS.len())),
            2 => Node::Regex(self.random.random_range(0..EXPRESSIONS.len())),
            3 => Node::AnyText(self.texts(2)),
            4 => Node::Token(self.token()),
            5 => Node::ExcludeToken(self.tokens()),
            6 => Node::AnyTokens(self.tokens()),
            7 => Node::Sequence(self.nodes(depth)),
            8 => Node::Or(self.nodes(depth)),
            9 | 10 => Node::Tag(Box::new(self.tag(depth, None))),
            11 => {
                let (at_least_one, stop_after_first) = (self.random.random_bool(0.3), self.random.random_bool(0.3));
                if self.random.random_bool(0.3) {
                    let token = *[SPECIAL, UNNAMED, 97].choose(&mut self.random).unwrap();
                    let excludes = self.tokens().into_iter().map(Mark::Token).collect();
                    let tags = vec![self.tag(depth, Some(token)), self.tag(depth, Some(token))];
                    let triggers = vec![Mark::Token(token)];
                    return Node::Triggered {
                        triggers,
                        tags,
                        excludes,
                        at_least_one,
                        stop_after_first,
                    };
                }
                let tags: Vec<TagNode> = (0..2).map(|_| self.tag(depth, None)).collect();
                let begins = tags.iter().map(|tag| tag.begin.clone());
                let mut triggers: Vec<Mark> = begins.collect();
                if self.random.random_bool(0.5) {
                    triggers.push(Mark::Text("<".into()));
                }
                if self.random.random_bool(0.3) {
                    triggers.push(Mark::Text("a".into()));
                }
                let excludes = self.texts(1).into_iter().map(Mark::Text).collect();
                Node::Triggered {
                    triggers,
                    tags,
                    excludes,
                    at_least_one,
                    stop_after_first,
                }
            }
            12 => Node::Separated {
                tags: (0..2).map(|_| self.tag(depth, None)).collect(),
                separator: if self.random.random_bool(0.3) {
                    String::new()
                } else {
                    self.text()
                },
                at_least_one: self.random.random_bool(0.5),
                stop_after_first: self.random.random_bool(0.3),
            },
            13 => {
                let least = self.random.random_range(0..3);
                let most = self.random.random_bool(0.5).then_some(least + 1);
                Node::Repeat(least, most, Box::new(self.node(depth + 1)))
            }
            _ => {
                let is_tokens = self.random.random_bool(0.3);
                let rules = (0..2).map(|_| {
                    let mark = match is_tokens {
                        true => Mark::Token(*[SPECIAL, UNNAMED, 97, 256].choose(&mut self.random).unwrap()),
                        false => Mark::Text(self.text()),
                    };
                    (mark, self.node(depth + 1))
                });
                let rules = rules.collect();
                let excludes = match is_tokens {
                    true => self.tokens().into_iter().map(Mark::Token).collect(),
                    false => self.texts(1).into_iter().map(Mark::Text).collect(),
                };
                Node::Dispatch(rules, excludes, self.random.random_bool(0.6))
            }
        }
    }

    fn mark(&mut self, mark: &Mark, pieces: &mut Vec<Piece>) {
        pieces.push(match mark {
            Mark::Text(text) => Piece::Text(text.clone()),
            Mark::Token(token) => Piece::Token(*token),
        });
    }

    fn write_tag(&mut self, tag: &TagNode, pieces: &mut Vec<Piece>) {
        self.mark(&tag.begin, pieces);
        self.write(&tag.content, pieces);
        let end = tag.ends.choose(&mut self.random).unwrap().clone();
        self.mark(&end, pieces);
    }

    fn free(&mut self, pieces: &mut Vec<Piece>) {
        for _ in 0..self.random.random_range(0..3) {
            let text = match self.random.random_bool(0.5) {
                true => (*["x", "a", "<", "/", "é", "b>", "<|t|>"]
                    .choose(&mut self.random)
                    .unwrap())
                .to_owned(),
                false => self.text(),
            };
            pieces.push(Piece::Text(text));
        }
    }

    /// Writes what is probably a part of a node.
    fn write(&mut self, node: &Node, pieces: &mut Vec<Piece>) {
        match node {
            Node::Choice(texts) => pieces.push(Piece::Text(texts.choose(&mut self.random).unwrap().clone())),
            Node::Json(number) => pieces.push(Piece::Text(
                (*SCHEMAS[*number].1.choose(&mut self.random).unwrap()).into(),
            )),
            Node::Regex(number) => {
                pieces.push(Piece::Text(
                    (*EXPRESSIONS[*number].1.choose(&mut self.random).unwrap()).into(),
                ));
            }
            Node::AnyText(_) => self.free(pieces),
            Node::Token(token) => pieces.push(Piece::Token(*token)),
            Node::ExcludeToken(_) => pieces.push(Piece::Token(self.token())),
            Node::AnyTokens(_) => {
                for _ in 0..self.random.random_range(0..3) {
                    pieces.push(Piece::Token(self.token()));
                }
            }
            Node::Sequence(nodes) => nodes.iter().for_each(|node| self.write(node, pieces)),
            Node::Or(nodes) => {
                let node = nodes.choose(&mut self.random).unwrap().clone();
                self.write(&node, pieces);
            }
            Node::Tag(tag) => self.write_tag(tag, pieces),
            Node::Triggered {
                tags,
                at_least_one,
                stop_after_first,
                ..
            } => {
                if *at_least_one {
                    let tag = tags.choose(&mut self.random).unwrap().clone();
                    self.write_tag(&tag, pieces);
                }
                if !(*at_least_one && *stop_after_first) {
                    self.free(pieces);
                    if self.random.random_bool(0.5) {
                        let tag = tags.choose(&mut self.random).unwrap().clone();
                        self.write_tag(&tag, pieces);
                    }
                }
            }
            Node::Separated { tags, separator, .. } => {
                for number in 0..self.random.random_range(0..3) {
                    if number > 0 {
                        pieces.push(Piece::Text(separator.clone()));
                    }
                    let tag = tags.choose(&mut self.random).unwrap().clone();
                    self.write_tag(&tag, pieces);
                }
            }
            Node::Repeat(least, most, node) => {
                let most = most.unwrap_or(least + 2);
                for _ in 0..self.random.random_range(*least..=most) {
                    self.write(node, pieces);
                }
            }
            Node::Dispatch(rules, ..) => {
                self.free(pieces);
                if self.random.random_bool(0.6) {
                    let (mark, node) = rules.choose(&mut self.random).unwrap().clone();
                    self.mark(&mark, pieces);
                    self.write(&node, pieces);
                    self.free(pieces);
                }
            }
        }
    }

    /// Tokens that spell pieces, of those that do at random.
    fn spell(&mut self, pieces: &[Piece], vocabulary: &Vocabulary) -> Vec<TokenId> {
        let special = |name: &str| {
            let names = [("<|t|>>", LONGER), ("<|t|>", SPECIAL), ("<|call|>", CALL)];
            names.into_iter().find(|(other, _)| name.starts_with(other))
        };
        let (mut tokens, mut text) = (Vec::new(), Vec::<u8>::new());
        for piece in pieces {
            match piece {
                Piece::Text(more) => {
                    let mut rest = &more[..];
                    while let Some(first) = rest.chars().next() {
                        match special(rest).filter(|_| self.random.random_bool(0.8)) {
                            Some((name, token)) => {
                                self.spell_text(&mut text, vocabulary, &mut tokens);
                                tokens.push(token);
                                rest = &rest[name.len()..];
                            }
                            None => {
                                text.extend(&rest.as_bytes()[..first.len_utf8()]);
                                rest = &rest[first.len_utf8()..];
                            }
                        }
                    }
                }
                Piece::Token(token) => {
                    self.spell_text(&mut text, vocabulary, &mut tokens);
                    tokens.push(*token);
                }
            }
        }
        self.spell_text(&mut text, vocabulary, &mut tokens);
        tokens
    }

    fn spell_text(&mut self, text: &mut Vec<u8>, vocabulary: &Vocabulary, tokens: &mut Vec<TokenId>) {
        let mut rest = &text[..];
        while !rest.is_empty() {
            let longest = rest.len().min(10);
            let found = (1..=longest)
                .filter_map(|length| vocabulary.token_of(&rest[..length]))
                .collect::<Vec<_>>();
            let token = *found.choose(&mut self.random).unwrap();
            tokens.push(token);
            rest = &rest[vocabulary.token_bytes(token).len()..];
        }
        text.clear();
    }
}

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
fn json(node: &Node) -> serde_json::Value {
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

/// The engine accepts the replies that the slow matcher accepts, and no others; its masks say so everywhere, and every reply can be ended.
#[test]
fn the_engine_agrees_with_the_slow_matcher() {
    let (vocabulary, compiler) = (vocabulary(), compiler());
    let rounds: u64 = std::env::var("MASKWRIGHT_TAG_ROUNDS").map_or(400, |rounds| rounds.parse().unwrap());
    let first: u64 = std::env::var("MASKWRIGHT_TAG_SEED").map_or(0, |seed| seed.parse().unwrap());
    let (mut compiled, mut accepted, mut refused) = (0, 0, 0);
    for seed in first..first + rounds {
        let mut writer = Writer {
            random: ChaCha8Rng::seed_from_u64(seed),
        };
        let node = writer.node(0);
        let text = serde_json::json!({"type": "structural_tag", "format": json(&node)}).to_string();
        let mut masker = match compiler.compile_structural_tag(&text) {
            Ok(masker) => masker,
            Err(error) => {
                assert_eq!(
                    error.kind(),
                    CompileErrorKind::Unsupported,
                    "seed {seed}: {text}: {error}"
                );
                assert!(error.message().contains("free text"), "seed {seed}: {text}: {error}");
                continue;
            }
        };
        compiled += 1;
        for _ in 0..12 {
            let mut pieces = Vec::new();
            writer.write(&node, &mut pieces);
            let mut tokens = writer.spell(&pieces, &vocabulary);
            if tokens.len() > 40 {
                continue;
            }
            if writer.random.random_bool(0.4) && !tokens.is_empty() {
                let at = writer.random.random_range(0..tokens.len());
                match writer.random.random_range(0..3) {
                    0 => drop(tokens.remove(at)),
                    1 => tokens.insert(at, writer.token()),
                    _ => tokens[at] = writer.random.random_range(0..vocabulary.len() as TokenId),
                }
            }
            let is_known = tokens.iter().all(|token| vocabulary.kind(*token) != TokenKind::Unused);
            let expected = is_known && Reply::new(&vocabulary, &tokens).matches(&node);
            // Behind a whole reply an end of sequence is no part of it.
            if !expected && tokens.last().is_some_and(|last| vocabulary.is_eos(*last)) {
                continue;
            }
            let found = accepts_tokens(&*masker, &tokens);
            let texts: Vec<_> = tokens
                .iter()
                .map(|token| String::from_utf8_lossy(vocabulary.token_bytes(*token)))
                .collect();
            assert_eq!(found, expected, "seed {seed}: {text}\n{tokens:?} {texts:?}");
            *(if expected { &mut accepted } else { &mut refused }) += 1;
        }
        let context = format!("seed {seed}: {text}");
        for _ in 0..5 {
            check(&mut *masker, &vocabulary, &context);
            let mask: Vec<TokenId> = masker.mask().unwrap().iter().collect();
            let near: Vec<TokenId> = mask
                .iter()
                .copied()
                .filter(|token| *token >= 256 || (*token as u8).is_ascii_punctuation())
                .collect();
            let token = near
                .choose(&mut writer.random)
                .or_else(|| mask.choose(&mut writer.random));
            // Nothing but the end may be left.
            let Some(token) = token else { break };
            masker.advance(*token).unwrap();
            if masker.mask().unwrap().allows_none() {
                break;
            }
        }
    }
    assert!(
        compiled * 3 > rounds && accepted > refused / 8 && refused > accepted / 8,
        "{compiled} {accepted} {refused}"
    );
}

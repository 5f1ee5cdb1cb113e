//! Random structural tags and replies: the engine accepts the replies that the reference matcher does, and masks agree.

use rand::seq::IndexedRandom as _;
use rand::{Rng as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

use crate::json::json;
use crate::matcher::{EXPRESSIONS, Mark, Node, Reply, SCHEMAS, TagNode};
use crate::parameters::{ARGUMENTS, STYLES, Value};
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
        if self.random.random_bool(0.1) {
            let arguments = self.random.random_range(0..ARGUMENTS.len());
            // The last two schemas have values of any kind, which the slow matcher cannot read in the last style.
            let styles = STYLES.len() - usize::from(arguments >= ARGUMENTS.len() - 2);
            return Node::Parameters(self.random.random_range(0..styles), arguments);
        }
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

    /// Writes a text that is probably parameters of a call.
    fn write_parameters(&mut self, style: usize, arguments: usize, pieces: &mut Vec<Piece>) {
        let known = &ARGUMENTS[arguments];
        let mut text = String::new();
        let declared = known.parameters.iter().copied();
        let others = known
            .others
            .map(|value| (*["ab", "_1", "a"].choose(&mut self.random).unwrap(), value, false));
        for (name, value, is_required) in declared.chain(others) {
            if !self.random.random_bool(if is_required { 0.95 } else { 0.5 }) {
                continue;
            }
            let [before, between, after] = STYLES[style].1.choose(&mut self.random).unwrap().marks;
            let free = [
                "",
                "x",
                "ab",
                "é<b",
                "\n",
                "\nx\n",
                "</a",
                "12",
                "<a>",
                "</parameter",
                "[]",
            ];
            let values: Vec<&str> = match value {
                Value::Any | Value::AnyString | Value::TwoCharacters => free.to_vec(),
                Value::Of(strings, others) => strings.iter().chain(others).copied().collect(),
            };
            let value = values.choose(&mut self.random).unwrap();
            text += &format!("{before}{name}{between}{value}{after}");
            text += ["", "\n", "\n\n"]
                [usize::from(self.random.random_bool(0.5)) + usize::from(self.random.random_bool(0.1))];
        }
        pieces.push(Piece::Text(text));
    }

    /// Writes a text that is probably a part of a node.
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
            Node::Parameters(style, arguments) => self.write_parameters(*style, *arguments, pieces),
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
            if tokens.len() > 200 {
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

//! Random grammars: engine and reference matcher agree on every byte behind random prefixes.

use std::ops::Range;

use maskwright::{CompileErrorKind, TokenId};
use rand::seq::IndexedRandom as _;
use rand::{Rng as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

use super::matcher::{Node, Productions};
use super::{check, compiler, vocabulary};

const TEXTS: [&str; 12] = ["a", "b", "ab", "(", ")", "[", "]", ",", "", "é", "a,", "("];

fn node(random: &mut ChaCha8Rng, rules: usize, depth: u32) -> Node {
    let several = |random: &mut ChaCha8Rng| -> Vec<Node> {
        let count = random.random_range(2..4);
        (0..count).map(|_| node(random, rules, depth - 1)).collect()
    };
    match random.random_range(0..if depth == 0 { 8 } else { 16 }) {
        0..4 => Node::Text(TEXTS.choose(random).unwrap()),
        4 => Node::Class(vec!['a', 'b', 'é'], false),
        5 if random.random_bool(0.3) => Node::Class(vec!['(', ')', '[', ']', ',', '"'], true),
        5..8 => Node::Rule(random.random_range(0..rules)),
        8..12 => Node::Sequence(several(random)),
        12..15 => Node::Choice(several(random)),
        _ => {
            let (min, more) = (random.random_range(0..2), random.random_range(0..3));
            let max = (more < 2).then_some(min + more);
            Node::Repeat(Box::new(node(random, rules, depth - 1)), min, max)
        }
    }
}

/// A rule between marks, in each other alternative of which another rule may stand: most such grammars are bounded.
fn bracketed(random: &mut ChaCha8Rng, rules: usize, number: usize) -> Node {
    let marks = [("(", ")"), ("[", "]"), ("a", "b"), ("a", ""), ("", ",")];
    let (begin, end) = *marks.choose(random).unwrap();
    let inner = node(random, rules, 1);
    let within = Node::Sequence(vec![
        Node::Text(begin),
        Node::Rule(random.random_range(0..rules)),
        inner,
        Node::Text(end),
    ]);
    let other = match random.random_bool(0.3) {
        true => Node::Sequence(vec![Node::Rule(number), Node::Text(","), node(random, rules, 0)]),
        false => node(random, rules, 1),
    };
    Node::Choice(vec![
        within,
        other,
        Node::Text(["b", "é", "1", ""].choose(random).unwrap()),
    ])
}

fn text_of(text: &str) -> String {
    text.chars()
        .map(|c| {
            if c.is_ascii_punctuation() {
                format!("\\{c}")
            } else {
                c.to_string()
            }
        })
        .collect()
}

fn written(node: &Node) -> String {
    match node {
        Node::Text(text) => format!("\"{}\"", text_of(text)),
        Node::Class(characters, is_negated) => {
            let sign = if *is_negated { "^" } else { "" };
            format!("[{sign}{}]", text_of(&String::from_iter(characters)))
        }
        Node::Rule(0) => "root".to_owned(),
        Node::Rule(rule) => format!("r{rule}"),
        Node::Sequence(nodes) => format!("({})", nodes.iter().map(written).collect::<Vec<_>>().join(" ")),
        Node::Choice(nodes) => format!("({})", nodes.iter().map(written).collect::<Vec<_>>().join(" | ")),
        Node::Repeat(inner, min, None) => format!("{}{{{min},}}", written(inner)),
        Node::Repeat(inner, min, Some(max)) => format!("{}{{{min},{max}}}", written(inner)),
    }
}

/// How many grammars were looked at: all, those that were compiled, and pairs of a beginning and a byte.
#[derive(Debug, Default)]
struct Seen {
    compiled: usize,
    refused: usize,
    empty: usize,
    pairs: usize,
}

/// Compares the engine with the matcher on random grammars, of a seed each.
fn compare(seeds: Range<u64>, seen: &mut Seen) {
    let (vocabulary, compiler) = (vocabulary(), compiler());
    for seed in seeds {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let count = random.random_range(1..4);
        let is_bracketed = random.random_bool(0.6);
        let rule = |number| match is_bracketed {
            true => bracketed(&mut random, count, number),
            false => node(&mut random, count, 3),
        };
        let rules: Vec<Node> = (0..count).map(rule).collect();
        let grammar: Vec<String> = (0..)
            .zip(&rules)
            .map(|(number, rule)| format!("{} ::= {}", written(&Node::Rule(number)), written(rule)))
            .collect();
        let grammar = grammar.join("\n");
        let productions = Productions::new(&rules);
        let begin = productions.begin();
        let has_text = Productions::is_viable(&begin);
        let masker = match compiler.compile_grammar(&grammar, maskwright::GrammarSyntax::Ebnf) {
            Ok(masker) => masker,
            Err(error) if error.kind() == CompileErrorKind::Unsupported => {
                seen.refused += 1;
                continue;
            }
            Err(error) => {
                assert!(
                    error.kind() == CompileErrorKind::Unsatisfiable && !has_text,
                    "{grammar}: {error}"
                );
                seen.empty += 1;
                continue;
            }
        };
        assert!(has_text, "{grammar}: there is no text");
        seen.compiled += 1;
        for _ in 0..3 {
            let (mut masker, mut sets) = (masker.fork().unwrap(), begin.clone());
            for _ in 0..16 {
                let allowed: Vec<u8> = (0..=u8::MAX)
                    .filter(|byte| {
                        let mut next = sets.clone();
                        productions.read(&mut next, *byte);
                        Productions::is_viable(&next)
                    })
                    .collect();
                for byte in 0..=u8::MAX {
                    let is_allowed = masker.fork().unwrap().advance(TokenId::from(byte)).is_ok();
                    assert_eq!(
                        is_allowed,
                        allowed.contains(&byte),
                        "{grammar}\nbehind {} bytes: {byte}",
                        sets.len() - 1
                    );
                    seen.pairs += 1;
                }
                assert_eq!(
                    masker.is_complete().unwrap(),
                    productions.is_complete(&sets),
                    "{grammar}"
                );
                check(&mut *masker, &vocabulary, &grammar);
                let Some(byte) = allowed.choose(&mut random) else { break };
                masker.advance(TokenId::from(*byte)).unwrap();
                productions.read(&mut sets, *byte);
            }
        }
    }
}

/// `MASKWRIGHT_GRAMMAR_ROUNDS` and `MASKWRIGHT_GRAMMAR_SEED` ask for more of them, or for others.
#[test]
#[allow(clippy::print_stdout, reason = "the figures of many rounds")]
fn the_engine_and_the_matcher_say_the_same() {
    let number = |name: &str, default| std::env::var(name).map_or(default, |number| number.parse().unwrap());
    let rounds: u64 = number("MASKWRIGHT_GRAMMAR_ROUNDS", 100);
    let first: u64 = number("MASKWRIGHT_GRAMMAR_SEED", 0);
    let mut seen = Seen::default();
    for seed in (first..first + rounds).step_by(1000) {
        compare(seed..(first + rounds).min(seed + 1000), &mut seen);
        println!("up to {seed}: {seen:?}");
    }
    assert!(3 * seen.compiled as u64 > rounds, "{seen:?}");
}

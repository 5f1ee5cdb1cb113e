//! A reference matcher of grammars, slow and independent of the engine: Earley's algorithm over bytes.

use std::collections::BTreeSet;

/// A part of a rule.
#[derive(Clone, Debug)]
pub(crate) enum Node {
    Text(&'static str),
    /// One of some characters, or any but these.
    Class(Vec<char>, bool),
    Rule(usize),
    Sequence(Vec<Node>),
    Choice(Vec<Node>),
    Repeat(Box<Node>, u32, Option<u32>),
}

/// A symbol of a production: a byte out of a range, or a number of a symbol with productions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Symbol {
    Byte(u8, u8),
    Other(usize),
}

/// Rules as productions, of which each leads to a text.
#[derive(Debug)]
pub(crate) struct Productions {
    /// For each symbol its productions. The first symbol is the first rule.
    of: Vec<Vec<Vec<Symbol>>>,
    may_be_empty: Vec<bool>,
}

/// A place in a production: its symbol, its number, how far it was read, and where it began.
type EarleyItem = (usize, usize, usize, usize);

impl Productions {
    pub(crate) fn new(rules: &[Node]) -> Self {
        let mut made = Self {
            of: vec![Vec::new(); rules.len()],
            may_be_empty: Vec::new(),
        };
        for (number, rule) in rules.iter().enumerate() {
            made.of[number] = made.alternatives(rule);
        }
        made.leave_out_endless();
        made.may_be_empty = made.least(|production, known| {
            production
                .iter()
                .all(|symbol| matches!(symbol, Symbol::Other(other) if known[*other]))
        });
        made
    }

    fn alternatives(&mut self, node: &Node) -> Vec<Vec<Symbol>> {
        match node {
            Node::Choice(nodes) => nodes.iter().flat_map(|node| self.alternatives(node)).collect(),
            Node::Class(characters, false) => {
                let bytes = |c: &char| c.to_string().bytes().map(|byte| Symbol::Byte(byte, byte)).collect();
                characters.iter().map(bytes).collect()
            }
            Node::Class(characters, true) => {
                assert!(characters.iter().all(char::is_ascii), "only ASCII is left out");
                let ascii = (0..=127_u8).filter(|byte| !characters.contains(&char::from(*byte)));
                let mut all: Vec<Vec<Symbol>> = ascii.map(|byte| vec![Symbol::Byte(byte, byte)]).collect();
                let next = (0x80, 0xbf);
                let long: [&[(u8, u8)]; 8] = [
                    &[(0xc2, 0xdf), next],
                    &[(0xe0, 0xe0), (0xa0, 0xbf), next],
                    &[(0xe1, 0xec), next, next],
                    &[(0xed, 0xed), (0x80, 0x9f), next],
                    &[(0xee, 0xef), next, next],
                    &[(0xf0, 0xf0), (0x90, 0xbf), next, next],
                    &[(0xf1, 0xf3), next, next, next],
                    &[(0xf4, 0xf4), (0x80, 0x8f), next, next],
                ];
                all.extend(long.map(|bytes| bytes.iter().map(|(low, high)| Symbol::Byte(*low, *high)).collect()));
                all
            }
            node => vec![self.sequence(node)],
        }
    }

    fn sequence(&mut self, node: &Node) -> Vec<Symbol> {
        match node {
            Node::Text(text) => text.bytes().map(|byte| Symbol::Byte(byte, byte)).collect(),
            Node::Rule(rule) => vec![Symbol::Other(*rule)],
            Node::Sequence(nodes) => nodes.iter().flat_map(|node| self.sequence(node)).collect(),
            Node::Choice(_) | Node::Class(..) => {
                let alternatives = self.alternatives(node);
                vec![self.symbol(alternatives)]
            }
            Node::Repeat(inner, min, max) => {
                let inner = self.sequence(inner);
                let mut all = inner.repeat(*min as usize);
                match max {
                    None => {
                        let again = self.symbol(vec![Vec::new()]);
                        if let Symbol::Other(number) = again {
                            let more = [&inner[..], &[again]].concat();
                            self.of[number].push(more);
                        }
                        all.push(again);
                    }
                    Some(max) => {
                        let optional = self.symbol(vec![Vec::new(), inner]);
                        all.extend((*min..*max).map(|_| optional));
                    }
                }
                all
            }
        }
    }

    fn symbol(&mut self, productions: Vec<Vec<Symbol>>) -> Symbol {
        self.of.push(productions);
        Symbol::Other(self.of.len() - 1)
    }

    /// The symbols of which a production has a property, which it may have by those that are known to have it.
    fn least(&self, has: impl Fn(&[Symbol], &[bool]) -> bool) -> Vec<bool> {
        let mut known = vec![false; self.of.len()];
        loop {
            let next: Vec<bool> = self
                .of
                .iter()
                .map(|of| of.iter().any(|production| has(production, &known)))
                .collect();
            if next == known {
                return known;
            }
            known = next;
        }
    }

    /// Leaves out productions that lead to no text.
    fn leave_out_endless(&mut self) {
        let leads = |production: &[Symbol], known: &[bool]| {
            production.iter().all(|symbol| match symbol {
                Symbol::Byte(..) => true,
                Symbol::Other(other) => known[*other],
            })
        };
        let known = self.least(leads);
        for productions in &mut self.of {
            productions.retain(|production| leads(production, &known));
        }
    }

    /// Before any byte.
    pub(crate) fn begin(&self) -> Vec<BTreeSet<EarleyItem>> {
        let first = (0..self.of[0].len()).map(|production| (0, production, 0, 0)).collect();
        let mut sets = vec![first];
        self.close(&mut sets);
        sets
    }

    /// Reads a byte.
    pub(crate) fn read(&self, sets: &mut Vec<BTreeSet<EarleyItem>>, byte: u8) {
        let next = sets[sets.len() - 1]
            .iter()
            .filter_map(
                |&(symbol, production, at, from)| match self.of[symbol][production].get(at) {
                    Some(Symbol::Byte(low, high)) if (*low..=*high).contains(&byte) => {
                        Some((symbol, production, at + 1, from))
                    }
                    _ => None,
                },
            );
        let next = next.collect();
        sets.push(next);
        self.close(sets);
    }

    fn close(&self, sets: &mut [BTreeSet<EarleyItem>]) {
        let here = sets.len() - 1;
        let mut open: Vec<EarleyItem> = sets[here].iter().copied().collect();
        while let Some((symbol, production, at, from)) = open.pop() {
            let mut found: Vec<EarleyItem> = Vec::new();
            match self.of[symbol][production].get(at) {
                Some(Symbol::Byte(..)) => {}
                Some(Symbol::Other(other)) => {
                    found.extend((0..self.of[*other].len()).map(|production| (*other, production, 0, here)));
                    if self.may_be_empty[*other] {
                        found.push((symbol, production, at + 1, from));
                    }
                }
                None => {
                    let waiting = sets[from].iter().filter(|(symbol_before, production, at, _)| {
                        self.of[*symbol_before][*production].get(*at) == Some(&Symbol::Other(symbol))
                    });
                    found.extend(waiting.map(|&(symbol, production, at, from)| (symbol, production, at + 1, from)));
                }
            }
            for item in found {
                if sets[here].insert(item) {
                    open.push(item);
                }
            }
        }
    }

    /// Whether the bytes read so far are a prefix of a text.
    pub(crate) fn is_viable(sets: &[BTreeSet<EarleyItem>]) -> bool {
        !sets[sets.len() - 1].is_empty()
    }

    /// Whether the bytes read so far are a text.
    pub(crate) fn is_complete(&self, sets: &[BTreeSet<EarleyItem>]) -> bool {
        sets[sets.len() - 1]
            .iter()
            .any(|(symbol, production, at, from)| (*symbol, *from) == (0, 0) && *at == self.of[0][*production].len())
    }
}

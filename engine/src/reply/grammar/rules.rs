//! [`Grammar`]: the rules of a grammar as trees of parts, independent of the notation.

use std::ops::Range;

use hashbrown::HashMap;

use crate::{CompileError, CompileErrorKind};

/// Number of a part of a rule.
pub(super) type PartId = usize;
/// Number of a rule.
pub(super) type RuleId = usize;

/// Upper bound of a repetition without one.
pub(super) const UNBOUNDED: u64 = u64::MAX;

/// A part of a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// A text.
    Text(String),
    /// One character of some ranges, or of none of them.
    Characters {
        ranges: Vec<(char, char)>,
        is_negated: bool,
    },
    /// A text that an expression of Python matches whole, with the line that it stands in.
    Pattern(String, usize),
    /// A reference to a rule.
    Rule(RuleId),
    /// Parts in order.
    Sequence(Vec<PartId>),
    /// One of some parts.
    Choice(Vec<PartId>),
    /// A part repeated `min` to `max` times.
    Repeat { inner: PartId, min: u64, max: u64 },
}

/// A rule.
#[derive(Clone, Debug)]
pub(super) struct Rule {
    pub(super) name: String,
    /// The line at which it is defined.
    pub(super) line: usize,
    /// The parts of the rule in postorder: the last part is the whole body.
    pub(super) parts: Range<PartId>,
}

/// The rules of a grammar.
#[derive(Debug)]
pub(super) struct Grammar {
    pub(super) parts: Vec<Part>,
    pub(super) rules: Vec<Rule>,
    pub(super) root: RuleId,
}

impl Grammar {
    /// The rules that a rule names.
    pub(super) fn named_by(&self, rule: RuleId) -> impl Iterator<Item = RuleId> + '_ {
        let parts = &self.parts[self.rules[rule].parts.clone()];
        parts.iter().filter_map(|part| match part {
            Part::Rule(rule) => Some(*rule),
            _ => None,
        })
    }
}

/// A grammar under construction.
#[derive(Debug, Default)]
pub(super) struct RuleBuilder {
    pub(super) parts: Vec<Part>,
    names: HashMap<String, RuleId>,
    /// The rules, each with the line at which it was named first, and where it is defined.
    rules: Vec<(String, usize, Option<Rule>)>,
}

impl RuleBuilder {
    /// Adds a part.
    pub(super) fn add(&mut self, part: Part) -> PartId {
        self.parts.push(part);
        self.parts.len() - 1
    }

    /// Returns the choice among some sequences; a single sequence stands for itself.
    pub(super) fn choice(&mut self, mut alternatives: Vec<PartId>) -> PartId {
        match (alternatives.pop(), alternatives.is_empty()) {
            (Some(only), true) => only,
            (last, _) => {
                alternatives.extend(last);
                self.add(Part::Choice(alternatives))
            }
        }
    }

    /// The number of a rule that is named in a line.
    pub(super) fn named(&mut self, name: &str, line: usize) -> RuleId {
        if let Some(known) = self.names.get(name) {
            return *known;
        }
        let rule = self.rules.len();
        self.names.insert(name.to_owned(), rule);
        self.rules.push((name.to_owned(), line, None));
        rule
    }

    /// Defines a rule by the parts from `first` on. False where it is defined already.
    pub(super) fn define(&mut self, name: &str, line: usize, first: PartId) -> bool {
        let rule = self.named(name, line);
        let parts = first..self.parts.len();
        let name = name.to_owned();
        let is_new = self.rules[rule].2.is_none();
        self.rules[rule].2 = Some(Rule { name, line, parts });
        is_new
    }

    /// Whether a rule is defined.
    pub(super) fn is_defined(&self, name: &str) -> bool {
        self.names.get(name).is_some_and(|rule| self.rules[*rule].2.is_some())
    }

    /// All rules.
    ///
    /// # Errors
    ///
    /// [`CompileErrorKind::Malformed`], where a rule is not defined.
    pub(super) fn finish(self, root: &str) -> Result<Grammar, CompileError> {
        let undefined = |message| Err(CompileError::new(CompileErrorKind::Malformed, message).on_keyword("grammar"));
        let Some(number) = self.names.get(root).copied() else {
            return undefined(format!(
                "there is no rule `{root}`, with which replies begin: define it"
            ));
        };
        let mut rules = Vec::with_capacity(self.rules.len());
        for (name, line, rule) in self.rules {
            match rule {
                Some(rule) => rules.push(rule),
                None => {
                    return undefined(format!(
                        "line {line}: `{name}` is not defined: define it, or correct its name"
                    ));
                }
            }
        }
        Ok(Grammar {
            parts: self.parts,
            rules,
            root: number,
        })
    }
}

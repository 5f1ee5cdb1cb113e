//! What is known of an expression when it is made, from what is known of its parts.

use crate::strings::expr::arena::Arena;
use crate::strings::expr::coarse_char_set::CoarseCharSet;
use crate::strings::expr::expression::{Expr, Facts, LeapMinute, PAST_ROWS};
use crate::strings::language_id::{LanguageId, UNBOUNDED};

impl Arena {
    pub(in crate::strings) fn facts_of(&self, node: &Expr) -> Facts {
        let truth = |holds: bool| if holds { u64::MAX } else { 0 };
        let closed = |nullable, simple| Facts {
            nullable: truth(nullable),
            pasts: 0,
            simple,
            structural: simple,
            custom_dfa: false,
            finite: false,
        };
        match node {
            Expr::LeapSecond { .. } => closed(false, true),
            Expr::None | Expr::Empty | Expr::Class(_) => Facts {
                finite: true,
                ..closed(matches!(node, Expr::Empty), true)
            },
            Expr::CustomDfa(state) => Facts {
                custom_dfa: true,
                ..closed(state.accepts(), true)
            },
            Expr::Branch { accepts, edges } => Facts {
                finite: edges.iter().all(|&(_, target)| self.is_finite(target)),
                ..closed(*accepts, edges.iter().all(|&(_, target)| self.is_simple(target)))
            },
            Expr::Concat(first, rest) => Facts {
                custom_dfa: false,
                ..self.combine([*first, *rest], true, |a, b| a & b)
            },
            Expr::Repeat { inner, min, max } => {
                let inner = self.facts(*inner);
                Facts {
                    nullable: if *min == 0 { u64::MAX } else { inner.nullable },
                    custom_dfa: false,
                    finite: inner.finite && *max != UNBOUNDED,
                    ..inner
                }
            }
            Expr::Or(members) => self.combine(members.iter().copied(), true, |a, b| a | b),
            Expr::And(members) => Facts {
                structural: self
                    .bounded(members)
                    .is_some_and(|(inner, ..)| self.is_structural(inner)),
                finite: members.iter().any(|member| self.is_finite(*member)),
                ..self.combine(members.iter().copied(), false, |a, b| a & b)
            },
            Expr::Not(inner) => {
                let inner = self.facts(*inner);
                Facts {
                    nullable: !inner.nullable,
                    simple: false,
                    structural: false,
                    finite: false,
                    ..inner
                }
            }
            Expr::Past(i) => Facts {
                nullable: PAST_ROWS[usize::from(*i)],
                pasts: 1 << i,
                simple: false,
                structural: false,
                custom_dfa: false,
                finite: false,
            },
            Expr::Recall { body, past } => {
                let row = self.facts(*body).nullable >> self.past_bits(past) & 1;
                closed(row == 1, false)
            }
            Expr::Loop(number) => self.loops[*number as usize].1,
        }
    }

    fn combine(
        &self,
        members: impl IntoIterator<Item = LanguageId>,
        simple: bool,
        join: impl Fn(u64, u64) -> u64,
    ) -> Facts {
        let mut members = members.into_iter().map(|member| self.facts(member));
        let first = members.next().unwrap_or(Facts {
            nullable: 0,
            pasts: 0,
            simple,
            structural: simple,
            custom_dfa: false,
            finite: false,
        });
        members.fold(
            Facts {
                simple: simple && first.simple,
                ..first
            },
            |all, one| Facts {
                nullable: join(all.nullable, one.nullable),
                pasts: all.pasts | one.pasts,
                simple: all.simple && one.simple,
                structural: all.structural && one.structural,
                custom_dfa: all.custom_dfa || one.custom_dfa,
                finite: all.finite && one.finite,
            },
        )
    }
}

impl Arena {
    /// What may come first in texts of an expression.
    pub(in crate::strings) fn firsts(&self, id: LanguageId) -> CoarseCharSet {
        self.firsts[id.0 as usize]
    }

    /// The same of an expression that is made, the parts of which have been.
    pub(in crate::strings) fn firsts_of(&self, node: &Expr) -> CoarseCharSet {
        match node {
            Expr::None | Expr::Empty => CoarseCharSet::NONE,
            Expr::Class(ranges) => CoarseCharSet::of(ranges.iter().copied()),
            Expr::Branch { edges, .. } => CoarseCharSet::of(edges.iter().map(|(range, _)| *range)),
            Expr::Concat(first, rest) => {
                let firsts = self.firsts(*first);
                match self.facts(*first).nullable {
                    0 => firsts,
                    _ => firsts.or(self.firsts(*rest)),
                }
            }
            Expr::Repeat { inner, .. } => self.firsts(*inner),
            Expr::Or(members) => {
                let members = members.iter().map(|member| self.firsts(*member));
                members.fold(CoarseCharSet::NONE, CoarseCharSet::or)
            }
            Expr::And(members) => {
                let members = members.iter().map(|member| self.firsts(*member));
                members.fold(CoarseCharSet::ALL, CoarseCharSet::and)
            }
            Expr::Recall { body, .. } => self.firsts(*body),
            Expr::Not(_) | Expr::Past(_) | Expr::Loop(_) | Expr::CustomDfa(_) => CoarseCharSet::ALL,
            Expr::LeapSecond { minute, .. } => CoarseCharSet::of_text(match minute {
                LeapMinute::Ahead | LeapMinute::Read(_) => ":",
                LeapMinute::Begun => "012345",
                LeapMinute::Tens(_) => "0123456789",
                LeapMinute::Zone(_) => ".+-Zz",
            }),
        }
    }
}

impl Arena {
    /// What may come at all in texts of an expression.
    pub(in crate::strings) fn used(&self, id: LanguageId) -> CoarseCharSet {
        self.used[id.0 as usize]
    }

    /// The same of an expression that is made, the parts of which have been.
    pub(in crate::strings) fn used_of(&self, node: &Expr) -> CoarseCharSet {
        let all_of = |members: &mut dyn Iterator<Item = LanguageId>| {
            members.fold(CoarseCharSet::NONE, |all, member| all.or(self.used(member)))
        };
        match node {
            Expr::None | Expr::Empty => CoarseCharSet::NONE,
            Expr::Class(ranges) => CoarseCharSet::of(ranges.iter().copied()),
            Expr::Branch { edges, .. } => {
                let first = CoarseCharSet::of(edges.iter().map(|(range, _)| *range));
                first.or(all_of(&mut edges.iter().map(|(_, target)| *target)))
            }
            Expr::Concat(first, rest) => self.used(*first).or(self.used(*rest)),
            Expr::Repeat { inner, .. } => self.used(*inner),
            Expr::Or(members) => all_of(&mut members.iter().copied()),
            Expr::And(members) => {
                let members = members.iter().map(|member| self.used(*member));
                members.fold(CoarseCharSet::ALL, CoarseCharSet::and)
            }
            _ => CoarseCharSet::ALL,
        }
    }
}

//! Facts about an expression, such as nullability, computed from those of its parts when it is made.

use crate::strings::charset::CharRange;
use crate::strings::expr::arena::Arena;
use crate::strings::expr::coarse_char_set::CoarseCharSet;
use crate::strings::expr::expression::{Expr, Facts, LeapMinute, PAST_ROWS};
use crate::strings::expr::word_lists::short_list;
use crate::strings::language_id::{LanguageId, UNBOUNDED};

impl Arena {
    /// Returns the facts about an expression that is being made; its parts have been made already.
    pub(super) fn facts_of(&self, expr: &Expr) -> Facts {
        match expr {
            Expr::Loop(number) => return self.loops[*number as usize].1,
            Expr::Branch { accepts, edges } => return self.facts_of_branch(*accepts, edges),
            _ => {}
        }
        Facts {
            firsts: self.firsts_of(expr),
            used: self.used_of(expr),
            needed: self.needed_of(expr),
            words: self.words_of(expr),
            ..self.structure_of(expr)
        }
    }

    /// The facts of a state of a word list, from one pass over its edges: most states of most schemas are of this kind.
    fn facts_of_branch(&self, accepts: bool, edges: &[(CharRange, LanguageId)]) -> Facts {
        let firsts = CoarseCharSet::of(edges.iter().map(|(range, _)| *range));
        let mut facts = Facts {
            simple: true,
            finite: true,
            firsts,
            used: firsts,
            needed: (!accepts).then_some(firsts),
            ..Facts::opaque(if accepts { u64::MAX } else { 0 }, 0)
        };
        let mut words = Some(u64::from(accepts));
        for (range, target) in edges {
            let target = self.facts(*target);
            facts.simple &= target.simple;
            facts.finite &= target.finite;
            facts.used = facts.used.or(target.used);
            let behind = range.count() * u64::from(target.words);
            words = words.filter(|_| behind > 0).map(|words| words + behind);
        }
        facts.structural = facts.simple;
        facts.words = short_list(words);
        facts
    }

    fn structure_of(&self, expr: &Expr) -> Facts {
        let closed = |nullable, simple| Facts {
            simple,
            structural: simple,
            ..Facts::opaque(if nullable { u64::MAX } else { 0 }, 0)
        };
        match expr {
            Expr::LeapSecond { .. } => closed(false, true),
            Expr::Branch { accepts, edges } => self.facts_of_branch(*accepts, edges),
            Expr::None | Expr::Empty | Expr::Class(_) => Facts {
                finite: true,
                ..closed(matches!(expr, Expr::Empty), true)
            },
            Expr::CustomDfa(state) => Facts {
                custom_dfa: !state.is_enumerable(),
                ..closed(state.accepts(), true)
            },
            Expr::Concat(first, rest) => Facts {
                custom_dfa: false,
                ..self.combine(&[*first, *rest], |a, b| a & b)
            },
            Expr::Repeat { inner, min, max } => {
                let inner = self.facts(*inner);
                Facts {
                    nullable: if *min == 0 { u64::MAX } else { inner.nullable },
                    custom_dfa: false,
                    finite: inner.finite && *max != UNBOUNDED,
                    ..*inner
                }
            }
            Expr::Or(members) => self.combine(members, |a, b| a | b),
            Expr::And(members) => {
                let bounded = self.bounded(members);
                Facts {
                    simple: false,
                    structural: bounded.is_some_and(|(inner, ..)| self.is_structural(inner)),
                    finite: members.iter().any(|member| self.is_finite(*member)),
                    ..self.combine(members, |a, b| a & b)
                }
            }
            Expr::Not(inner) => {
                let inner = self.facts(*inner);
                Facts {
                    custom_dfa: inner.custom_dfa,
                    ..Facts::opaque(!inner.nullable, inner.pasts)
                }
            }
            Expr::Past(i) => Facts::opaque(PAST_ROWS[usize::from(*i)], 1 << i),
            Expr::Recall { body, past } => {
                let row = self.facts(*body).nullable >> self.past_bits(past) & 1;
                closed(row == 1, false)
            }
            Expr::Loop(number) => self.loops[*number as usize].1,
        }
    }

    /// Facts about parts, of which there is one at least, taken together.
    fn combine(&self, parts: &[LanguageId], join: impl Fn(u64, u64) -> u64) -> Facts {
        let parts = parts.iter().map(|part| *self.facts(*part));
        let all = parts.reduce(|all, one| Facts {
            nullable: join(all.nullable, one.nullable),
            pasts: all.pasts | one.pasts,
            simple: all.simple && one.simple,
            structural: all.structural && one.structural,
            custom_dfa: all.custom_dfa || one.custom_dfa,
            finite: all.finite && one.finite,
            ..all
        });
        all.unwrap_or(Facts::opaque(0, 0))
    }
}

impl Arena {
    /// Returns the characters with which texts of an expression may begin.
    pub(in crate::strings) fn firsts(&self, id: LanguageId) -> CoarseCharSet {
        self.facts(id).firsts
    }

    /// Returns the characters with which texts of an expression may begin that is being made; its parts have been made already.
    fn firsts_of(&self, node: &Expr) -> CoarseCharSet {
        match node {
            Expr::None | Expr::Empty => CoarseCharSet::NONE,
            Expr::Class(ranges) => CoarseCharSet::of(ranges.iter().copied()),
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
            Expr::Not(_) | Expr::Past(_) | Expr::Loop(_) | Expr::CustomDfa(_) | Expr::Branch { .. } => {
                CoarseCharSet::ALL
            }
            Expr::LeapSecond { minute, .. } => CoarseCharSet::of_text(match minute {
                LeapMinute::Ahead | LeapMinute::Read(_) => ":",
                LeapMinute::Begun => "012345",
                LeapMinute::Tens(_) => "0123456789",
                LeapMinute::Zone(_) => ".+-Zz",
            }),
        }
    }

    /// Returns the characters that may occur in texts of an expression.
    pub(in crate::strings) fn used(&self, id: LanguageId) -> CoarseCharSet {
        self.facts(id).used
    }

    /// Returns the characters that may occur in texts of an expression that is being made; its parts have been made already.
    fn used_of(&self, node: &Expr) -> CoarseCharSet {
        let all_of = |members: &mut dyn Iterator<Item = LanguageId>| {
            members.fold(CoarseCharSet::NONE, |all, member| all.or(self.used(member)))
        };
        match node {
            Expr::None | Expr::Empty => CoarseCharSet::NONE,
            Expr::Class(ranges) => CoarseCharSet::of(ranges.iter().copied()),
            Expr::Concat(first, rest) => self.used(*first).or(self.used(*rest)),
            Expr::Repeat { inner, .. } => self.used(*inner),
            Expr::Or(members) => all_of(&mut members.iter().copied()),
            Expr::And(members) => {
                let members = members.iter().map(|member| self.used(*member));
                members.fold(CoarseCharSet::ALL, CoarseCharSet::and)
            }
            Expr::LeapSecond { .. } => CoarseCharSet::of_text("0123456789:.+-Zz"),
            _ => CoarseCharSet::ALL,
        }
    }

    /// Characters of which each text of an expression that is made, the parts of which have been, has one at least; none
    /// where no such characters show.
    fn needed_of(&self, node: &Expr) -> Option<CoarseCharSet> {
        let of = |part: &LanguageId| self.facts(*part).needed;
        let fewest = |sets: &mut dyn Iterator<Item = CoarseCharSet>| sets.min_by_key(|set| set.count());
        match node {
            Expr::Class(ranges) => Some(CoarseCharSet::of(ranges.iter().copied())),
            Expr::Concat(first, rest) => fewest(&mut [first, rest].into_iter().filter_map(of)),
            Expr::Repeat { inner, min: 1.., .. } => of(inner),
            Expr::Or(members) => members.iter().map(of).reduce(|all, one| Some(all?.or(one?)))?,
            Expr::And(members) => fewest(&mut members.iter().filter_map(of)),
            Expr::Recall { body, .. } => of(body),
            _ => None,
        }
    }

    /// Whether a member of an intersection needs characters that texts of another do not have.
    pub(super) fn lacks_needed(&self, members: &[LanguageId]) -> bool {
        let used = members.iter().map(|member| self.used(*member));
        let used = used.fold(CoarseCharSet::ALL, CoarseCharSet::and);
        let mut needed = members.iter().filter_map(|member| self.facts(*member).needed);
        used != CoarseCharSet::ALL && needed.any(|needed| needed.and(used) == CoarseCharSet::NONE)
    }
}

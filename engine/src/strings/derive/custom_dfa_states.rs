//! Walks over states of custom DFAs that are not interned as expressions, except while a search finds out whether one beside another language
//! can be completed.

use crate::strings::custom_dfa::CustomDfa;
use crate::strings::expr::expression::Expr;
use crate::strings::language_id::{ANY, LanguageId, NONE, UNBOUNDED};
use crate::strings::languages::Languages;
use crate::strings::lengths::Lengths;
use crate::strings::limits::LimitReached;

/// States of custom DFAs, side by side, that are not kept in the arena: to look at many texts, each of which would be a
/// language of its own.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct CustomDfaStates {
    parts: Vec<BoundedState>,
}

/// A state of a custom DFA, bounds on the number of characters to come, and another language that they have to be of.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct BoundedState {
    state: CustomDfa,
    min: u64,
    max: u64,
    /// A language without custom DFAs.
    beside: LanguageId,
}

impl BoundedState {
    fn is_bare(&self) -> bool {
        (self.min, self.max, self.beside) == (0, UNBOUNDED, ANY)
    }

    fn after(&self, languages: &mut Languages, c: char) -> Result<Option<Self>, LimitReached> {
        if self.max == 0 {
            return Ok(None);
        }
        let Some(state) = self.state.after(c)? else {
            return Ok(None);
        };
        let beside = languages.derivative(self.beside, c)?;
        let after = Self {
            state,
            min: self.min.saturating_sub(1),
            max: self.max - u64::from(self.max != UNBOUNDED),
            beside,
        };
        let lives = match beside {
            NONE => false,
            _ => after.is_bare() || languages.meet(&after.state, (after.min, after.max), beside)?,
        };
        Ok(lives.then_some(after))
    }

    fn may_begin(&self, languages: &mut Languages, first: char, last: char) -> Result<bool, LimitReached> {
        if let Some(may) = self.state.may_begin(first, last).transpose()?
            && (self.is_bare() || !may)
        {
            return Ok(may);
        }
        let of_state = self.state.first_characters();
        let of_both = match self.beside {
            ANY => of_state,
            beside => of_state.intersection(&languages.first_characters(beside)?),
        };
        for c in of_both.within(first, last) {
            if self.after(languages, c)?.is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

impl CustomDfaStates {
    /// The states after a character; none where no text continues with it.
    pub(crate) fn after(&self, languages: &mut Languages, c: char) -> Result<Option<Self>, LimitReached> {
        let mut after = Vec::with_capacity(self.parts.len());
        for part in &self.parts {
            after.extend(part.after(languages, c)?);
        }
        Ok((!after.is_empty()).then_some(Self { parts: after }))
    }

    /// Returns the lengths of the texts that may follow, where this is one state without bounds that knows them at once.
    pub(crate) fn lengths(&self) -> Result<Option<Lengths>, LimitReached> {
        match &self.parts[..] {
            [part] if part.is_bare() && matches!(part.state, CustomDfa::RegexSyntax(_)) => part.state.lengths(),
            _ => Ok(None),
        }
    }

    /// The states with bounds on the number of characters that the whole text may have.
    pub(crate) fn within(&self, (min, max): (u64, u64)) -> Self {
        let parts = self.parts.iter().cloned();
        let parts = parts.map(|part| BoundedState { min, max, ..part }).collect();
        Self { parts }
    }

    /// Whether all characters beyond ASCII lead to the same states.
    pub(crate) fn is_narrow(&self) -> bool {
        self.parts
            .iter()
            .all(|part| part.beside == ANY && matches!(&part.state, CustomDfa::RegexSyntax(regex) if regex.is_narrow()))
    }

    /// Whether the text may end here.
    pub(crate) fn accepts(&self, languages: &Languages) -> bool {
        let accepts =
            |part: &BoundedState| part.min == 0 && part.state.accepts() && languages.accepts_empty(part.beside);
        self.parts.iter().any(accepts)
    }

    /// Whether a text goes on with a character of one of `ranges`, whose ends are included.
    pub(crate) fn may_begin(&self, languages: &mut Languages, ranges: &[(u32, u32)]) -> Result<bool, LimitReached> {
        for part in &self.parts {
            for &(low, high) in ranges {
                // Ranges may begin or end among the surrogates.
                let first = (low..=high).find_map(char::from_u32);
                let last = (low..=high).rev().find_map(char::from_u32);
                if let (Some(first), Some(last)) = (first, last)
                    && part.may_begin(languages, first, last)?
                {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }
}

impl Languages {
    /// The states that make up `language` where it is a union of states of custom DFAs, each within bounds on its length, and
    /// nothing else, or such a union beside another language.
    pub(crate) fn custom_dfa_states(&mut self, language: LanguageId) -> Result<Option<CustomDfaStates>, LimitReached> {
        if !self.arena.has_custom_dfa(language) {
            return Ok(None);
        }
        let (whole, others) = self.split_customs(language)?.unwrap_or((language, ANY));
        let (beside, least, most) = self.split_length(others)?.unwrap_or((others, 0, UNBOUNDED));
        let members = match self.arena.node(whole) {
            Expr::Or(members) => members.to_vec(),
            _ => vec![whole],
        };
        let mut parts = Vec::with_capacity(members.len());
        for member in members {
            let bounds = match self.arena.node(member) {
                Expr::CustomDfa(_) => Some((member, 0, UNBOUNDED)),
                _ => self.split_length(member)?,
            };
            let Some((rest, min, max)) = bounds else {
                return Ok(None);
            };
            let Expr::CustomDfa(state) = self.arena.node(rest) else {
                return Ok(None);
            };
            let (min, max) = (min.max(least), max.min(most));
            if min > max {
                continue;
            }
            let state = state.clone();
            parts.push(BoundedState {
                state,
                min,
                max,
                beside,
            });
        }
        Ok(Some(CustomDfaStates { parts }))
    }
}

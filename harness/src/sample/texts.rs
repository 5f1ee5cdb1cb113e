//! The strings and names of a [`Draft`].

use maskwright::TokenId;
use rand::Rng as _;
use rand::seq::IndexedRandom as _;

use super::draft::{Draft, TOO_DEEP};
use super::settings::{OptionalMembers, SampleError};
use super::tokens::{END, weight_in_text};

/// Bytes of a string after which it is brought to an end.
const LONG_TEXT: usize = 40;
/// Probability of writing a string character by character rather than in words.
const UNUSUAL_TEXT: f64 = 0.03;

impl Draft<'_> {
    /// The rest of a string or name.
    pub(super) fn string(&mut self, is_name: bool) -> Result<TokenId, SampleError> {
        if self.position.text.is_empty() && self.words.is_none() {
            let whole = if is_name {
                self.usual_name()?
            } else {
                self.usual_string()?
            };
            if let Some(token) = whole {
                return Ok(token);
            }
            let most = if is_name { 1 } else { 3 };
            self.words = (!self.happens(UNUSUAL_TEXT)).then(|| self.random.random_range(1..=most));
        }
        let is_empty = self.position.text.is_empty();
        if let Some(words) = self.words.filter(|words| *words > 0) {
            self.words = Some(words - 1);
            if let Some(word) = self.word(is_empty)? {
                return Ok(word);
            }
        }
        if self.allows(b'"')? {
            let ends = match (is_empty, self.words) {
                (true, _) => 0.03,
                (false, Some(_)) => 0.98,
                (false, None) => 0.3,
            };
            if self.position.text.len() >= LONG_TEXT || self.happens(ends) {
                return Ok(b'"'.into());
            }
        } else if self.position.text.len() >= LONG_TEXT {
            if self.happens(0.9)
                && let Some(word) = self.word(false)?
            {
                return Ok(word);
            }
            if self.plan_to_end_of_scalar()? {
                return Ok(self.planned.pop_front().unwrap_or(END));
            }
        }
        self.any_byte(weight_in_text)
    }

    /// A word, with a space before it unless it is the first.
    fn word(&mut self, is_first: bool) -> Result<Option<TokenId>, SampleError> {
        let words = self.tokens.words.iter();
        let words = words.map(|(first, later)| if is_first { *first } else { *later });
        let words = self.allowed(words)?;
        Ok(words.choose(&mut self.random).copied())
    }

    /// A name that the schema declares; none where there is none, or where chance wants another.
    fn usual_name(&mut self) -> Result<Option<TokenId>, SampleError> {
        let guide = self.guide_of_container();
        let declared = guide.names();
        let mut names = Vec::new();
        for name in declared {
            if let Some(token) = self.tokens.whole(name)
                && self.masker.mask()?.allows(token)
            {
                names.push((token, guide.requires(name)));
            }
        }
        for (token, is_required) in &names {
            let is_taken = *is_required
                || match self.settings.optional {
                    OptionalMembers::All => self.position.open.len() <= TOO_DEEP,
                    OptionalMembers::Some => self.by_chance(&[*token]).is_some(),
                    OptionalMembers::None => false,
                };
            if is_taken {
                return Ok(Some(*token));
            }
        }
        if self.settings.optional == OptionalMembers::None && self.plan_to_end_of_scalar()? {
            return Ok(self.planned.pop_front());
        }
        Ok(names.last().map(|(token, _)| *token))
    }

    /// A string that the schema lists, or that is usual for its format.
    fn usual_string(&mut self) -> Result<Option<TokenId>, SampleError> {
        let guide = self.guide_of_value();
        // Of a string that may be anything, what is listed belongs to another branch.
        let is_free = self.masker.mask()?.allows(self.tokens.any_letters);
        let listed = if is_free { Vec::new() } else { guide.values() };
        let examples = if self.happens(0.7) {
            guide.examples()
        } else {
            Vec::new()
        };
        let listed = listed.into_iter().chain(examples);
        let listed = listed.filter_map(|string| self.tokens.whole(string));
        let listed = self.allowed(listed.collect::<Vec<_>>())?;
        if let Some(token) = listed.choose(&mut self.random) {
            return Ok(Some(*token));
        }
        let formats = guide.formats();
        let usual = formats.iter().flat_map(|format| self.tokens.of_format(format));
        let usual = self.allowed(usual.collect::<Vec<_>>())?;
        Ok(usual.choose(&mut self.random).copied())
    }
}

//! [`NameTokens`]: masks within the names of members, at positions between two characters.

use std::ops::Range;

use hashbrown::HashMap;
use smallvec::SmallVec;

use crate::TokenId;
use crate::automaton::{Automaton, AutomatonError, PartialKey, RemainingKeyText, SeenKeys, SomeKeys, State, TextId};
use crate::mask::index::contents::{Closing, Contents};
use crate::mask::shared_tokens::SharedTokens;
use crate::mask::strings::cache::StringCache;
use crate::mask::strings::residual::Residual;
use crate::mask::strings::strategy::Strings;
use crate::strings::LanguageId;

use super::exhausted_keys::ExhaustedKeyTokens;
use super::remaining_keys::RemainingKeyTokens;
use super::suffixes::{SuffixCache, Suffixes};

/// A state within a name for which a mask is computed.
#[derive(Debug)]
pub(crate) struct NextKey {
    /// The state within the name.
    pub(crate) at: State,
    /// The texts that may follow, if they have been computed.
    pub(crate) remaining: Option<RemainingKeyText>,
    /// The names that must not come although tokens of the base set close them.
    closed: SomeKeys,
}

/// Cache of the tokens that are prefixes of names.
#[derive(Debug, Default)]
pub(crate) struct KeyCache {
    /// By the contents of the tokens and the name: the range of the tokens that stay in the name, and the places of tokens that
    /// spell the whole name and close it.
    places: HashMap<(u32, TextId), (Range<usize>, Range<usize>)>,
    tokens: Vec<TokenId>,
    pub(crate) remaining: RemainingKeyTokens,
    pub(crate) exhausted: ExhaustedKeyTokens,
}

impl KeyCache {
    /// Bytes that the cache takes, roughly.
    pub(crate) fn bytes(&self) -> usize {
        96 * self.places.len() + 4 * self.tokens.len() + self.remaining.bytes() + self.exhausted.bytes()
    }
}

/// Maximal number of cached tokens, and of cached names: some megabytes.
const MAX_KEPT: usize = 1 << 18;

/// The name that comes next, as far as the walk from before its opening quote has computed it.
#[derive(Debug, Default)]
pub(crate) struct KeyAhead {
    /// The number of the contents whose tokens are in the base set, with the closing quote alone.
    pub(crate) based_on: Option<u32>,
    pub(crate) known: Option<NextKey>,
}

/// Computes masks within names of members.
pub(crate) struct NameTokens<'a> {
    pub(crate) automaton: &'a mut Automaton,
    pub(crate) cache: &'a mut KeyCache,
    pub(crate) suffixes: &'a mut SuffixCache,
    pub(crate) strings: &'a mut StringCache,
    pub(crate) tokens: &'a SharedTokens,
    pub(crate) next: &'a mut KeyAhead,
}

impl NameTokens<'_> {
    fn suffixes(&mut self) -> Suffixes<'_> {
        Suffixes {
            automaton: self.automaton,
            cache: self.suffixes,
            index: &self.tokens.index.suffixes,
            shared: &self.tokens.suffixes,
        }
    }

    fn strings(&mut self) -> Strings<'_> {
        Strings {
            automaton: self.automaton,
            cache: self.strings,
            index: &self.tokens.index,
            shared: &self.tokens.strings,
        }
    }

    /// Adds the tokens allowed between two characters of a name. Where almost any name may come, tokens that continue or end any string
    /// are left out if they are in the base set.
    pub(crate) fn name(
        &mut self,
        at: State,
        remaining: &RemainingKeyText,
        contents: &Contents,
        found: &mut Vec<TokenId>,
    ) -> Result<(), AutomatonError> {
        match remaining {
            RemainingKeyText::These(names, read) => {
                for &name in names {
                    let closings = self.begin_name(name, *read, contents, found);
                    self.close_listed(at, name, &contents.closings[closings], found)?;
                }
            }
            RemainingKeyText::Left(remaining) => {
                let (begun, closed) = self.cache.remaining.find(self.automaton, *remaining, contents);
                found.extend_from_slice(begun);
                for (name, closings) in closed.iter() {
                    if !self.automaton.has_key(remaining.seen, *name) {
                        self.close_listed(at, *name, &contents.closings[closings.clone()], found)?;
                    }
                }
            }
            RemainingKeyText::AllBut(names, read) => {
                let closed = match self.next.known.take() {
                    Some(known) if known.at == at && self.next.based_on == Some(contents.number) => known.closed,
                    _ => self.closed_by(names, contents),
                };
                if self.next.based_on != Some(contents.number) {
                    found.extend_from_slice(&contents.tokens);
                    let excluded = self.quotes_of(&closed, *read, contents);
                    for (suffix, quotes) in &contents.by_suffix {
                        if self.tokens.index.suffixes.nothing[*suffix as usize] {
                            found.extend(quotes.iter().filter(|token| !excluded.contains(token)));
                        }
                    }
                }
                self.close_all_but(at, (&closed, *read), contents, found)?;
            }
            RemainingKeyText::Language(language, used, read) => {
                let from = found.len();
                self.strings().inside_few(contents, *language, found)?;
                let exhausted = &mut self.cache.exhausted;
                let exhausted = exhausted.find(self.automaton, *language, used, contents)?;
                retain_from(found, from, |token| exhausted.binary_search(token).is_err());
                self.close_language(at, *language, (used, *read), contents, found)?;
            }
        }
        Ok(())
    }

    /// Returns the tokens that spell the whole of a name that must not come, where almost any name may come next; none elsewhere. All
    /// other tokens of names are in the base set.
    pub(crate) fn before_any_name(&mut self, at: State) -> Result<Option<Vec<TokenId>>, AutomatonError> {
        let Some(contents) = self.tokens.index.between.behind_quote() else {
            return Ok(None);
        };
        let Some(at) = self.automaton.key_from(at)? else {
            return Ok(None);
        };
        let remaining = self.automaton.remaining_key_text(at)?;
        let RemainingKeyText::AllBut(names, read) = &remaining else {
            return Ok(None);
        };
        let quotes = self.all_but_quotes(at, (names, *read), contents);
        if let Some(known) = &mut self.next.known {
            known.remaining = Some(remaining);
        }
        Ok(Some(quotes))
    }

    /// Returns the tokens that end with the closing quote of some names, so many bytes of which have been read. All other tokens that end
    /// with the closing quote of a name are in the base set.
    pub(crate) fn all_but_quotes(
        &mut self,
        at: State,
        (names, read): (&SeenKeys, usize),
        contents: &Contents,
    ) -> Vec<TokenId> {
        let closed = self.closed_by(names, contents);
        let quotes = self.quotes_of(&closed, read, contents);
        self.next.based_on = Some(contents.number);
        let remaining = None;
        self.next.known = Some(NextKey { at, remaining, closed });
        quotes
    }

    /// The seen names that some token completes and closes.
    pub(crate) fn closed_by(&mut self, names: &SeenKeys, contents: &Contents) -> SomeKeys {
        if self.automaton.count_seen(names) > contents.closed.len() {
            let texts = contents.closed.iter();
            return texts.filter_map(|text| self.automaton.seen_key(names, text)).collect();
        }
        self.automaton
            .seen_where(names, |left| !contents.closings_after(left).is_empty())
    }

    fn quotes_of(&self, names: &[TextId], read: usize, contents: &Contents) -> Vec<TokenId> {
        let mut quotes = Vec::new();
        for &name in names {
            let closings = self.closings_of(name, read, contents);
            let closings = contents.closings[closings].iter();
            let closings = closings.filter(|closing| self.tokens.index.suffixes.nothing[closing.suffix as usize]);
            quotes.extend(closings.map(|closing| closing.token));
        }
        quotes
    }

    /// Adds the tokens that stay in a name behind its first `read` bytes; returns the places of tokens that complete the name and close it.
    fn begin_name(&mut self, name: TextId, read: usize, contents: &Contents, found: &mut Vec<TokenId>) -> Range<usize> {
        let text = &self.automaton.key_text(name)[read..];
        if read > 0 {
            contents.beginnings(text, found);
            return contents.closings_after(text);
        }
        let names = &mut self.cache;
        let key = (contents.number, name);
        if names.tokens.len().max(names.places.len()) > MAX_KEPT {
            names.places.clear();
            names.tokens.clear();
        }
        if let Some((inside, closings)) = names.places.get(&key) {
            found.extend_from_slice(&names.tokens[inside.clone()]);
            return closings.clone();
        }
        let from = names.tokens.len();
        contents.beginnings(text, &mut names.tokens);
        found.extend_from_slice(&names.tokens[from..]);
        let closings = contents.closings_after(text);
        names.places.insert(key, (from..names.tokens.len(), closings.clone()));
        closings
    }

    /// The places of the tokens that complete a name behind its first `read` bytes and close it.
    fn closings_of(&self, name: TextId, read: usize, contents: &Contents) -> Range<usize> {
        contents.closings_after(&self.automaton.key_text(name)[read..])
    }

    /// Adds the tokens that close an allowed name and whose suffix is allowed behind it.
    pub(crate) fn close_listed(
        &mut self,
        at: State,
        name: TextId,
        closings: &[Closing],
        found: &mut Vec<TokenId>,
    ) -> Result<(), AutomatonError> {
        let [nothing, of_name] = Contents::by_kind(closings, &self.tokens.index.suffixes);
        found.extend(nothing.iter().map(|closing| closing.token));
        self.go_on_behind(at, name, of_name, found)
    }

    /// Adds the tokens that close a name, continue as behind a name, and whose suffix is allowed.
    fn go_on_behind(
        &mut self,
        at: State,
        name: TextId,
        closings: &[Closing],
        found: &mut Vec<TokenId>,
    ) -> Result<(), AutomatonError> {
        // A colon may follow every name that may come.
        let is_colon = |closing: &Closing| self.tokens.index.suffixes.colon == Some(closing.suffix);
        if closings.iter().all(is_colon) {
            found.extend(closings.iter().map(|closing| closing.token));
            return Ok(());
        }
        let after = self.automaton.after_key(at, name);
        let viable = self.suffixes().behind_listed(after)?;
        let may = closings.iter().filter(|closing| viable[closing.suffix as usize]);
        found.extend(may.map(|closing| closing.token));
        Ok(())
    }

    /// Adds the tokens that close a name, where almost any name may come, and continue behind it.
    fn close_all_but(
        &mut self,
        at: State,
        (excluded, read): (&[TextId], usize),
        contents: &Contents,
        found: &mut Vec<TokenId>,
    ) -> Result<(), AutomatonError> {
        if contents.names.is_empty() {
            return Ok(());
        }
        let Some(begun) = self.automaton.partial_key(at)? else {
            return Ok(());
        };
        let Some(listed) = self.automaton.only_listed_differ(&begun) else {
            for (text, closings) in &contents.names {
                let is_excluded = |name: &TextId| self.automaton.key_text(*name)[read..] == **text;
                if !excluded.iter().any(is_excluded) {
                    self.close_class(at, &begun, text, closings, found)?;
                }
            }
            return Ok(());
        };
        // All but a few names are alike.
        let mut single = SmallVec::<[(TextId, Range<usize>); 8]>::new();
        let listed: SomeKeys = match listed.len() > contents.closed.len() {
            true => {
                let texts = contents.closed.iter();
                texts
                    .filter_map(|text| self.automaton.listed_behind(&begun, text))
                    .collect()
            }
            false => listed.into(),
        };
        for &name in listed.iter().chain(excluded) {
            let closings = self.closings_of(name, read, contents);
            if !closings.is_empty() && !single.iter().any(|(one, _)| *one == name) {
                single.push((name, closings));
            }
        }
        let is_single = |token: TokenId| {
            let mut closings = single.iter().flat_map(|(_, places)| &contents.closings[places.clone()]);
            closings.any(|closing| closing.token == token)
        };
        let is_other = |automaton: &Automaton, text: &str| {
            let mut names = single.iter().map(|(name, _)| automaton.key_text(*name));
            !names.any(|name| name[read..] == *text)
        };
        if let Some((text, _)) = contents.names.iter().find(|(text, _)| is_other(self.automaton, text)) {
            let viable = self.suffixes().behind_any(at, &begun, text)?;
            let remaining = &self.tokens.index.suffixes;
            let mut may = viable.both(&remaining.is_of_name).but(&remaining.reaches_text);
            if self.automaton.is_compared(at) {
                may = may.but(&remaining.closes);
            }
            match single.is_empty() {
                true => {
                    let tokens = contents.by_suffix.iter().filter(|(suffix, _)| may[*suffix as usize]);
                    tokens.for_each(|(_, tokens)| found.extend_from_slice(tokens));
                }
                false => {
                    let names = contents.names.iter();
                    let closings = names.filter(|(text, _)| is_other(self.automaton, text));
                    let closings = closings.flat_map(|(_, closings)| closings);
                    found.extend(
                        closings
                            .filter(|closing| may[closing.suffix as usize])
                            .map(|closing| closing.token),
                    );
                }
            }
            for (text, closing) in &contents.reaching_names {
                if !self.suffixes().is_alike(at, closing.suffix) && !is_single(closing.token) {
                    self.close_class(at, &begun, text, &[*closing], found)?;
                }
            }
        }
        for (name, closings) in single {
            if !excluded.contains(&name) {
                let [_, of_name] = Contents::by_kind(&contents.closings[closings], &self.tokens.index.suffixes);
                self.go_on_behind(at, name, of_name, found)?;
            }
        }
        Ok(())
    }

    /// Adds the tokens that close a name of a language, except some names of which so many bytes have been read.
    pub(crate) fn close_language(
        &mut self,
        at: State,
        names: LanguageId,
        (but, read): (&SeenKeys, usize),
        contents: &Contents,
        found: &mut Vec<TokenId>,
    ) -> Result<(), AutomatonError> {
        if contents.closings.is_empty() {
            return Ok(());
        }
        let residual = Residual::new(self.automaton, names)?;
        let nothing = &self.tokens.index.suffixes.nothing;
        let from = found.len();
        self.strings().closings(contents, names, nothing, found)?;
        let but = self.closed_by(but, contents);
        let excluded = self.quotes_of(&but, read, contents);
        if !excluded.is_empty() {
            retain_from(found, from, |token| !excluded.contains(token));
        }
        let mut begun = None;
        for (text, closings) in &contents.names {
            let is_but = |name: &TextId| self.automaton.key_text(*name)[read..] == **text;
            if but.iter().any(is_but) || !self.accepts(residual.clone(), text)? {
                continue;
            }
            if begun.is_none() {
                begun = self.automaton.partial_key(at)?;
            }
            let Some(begun) = &begun else { return Ok(()) };
            self.close_class(at, begun, text, closings, found)?;
        }
        Ok(())
    }

    /// Whether a name may end with these characters.
    fn accepts(&mut self, residual: Residual, text: &str) -> Result<bool, AutomatonError> {
        let mut residual = residual;
        for character in text.chars() {
            match residual.after(self.automaton, character)? {
                Some(after) => residual = after,
                None => return Ok(false),
            }
        }
        Ok(residual.accepts(self.automaton))
    }

    /// Adds the tokens that add `text` to a name that is not listed, close it, and whose suffix is allowed.
    fn close_class(
        &mut self,
        at: State,
        begun: &PartialKey,
        text: &str,
        closings: &[Closing],
        found: &mut Vec<TokenId>,
    ) -> Result<(), AutomatonError> {
        let mut alike = None;
        for closing in closings {
            let is_viable = match self.suffixes().is_alike(at, closing.suffix) {
                _ if self.tokens.index.suffixes.colon == Some(closing.suffix) => true,
                true => {
                    if alike.is_none() {
                        alike = Some(self.suffixes().behind_class(at, begun, text)?);
                    }
                    alike.as_ref().is_some_and(|viable| viable[closing.suffix as usize])
                }
                false => {
                    let after = self.automaton.after_longer_key(at, text);
                    self.suffixes().viable(after)?[closing.suffix as usize]
                }
            };
            if is_viable {
                found.push(closing.token);
            }
        }
        Ok(())
    }
}

/// Removes the tokens from index `from` on for which `holds` is false.
fn retain_from(tokens: &mut Vec<TokenId>, from: usize, holds: impl Fn(&TokenId) -> bool) {
    let mut place = 0;
    tokens.retain(|token| {
        place += 1;
        place <= from || holds(token)
    });
}

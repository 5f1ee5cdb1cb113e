//! Tokens from a place within a name on.

use std::ops::Range;

use hashbrown::HashMap;
use smallvec::SmallVec;

use crate::TokenId;
use crate::automaton::{Automaton, AutomatonError, PartialKey, RemainingKeyText, SeenKeys, SomeKeys, State, TextId};
use crate::strings::LanguageId;

use crate::mask::index::contents::{Closing, Contents};
use crate::mask::index::suffix_set::SuffixSet;
use crate::mask::index::trie::ROOT;
use crate::mask::objects::exhausted_keys::ExhaustedKeyTokens;
use crate::mask::objects::remaining_keys::RemainingKeyTokens;
use crate::mask::strings::residual::Residual;
use crate::mask::strings::strategy::{closings, inside_few};
use crate::mask::structure::Walk;

/// What is known of a name that tokens are about to be looked for in.
#[derive(Debug)]
pub(crate) struct NextKey {
    /// The place in it.
    pub(crate) at: State,
    /// What may follow, if that was asked.
    pub(crate) rests: Option<RemainingKeyText>,
    /// Those of the names that may not come which tokens of the set that others are added to close.
    closed: SomeKeys,
}

/// The tokens that names begin with, so that they are not looked for again.
#[derive(Debug, Default)]
pub(crate) struct KeyCache {
    /// By the contents that the tokens are of: where those stand that stay in the name, and places of those that add all
    /// of it and close it.
    places: HashMap<(u32, TextId), (Range<usize>, Range<usize>)>,
    tokens: Vec<TokenId>,
    pub(crate) left: RemainingKeyTokens,
    pub(crate) gone: ExhaustedKeyTokens,
}

impl KeyCache {
    /// Bytes that they take, roughly.
    pub(crate) fn bytes(&self) -> usize {
        96 * self.places.len() + 4 * self.tokens.len() + self.left.bytes() + self.gone.bytes()
    }
}

/// Tokens of names that are kept, and names.
const MOST_KEPT: usize = 1 << 18;

impl Walk<'_> {
    /// Tokens from between two characters of a name on. Where it may become almost any name, those that any string may go
    /// on with, or end with, are left out if they are in the set that others are added to.
    pub(crate) fn name(
        &mut self,
        at: State,
        rests: &RemainingKeyText,
        contents: &Contents,
        found: &mut Vec<TokenId>,
    ) -> Result<(), AutomatonError> {
        match rests {
            RemainingKeyText::These(names, read) => {
                for &name in names {
                    let closings = self.begin_name(name, *read, contents, found);
                    self.close_listed(at, name, &contents.closings[closings], found)?;
                }
            }
            RemainingKeyText::Left(left) => self.names_left(at, *left, contents, found)?,
            RemainingKeyText::AllBut(names, read) => {
                let closed = match self.known_name.take() {
                    Some(known) if known.at == at && self.based_on == Some(contents.number) => known.closed,
                    _ => self.closed_by(names, contents),
                };
                if self.based_on != Some(contents.number) {
                    found.extend_from_slice(&contents.tokens);
                    let excluded = self.quotes_of(&closed, *read, contents);
                    for (rest, quotes) in &contents.by_rest {
                        if self.tokens.rests.nothing[*rest as usize] {
                            found.extend(quotes.iter().filter(|token| !excluded.contains(token)));
                        }
                    }
                }
                self.close_all_but(at, (&closed, *read), contents, found)?;
            }
            RemainingKeyText::Language(language, used, read) => {
                let (from, freedom) = (found.len(), &mut self.known.freedom);
                inside_few(self.automaton, freedom, contents, *language, found)?;
                let gone = self.names_gone(*language, used, contents)?;
                let mut place = 0;
                found.retain(|token| {
                    place += 1;
                    place <= from || gone.binary_search(token).is_err()
                });
                self.close_language(at, *language, (used, *read), contents, found)?;
            }
        }
        Ok(())
    }

    /// The tokens with the whole of a name that may not come, where this is a place before a name of almost any kind; none
    /// of other places. All others are in the set that others are added to.
    pub(crate) fn before_any_name(&mut self, at: State) -> Result<Option<Vec<TokenId>>, AutomatonError> {
        let Some(contents) = self.tokens.between.behind_quote() else {
            return Ok(None);
        };
        let Some(at) = self.automaton.name_from(at)? else {
            return Ok(None);
        };
        let rests = self.automaton.name_rests(at)?;
        let RemainingKeyText::AllBut(names, read) = &rests else {
            return Ok(None);
        };
        let quotes = self.all_but_quotes(at, (names, *read), contents);
        if let Some(known) = &mut self.known_name {
            known.rests = Some(rests);
        }
        Ok(Some(quotes))
    }

    /// The tokens that end with the closing quote of some names, so many bytes of which have been read. All others that end
    /// with that of a name are in the set that others are added to.
    pub(crate) fn all_but_quotes(
        &mut self,
        at: State,
        (names, read): (&SeenKeys, usize),
        contents: &Contents,
    ) -> Vec<TokenId> {
        let closed = self.closed_by(names, contents);
        let quotes = self.quotes_of(&closed, read, contents);
        self.based_on = Some(contents.number);
        let rests = None;
        self.known_name = Some(NextKey { at, rests, closed });
        quotes
    }

    /// Those of some names that a token adds all the rest of and closes.
    pub(crate) fn closed_by(&mut self, names: &SeenKeys, contents: &Contents) -> SomeKeys {
        if self.automaton.count_come(names) > contents.closed.len() {
            let texts = contents.closed.iter();
            return texts.filter_map(|text| self.automaton.name_come(names, text)).collect();
        }
        self.automaton
            .names_come_where(names, |rest| !contents.closings_after(rest).is_empty())
    }

    fn quotes_of(&self, names: &[TextId], read: usize, contents: &Contents) -> Vec<TokenId> {
        let mut quotes = Vec::new();
        for &name in names {
            let closings = self.closings_of(name, read, contents);
            let closings = contents.closings[closings].iter();
            let closings = closings.filter(|closing| self.tokens.rests.nothing[closing.rest as usize]);
            quotes.extend(closings.map(|closing| closing.token));
        }
        quotes
    }

    /// The tokens that stay in a name after so many bytes of it; returns places of those that add all of it and close it.
    fn begin_name(&mut self, name: TextId, read: usize, contents: &Contents, found: &mut Vec<TokenId>) -> Range<usize> {
        let text = &self.automaton.name_text(name)[read..];
        if read > 0 {
            beginnings(text, contents, found);
            return contents.closings_after(text);
        }
        let names = &mut self.known.names;
        let key = (contents.number, name);
        if names.tokens.len().max(names.places.len()) > MOST_KEPT {
            names.places.clear();
            names.tokens.clear();
        }
        if let Some((inside, closings)) = names.places.get(&key) {
            found.extend_from_slice(&names.tokens[inside.clone()]);
            return closings.clone();
        }
        let from = names.tokens.len();
        beginnings(text, contents, &mut names.tokens);
        found.extend_from_slice(&names.tokens[from..]);
        let closings = contents.closings_after(text);
        names.places.insert(key, (from..names.tokens.len(), closings.clone()));
        closings
    }

    /// Places of the tokens that add all that is left of a name and close it.
    fn closings_of(&self, name: TextId, read: usize, contents: &Contents) -> Range<usize> {
        contents.closings_after(&self.automaton.name_text(name)[read..])
    }

    /// Those of the tokens that close a name, which may come, that may come.
    pub(crate) fn close_listed(
        &mut self,
        at: State,
        name: TextId,
        closings: &[Closing],
        found: &mut Vec<TokenId>,
    ) -> Result<(), AutomatonError> {
        let [nothing, of_name] = Contents::by_kind(closings, &self.tokens.rests);
        found.extend(nothing.iter().map(|closing| closing.token));
        self.go_on_behind(at, name, of_name, found)
    }

    /// Those of the tokens that close a name, which may come, and go on as behind a name, that may come.
    fn go_on_behind(
        &mut self,
        at: State,
        name: TextId,
        closings: &[Closing],
        found: &mut Vec<TokenId>,
    ) -> Result<(), AutomatonError> {
        // A colon may follow every name that may come.
        let is_colon = |closing: &Closing| self.tokens.rests.colon == Some(closing.rest);
        if closings.iter().all(is_colon) {
            found.extend(closings.iter().map(|closing| closing.token));
            return Ok(());
        }
        let after = self.automaton.after_name(at, name);
        let alive = self.alive_behind_listed(after)?;
        let may = closings.iter().filter(|closing| alive[closing.rest as usize]);
        found.extend(may.map(|closing| closing.token));
        Ok(())
    }

    /// The tokens that close a name that may be almost any, and go on behind it.
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
        let Some(begun) = self.automaton.begun_name(at)? else {
            return Ok(());
        };
        let Some(listed) = self.automaton.only_listed_differ(&begun) else {
            for (text, closings) in &contents.names {
                let is_excluded = |name: &TextId| self.automaton.name_text(*name)[read..] == **text;
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
            let mut names = single.iter().map(|(name, _)| automaton.name_text(*name));
            !names.any(|name| name[read..] == *text)
        };
        if let Some((text, _)) = contents.names.iter().find(|(text, _)| is_other(self.automaton, text)) {
            let alive = self.alive_behind_free(at, &begun, text)?;
            let rests = &self.tokens.rests;
            let mut may = alive.both(&rests.is_of_name).but(&rests.reaches_text);
            if self.automaton.is_compared(at) {
                may = may.but(&rests.closes);
            }
            match single.is_empty() {
                true => {
                    let tokens = contents.by_rest.iter().filter(|(rest, _)| may[*rest as usize]);
                    tokens.for_each(|(_, tokens)| found.extend_from_slice(tokens));
                }
                false => {
                    let names = contents.names.iter();
                    let closings = names.filter(|(text, _)| is_other(self.automaton, text));
                    let closings = closings.flat_map(|(_, closings)| closings);
                    found.extend(
                        closings
                            .filter(|closing| may[closing.rest as usize])
                            .map(|closing| closing.token),
                    );
                }
            }
            for (text, closing) in &contents.reaching_names {
                if !self.is_alike(at, closing.rest) && !is_single(closing.token) {
                    self.close_class(at, &begun, text, &[*closing], found)?;
                }
            }
        }
        for (name, closings) in single {
            if !excluded.contains(&name) {
                let [_, of_name] = Contents::by_kind(&contents.closings[closings], &self.tokens.rests);
                self.go_on_behind(at, name, of_name, found)?;
            }
        }
        Ok(())
    }

    /// The tokens that close a name of a language, but for some of which so many bytes have been read.
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
        let (automaton, freedom) = (&mut *self.automaton, &mut self.known.freedom);
        let rest = Residual::new(automaton, names)?;
        let nothing = &self.tokens.rests.nothing;
        let from = found.len();
        closings(automaton, freedom, contents, names, nothing, found)?;
        let but = self.closed_by(but, contents);
        let excluded = self.quotes_of(&but, read, contents);
        if !excluded.is_empty() {
            let mut place = 0;
            found.retain(|token| {
                place += 1;
                place <= from || !excluded.contains(token)
            });
        }
        let mut begun = None;
        for (text, closings) in &contents.names {
            let is_but = |name: &TextId| self.automaton.name_text(*name)[read..] == **text;
            if but.iter().any(is_but) || !self.accepts(rest.clone(), text)? {
                continue;
            }
            if begun.is_none() {
                begun = self.automaton.begun_name(at)?;
            }
            let Some(begun) = &begun else { return Ok(()) };
            self.close_class(at, begun, text, closings, found)?;
        }
        Ok(())
    }

    fn accepts(&mut self, rest: Residual, text: &str) -> Result<bool, AutomatonError> {
        let mut rest = Some(rest);
        for character in text.chars() {
            rest = match rest {
                Some(rest) => rest.after(self.automaton, character)?,
                None => return Ok(false),
            };
        }
        Ok(rest.is_some_and(|rest| rest.accepts(self.automaton)))
    }

    /// Those of the tokens that add `text` to a name, which may come, and close it, that may come.
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
            let is_alive = match self.is_alike(at, closing.rest) {
                _ if self.tokens.rests.colon == Some(closing.rest) => true,
                true => {
                    if alike.is_none() {
                        alike = Some(self.alive_after_class(at, begun, text)?);
                    }
                    alike.as_ref().is_some_and(|alive| alive[closing.rest as usize])
                }
                false => {
                    let after = self.automaton.after_longer_name(at, text);
                    self.alive(after)?[closing.rest as usize]
                }
            };
            if is_alive {
                found.push(closing.token);
            }
        }
        Ok(())
    }

    /// Whether each rest may come after the closing quote of a name that is not listed and ends with `text`, if that is
    /// alike for all such names.
    fn alive_behind_free(&mut self, at: State, begun: &PartialKey, text: &str) -> Result<SuffixSet, AutomatonError> {
        if !self.tokens.rests.end_in_comma || !self.automaton.is_wide_open(begun)? {
            return self.alive_after_class(at, begun, text);
        }
        // Any value may come, and any other name behind it: that is the same in all such objects.
        if let Some(known) = &self.known.alive_behind_free {
            return Ok(known.clone());
        }
        let alive = self.alive_after_class(at, begun, text)?;
        self.known.alive_behind_free = Some(alive.clone());
        Ok(alive)
    }

    /// Whether each rest may come after the closing quote of a name that ends with `text`, as far as it does not reach
    /// into other names of the object.
    fn alive_after_class(&mut self, at: State, begun: &PartialKey, text: &str) -> Result<SuffixSet, AutomatonError> {
        let after = self.automaton.after_longer_name(at, text);
        let Some(class) = self.automaton.class_of(begun, (after, text))? else {
            return self.alive(after);
        };
        if let Some(known) = self.known.alive_by_class.get(&class) {
            return Ok(known);
        }
        let alive = self.find_alive(after, None)?;
        self.known.alive_by_class.keep(class, alive.clone(), alive.bytes());
        Ok(alive)
    }
}

/// The tokens that a text begins with.
pub(crate) fn beginnings(text: &str, contents: &Contents, found: &mut Vec<TokenId>) {
    let mut node = Some(ROOT);
    for character in text.chars().map(u32::from) {
        let Some(at) = node else { return };
        begun(at, Some(character), contents, found);
        node = contents.inside.child(at, character);
    }
    if let Some(at) = node {
        begun(at, None, contents, found);
    }
}

/// The tokens that end at a node where this character comes next.
pub(crate) fn begun(node: u32, next: Option<u32>, contents: &Contents, found: &mut Vec<TokenId>) {
    found.extend(places_begun(node, next, contents).map(|place| contents.tokens[place]));
}

/// Their places.
pub(crate) fn places_begun(node: u32, next: Option<u32>, contents: &Contents) -> impl Iterator<Item = usize> {
    let may = move |place: &usize| match (contents.begun(*place), next) {
        (None, _) => Some(true),
        (Some(_), None) => None,
        (Some(begun), Some(0..0x80)) if !begun.may_be_ascii() => None,
        (Some(begun), Some(next)) => Some(begun.may_be(next)),
    };
    let places = contents
        .inside
        .at(node)
        .map_while(move |place| Some((place, may(&place)?)));
    places.filter(|(_, may)| *may).map(|(place, _)| place)
}

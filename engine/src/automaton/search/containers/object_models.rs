//! Models of objects whose facts about single keys do not suffice: members are added that some language must have, and up to the
//! least number of members.

use crate::automaton::error::AutomatonError;
use crate::automaton::formula::{AssertionId, KeyCell, Keys, MemberKey, TextId};
use crate::automaton::search::containers::object_facts::{
    Exception, MemberFacts, MemberRole, ObjectFacts, ObjectModel, OtherMember,
};
use crate::automaton::search::containers::tableau::{Reasons, united};
use crate::automaton::search::{Requirement, Search};
use crate::strings::LanguageId;
use hashbrown::HashSet;

impl ObjectFacts<'_> {
    /// Whether a model has the member that an exception asks for.
    pub(in crate::automaton::search) fn is_met(
        &self,
        search: &mut Search,
        model: &ObjectModel,
        exception: &Exception,
    ) -> Result<bool, AutomatonError> {
        let violates = |value: &Requirement| {
            exception.violates == AssertionId::NOTHING || value.none.contains(&exception.violates)
        };
        for (&name, value) in &model.members {
            let keys = Keys::Language(exception.language);
            if violates(value) && search.algebra.covers(keys, MemberKey::Known(name))? {
                return Ok(true);
            }
        }
        let mut others = model.others.iter();
        Ok(others.any(|other| other.within.contains(&exception.language) && violates(&other.value)))
    }

    /// A model with a member for each exception, and enough members, or the reasons why there is none.
    pub(in crate::automaton::search) fn extended(
        &self,
        search: &mut Search,
        mut model: ObjectModel,
        exceptions: &[Exception],
    ) -> Result<Result<ObjectModel, Reasons>, AutomatonError> {
        let mut names: Vec<TextId> = Vec::new();
        names.extend(self.keys.keys().filter_map(|member| match member {
            MemberRole::Key(name) => Some(*name),
            _ => None,
        }));
        names.extend(search.algebra.named_keys(self.told));
        let used = self.around.used;
        names.extend(self.around.named.iter().filter(|name| !used.contains(name)));
        names.sort_unstable();
        names.dedup();
        let sorted = |mut languages: Vec<LanguageId>| {
            languages.sort_unstable();
            languages.dedup();
            languages
        };
        let asked = sorted(exceptions.iter().map(|exception| exception.language).collect());
        let mut languages: Vec<LanguageId> = self.languages.iter().map(|(language, ..)| *language).collect();
        languages.extend(self.around.wanted.into_iter().flatten());
        languages.extend(search.algebra.languages_of(self.told));
        // A member with a key in fewer languages has fewer conditions to meet. Only the languages that exceptions ask for are told apart.
        let cells = search
            .algebra
            .least_cells(asked, sorted(languages), &names, self.around.used)?;
        let mut open = Vec::new();
        'exceptions: for exception in exceptions {
            let mut ways = Vec::new();
            for way in 0..cells.len() + names.len() {
                let next = self.with_exception(search, &model, exception, way, (&cells, &names))?;
                let is_free = cells.get(way).is_some_and(|cell| cell.left.is_none()) && self.over == u64::MAX;
                match next {
                    // A member from a cell that cannot run out gets in no other's way.
                    Some(next) if is_free => {
                        model = next;
                        continue 'exceptions;
                    }
                    Some(_) => ways.push(way),
                    None => {}
                }
            }
            // Members that come anyway, such as the one that is wanted besides, may be what is asked for.
            let mut others = model.others.iter();
            if ways.is_empty() && !others.any(|other| other.within.contains(&exception.language)) {
                return Ok(Err(self.reasons_against(search, exception)?));
            }
            open.push((exception, ways));
        }
        open.sort_by_key(|(_, ways)| ways.len());
        // Each exception is given a member, with the number of the ways to do so that have been tried. The last ways are
        // the members that other exceptions have got.
        let mut models = vec![(model, 0)];
        loop {
            let given = models.len() - 1;
            let (model, tried) = &mut models[given];
            let at = *tried;
            *tried += 1;
            search.count_step("states of an object in the search for its end")?;
            let next = match open.get(given) {
                None => match self.filled(search, model.clone(), &cells, &names)? {
                    None => None,
                    Some(filled) => return Ok(Ok(filled)),
                },
                Some((exception, ways)) if at == 0 && self.is_met(search, model, exception)? => {
                    // Nothing else has to be tried for it.
                    *tried = ways.len() + model.others.len();
                    Some(model.clone())
                }
                Some((exception, ways)) if at < ways.len() + model.others.len() => {
                    let others = cells.len() + names.len();
                    let way = ways.get(at).copied().unwrap_or_else(|| others + at - ways.len());
                    let next = self.with_exception(search, model, exception, way, (&cells, &names))?;
                    if next.is_none() {
                        continue;
                    }
                    next
                }
                Some(_) => None,
            };
            match next {
                Some(next) => models.push((next, 0)),
                None if given == 0 => {
                    let reasons = exceptions.iter().map(|exception| &exception.reasons);
                    return Ok(Err(united(reasons.chain([&self.common_reasons()]))));
                }
                None => _ = models.pop(),
            }
        }
    }

    /// The reasons why no member meets an exception. Where the members with keys in one language do not, and few keys of the
    /// exception are outside of that language, these are the facts about that language and those keys; else all facts about keys
    /// of the exception. Other facts matter only where the number of members is bounded.
    fn reasons_against(&self, search: &mut Search, exception: &Exception) -> Result<Reasons, AutomatonError> {
        if let Some(reasons) = self.language_against(search, exception)? {
            return Ok(reasons);
        }
        if self.over != u64::MAX {
            return Ok(united([&exception.reasons, &self.common_reasons()]));
        }
        for (language, assertion, reasons) in &self.languages {
            let Some(outside) = search.algebra.listed_keys_outside(exception.language, *language) else {
                continue;
            };
            if search.satisfiable(&[*assertion], &[exception.violates])? {
                continue;
            }
            let mut facts = vec![&exception.reasons, reasons];
            for name in outside {
                let of_member = self.keys.get(&MemberRole::Key(name));
                facts.extend(of_member.into_iter().flat_map(MemberFacts::reasons));
                for (around, _, reasons) in &self.languages {
                    if self.is_within(search, MemberRole::Key(name), *around)? {
                        facts.push(reasons);
                    }
                }
            }
            return Ok(united(facts));
        }
        let mut facts = vec![&exception.reasons];
        facts.extend(self.languages.iter().map(|(.., reasons)| reasons));
        for (&member, of_member) in &self.keys {
            if self.is_within(search, member, exception.language)? {
                facts.extend(of_member.reasons());
            }
        }
        Ok(united(facts))
    }

    /// The reasons why no member meets an exception, if it shows from one language that has all keys of the exception: members with
    /// these keys satisfy what the exception's member has to violate.
    pub(in crate::automaton::search) fn language_against(
        &self,
        search: &mut Search,
        exception: &Exception,
    ) -> Result<Option<Reasons>, AutomatonError> {
        for (language, assertion, reasons) in &self.languages {
            if search.algebra.is_language_within(exception.language, *language)
                && !search.satisfiable(&[*assertion], &[exception.violates])?
            {
                return Ok(Some(united([&exception.reasons, reasons])));
            }
        }
        Ok(None)
    }

    /// The model with a member for an exception, in the way with this index; `None` if that way is impossible.
    fn with_exception(
        &self,
        search: &mut Search,
        model: &ObjectModel,
        exception: &Exception,
        way: usize,
        (cells, names): (&[KeyCell], &[TextId]),
    ) -> Result<Option<ObjectModel>, AutomatonError> {
        let (mut is_new, language) = (true, exception.language);
        let value = if let Some(cell) = cells.get(way) {
            let taken = model.others.iter().filter(|other| other.within == cell.within).count() as u64;
            let has_room = cell.left.is_none_or(|left| taken < left) && cell.within.contains(&language);
            has_room.then(|| Requirement::new(&self.value_within(&cell.within), &[]))
        } else if let Some(&name) = names.get(way - cells.len()) {
            let is_covered = search
                .algebra
                .covers(Keys::Language(language), MemberKey::Known(name))?;
            match model.members.get(&name) {
                _ if !is_covered || self.comes(MemberRole::Key(name)) == Some(false) => None,
                Some(value) => {
                    is_new = false;
                    Some(value.clone())
                }
                None => Some(self.optional_value(search, name)?),
            }
        } else {
            is_new = false;
            let other = &model.others[way - cells.len() - names.len()];
            other.within.contains(&language).then(|| other.value.clone())
        };
        let Some(value) = value.filter(|_| !is_new || model.count + 1 < self.over) else {
            return Ok(None);
        };
        let value = Requirement::new(&value.all, &[&value.none[..], &[exception.violates]].concat());
        if !search.satisfiable(&value.all, &value.none)? {
            return Ok(None);
        }
        let mut model = model.clone();
        model.count += u64::from(is_new);
        if let Some(cell) = cells.get(way) {
            model.others.push(OtherMember {
                within: cell.within.clone(),
                names: cell.names.clone(),
                value,
                count: 1,
            });
        } else if let Some(&name) = names.get(way - cells.len()) {
            model.members.insert(name, value);
        } else {
            model.others[way - cells.len() - names.len()].value = value;
        }
        Ok(Some(model))
    }

    /// The model with more members until there are enough, from `names`, which are sorted, and `cells`; `None` if that is impossible.
    fn filled(
        &self,
        search: &mut Search,
        mut model: ObjectModel,
        cells: &[KeyCell],
        names: &[TextId],
    ) -> Result<Option<ObjectModel>, AutomatonError> {
        if model.count.max(self.min) >= self.over {
            return Ok(None);
        }
        // Keys that should be named come last, and the last of them first: a model for keys in order then holds until few are left.
        let named = || self.around.named.iter().rev().copied();
        let is_named: HashSet<TextId> = named().collect();
        let told = names.iter().copied().filter(|name| !is_named.contains(name));
        self.fill_with(search, &mut model, told)?;
        for cell in cells {
            if model.count >= self.min {
                break;
            }
            let value = Requirement::new(&self.value_within(&cell.within), &[]);
            let taken = model.others.iter().filter(|other| other.within == cell.within).count() as u64;
            let left = cell.left.map_or(u64::MAX, |left| left.saturating_sub(taken));
            if left > 0 && search.satisfiable(&value.all, &value.none)? {
                let count = left.min(self.min - model.count);
                model.count += count;
                model.others.push(OtherMember {
                    within: cell.within.clone(),
                    names: cell.names.clone(),
                    value,
                    count,
                });
            }
        }
        self.fill_with(
            search,
            &mut model,
            named().filter(|name| names.binary_search(name).is_ok()),
        )?;
        Ok((model.count >= self.min).then_some(model))
    }

    /// Adds members with some keys until there are enough.
    fn fill_with(
        &self,
        search: &mut Search,
        model: &mut ObjectModel,
        names: impl Iterator<Item = TextId>,
    ) -> Result<(), AutomatonError> {
        for name in names {
            if model.count >= self.min {
                break;
            }
            if self.comes(MemberRole::Key(name)).is_none() && !model.has(name) {
                let value = self.optional_value(search, name)?;
                if search.satisfiable(&value.all, &value.none)? {
                    model.members.insert(name, value);
                    model.count += 1;
                }
            }
        }
        Ok(())
    }
}

//! The [theory](Theory) of facts about the members of an object that are still to come.
//!
//! Facts speak of a key ("a member `a` comes", "its value satisfies this and not that"), of all keys in a language, or
//! of the number of members. Each key is judged by itself: its facts can hold together if one value meets them all. Only
//! members that some language has to have, and bounds on the number of members, need more than that: keys that no fact
//! mentions are sorted into cells, and members from the cells are added.

use crate::automaton::error::AutomatonError;
use crate::automaton::formula::{AssertionId, AtomKind, CellKeys, FormulaId, Keys, MemberKey, TextId};
use crate::automaton::search::containers::tableau::{Reasons, Theory, united};
use crate::automaton::search::containers::value_facts::ValueFacts;
use crate::automaton::search::{Requirement, Search};
use crate::strings::LanguageId;
use std::collections::BTreeMap;

/// Number of members that come, the last ones, among which one is looked for that violates what is said of a language of keys.
const MEMBERS_COMPARED: usize = 64;

/// The facts about one member.
#[derive(Debug, Default)]
pub(in crate::automaton::search) struct MemberFacts {
    /// Whether the member comes, with the reasons; `None` if both are possible.
    comes: Option<(bool, Reasons)>,
    /// Facts about the member's value, which matter if the member comes.
    value: ValueFacts,
}

impl MemberFacts {
    /// The reasons of all facts about the member.
    pub(in crate::automaton::search) fn reasons(&self) -> impl Iterator<Item = &Reasons> {
        let comes = self.comes.iter().map(|(_, reasons)| reasons);
        self.value.reasons().chain(comes)
    }
}

/// A member that has to come: its key is in the language, and its value does not satisfy the assertion.
#[derive(Clone, Debug)]
pub(in crate::automaton::search) struct Exception {
    pub(in crate::automaton::search) language: LanguageId,
    pub(in crate::automaton::search) violates: AssertionId,
    pub(in crate::automaton::search) reasons: Reasons,
}

/// A member of which facts speak.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::automaton::search) enum MemberRole {
    /// The member with this key.
    Key(TextId),
    /// The member that is wanted besides.
    Wanted,
    /// The member before all others, whose verdicts the formulas speak of.
    Read,
}

/// Demands on an object besides its formulas (keys that are used up, wanted or wished for, the member before all others), and on models of it.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::automaton::search) struct Surroundings<'a> {
    /// The keys that cannot come any more.
    pub(in crate::automaton::search) used: &'a [TextId],
    /// The languages of a member that has to come, of those that the formulas speak of.
    pub(in crate::automaton::search) wanted: Option<&'a [LanguageId]>,
    /// The assertions of the member whose verdicts the formulas speak of.
    pub(in crate::automaton::search) read: &'a [AssertionId],
    /// Keys that should come.
    pub(in crate::automaton::search) wishes: &'a [TextId],
    /// Keys that a model names where it has them, instead of a cell that they are in.
    pub(in crate::automaton::search) named: &'a [TextId],
}

/// A change of the facts, which can be taken back.
#[derive(Debug)]
enum Change {
    Comes(MemberRole),
    Value(MemberRole),
    Language,
    Exception,
    Min(u64),
    Over(u64),
    Reasons,
}

/// The facts about the members of an object.
pub(in crate::automaton::search) struct ObjectFacts<'a> {
    pub(in crate::automaton::search) keys: BTreeMap<MemberRole, MemberFacts>,
    /// The members that come, in the order in which this was assumed.
    coming: Vec<MemberRole>,
    /// Every member with a key in the language satisfies the assertion.
    pub(in crate::automaton::search) languages: Vec<(LanguageId, AssertionId, Reasons)>,
    exceptions: Vec<Exception>,
    pub(in crate::automaton::search) min: u64,
    pub(in crate::automaton::search) over: u64,
    /// The reasons of all facts but those about single keys.
    reasons: Vec<Reasons>,
    changes: Vec<Change>,
    /// Whether an exception is held against the languages of keys as soon as it is assumed.
    compares_languages: bool,
    pub(in crate::automaton::search) around: Surroundings<'a>,
    /// A formula whose keys and languages of keys are told apart in models, besides those that facts speak of.
    pub(in crate::automaton::search) told: FormulaId,
}

/// A member whose key no fact mentions, or several that are alike.
#[derive(Clone, Debug)]
pub(in crate::automaton::search) struct OtherMember {
    /// The languages that contain the key, of those that facts speak of.
    pub(in crate::automaton::search) within: Vec<LanguageId>,
    /// The keys that the member may have.
    pub(in crate::automaton::search) names: CellKeys,
    pub(in crate::automaton::search) value: Requirement,
    /// Number of members that are alike.
    pub(in crate::automaton::search) count: u64,
}

/// Members that complete an object.
#[derive(Clone, Debug, Default)]
pub(in crate::automaton::search) struct ObjectModel {
    pub(in crate::automaton::search) members: BTreeMap<TextId, Requirement>,
    pub(in crate::automaton::search) others: Vec<OtherMember>,
    pub(in crate::automaton::search) count: u64,
}

impl ObjectModel {
    /// Whether a member with this key comes.
    pub(in crate::automaton::search) fn has(&self, name: TextId) -> bool {
        self.members.contains_key(&name)
    }
}

impl<'a> ObjectFacts<'a> {
    pub(in crate::automaton::search) fn new(around: Surroundings<'a>, told: FormulaId) -> Self {
        let wanted = around.wanted.map(|_| MemberRole::Wanted);
        let coming: Vec<MemberRole> = wanted.into_iter().chain([MemberRole::Read]).collect();
        let certain = || MemberFacts {
            comes: Some((true, Reasons::default())),
            value: ValueFacts::default(),
        };
        Self {
            keys: coming.iter().map(|member| (*member, certain())).collect(),
            coming,
            languages: Vec::new(),
            exceptions: Vec::new(),
            min: 0,
            over: u64::MAX,
            reasons: Vec::new(),
            changes: Vec::new(),
            compares_languages: false,
            around,
            told,
        }
    }

    fn note(&mut self, change: Change, reasons: &Reasons) {
        self.changes.push(change);
        self.changes.push(Change::Reasons);
        self.reasons.push(reasons.clone());
    }

    /// Whether the key of a member is in a language.
    pub(in crate::automaton::search) fn is_within(
        &self,
        search: &mut Search,
        member: MemberRole,
        language: LanguageId,
    ) -> Result<bool, AutomatonError> {
        match member {
            MemberRole::Key(name) => search.algebra.covers(Keys::Language(language), MemberKey::Known(name)),
            MemberRole::Wanted => Ok(self.around.wanted.is_some_and(|within| within.contains(&language))),
            MemberRole::Read => Ok(false),
        }
    }

    /// Adds a fact about the value of a key, unless it is known.
    fn add_value(&mut self, name: MemberRole, assertion: AssertionId, holds: bool, reasons: &Reasons) {
        let facts = self.keys.entry(name).or_default();
        if facts.value.add(assertion, holds, reasons) {
            self.changes.push(Change::Value(name));
        }
    }

    pub(in crate::automaton::search) fn comes(&self, name: MemberRole) -> Option<bool> {
        let (comes, _) = self.keys.get(&name)?.comes.as_ref()?;
        Some(*comes)
    }

    /// Assumes that a member comes or does not. Returns the reasons of a contradiction.
    fn assume_comes(
        &mut self,
        search: &mut Search,
        name: MemberRole,
        comes: bool,
        reasons: &Reasons,
    ) -> Result<Option<Reasons>, AutomatonError> {
        let facts = self.keys.entry(name).or_default();
        match &facts.comes {
            Some((known, _)) if *known == comes => return Ok(None),
            Some((_, others)) => return Ok(Some(united([reasons, others]))),
            None => {}
        }
        self.changes.push(Change::Comes(name));
        facts.comes = Some((comes, reasons.clone()));
        if !comes {
            return Ok(None);
        }
        self.coming.push(name);
        for place in 0..self.languages.len() {
            let (language, assertion, others) = self.languages[place].clone();
            if self.is_within(search, name, language)? {
                self.add_value(name, assertion, true, &united([reasons, &others]));
            }
        }
        self.check(search, name, false)
    }

    /// Assumes a fact about the value of a member. Returns the reasons of a contradiction.
    fn assume_value(
        &mut self,
        search: &mut Search,
        name: MemberRole,
        assertion: AssertionId,
        holds: bool,
        reasons: &Reasons,
    ) -> Result<Option<Reasons>, AutomatonError> {
        search.find_few_values(assertion)?;
        self.add_value(name, assertion, holds, reasons);
        match self.comes(name) {
            Some(true) => self.check(search, name, false),
            _ if !holds => self.assume_comes(search, name, true, reasons),
            _ => Ok(None),
        }
    }

    /// Checks that one value can meet all facts about a member that comes; without `all` only if many have been added.
    /// Returns the reasons of a contradiction.
    fn check(&mut self, search: &mut Search, name: MemberRole, all: bool) -> Result<Option<Reasons>, AutomatonError> {
        let Some(facts) = self.keys.get_mut(&name) else {
            return Ok(None);
        };
        let Some((true, reasons)) = &facts.comes else {
            return Ok(None);
        };
        let conflict = facts.value.check(search, all)?;
        Ok(conflict.map(|others| united([reasons, &others])))
    }

    /// The reasons of all facts but exceptions.
    pub(in crate::automaton::search) fn common_reasons(&self) -> Reasons {
        let of_keys = self.keys.values().flat_map(MemberFacts::reasons);
        united(of_keys.chain(&self.reasons))
    }

    /// The assertions that a member's value has to satisfy if its key is in exactly these languages.
    pub(in crate::automaton::search) fn value_within(&self, within: &[LanguageId]) -> Vec<AssertionId> {
        let languages = self.languages.iter().filter(|(language, ..)| within.contains(language));
        languages.map(|(_, assertion, _)| *assertion).collect()
    }

    /// Whether a member with this key can be added to those that the facts ask for.
    pub(in crate::automaton::search) fn has_room(
        &self,
        search: &mut Search,
        model: &ObjectModel,
        name: TextId,
    ) -> Result<bool, AutomatonError> {
        if model.has(name) {
            return Ok(true);
        }
        if self.comes(MemberRole::Key(name)) == Some(false) || model.count + 1 >= self.over {
            return Ok(false);
        }
        let value = self.optional_value(search, name)?;
        search.satisfiable(&value.all, &value.none)
    }

    /// The requirement on the value of a member that may come or not.
    pub(in crate::automaton::search) fn optional_value(
        &self,
        search: &mut Search,
        name: TextId,
    ) -> Result<Requirement, AutomatonError> {
        let facts = self.keys.get(&MemberRole::Key(name));
        let mut value = facts.map(|facts| facts.value.requirement()).unwrap_or_default();
        for &(language, assertion, _) in &self.languages {
            if search
                .algebra
                .covers(Keys::Language(language), MemberKey::Known(name))?
            {
                value.all.push(assertion);
            }
        }
        Ok(Requirement::new(&value.all, &value.none))
    }

    /// The members that the facts about single keys ask for.
    fn members_asked(&self) -> ObjectModel {
        let mut model = ObjectModel::default();
        for (member, facts) in &self.keys {
            if *member == MemberRole::Read || !matches!(facts.comes, Some((true, _))) {
                continue;
            }
            let value = facts.value.requirement();
            model.count += 1;
            match member {
                MemberRole::Key(name) => _ = model.members.insert(*name, value),
                _ => model.others.push(OtherMember {
                    within: self.around.wanted.unwrap_or_default().to_vec(),
                    names: CellKeys::These(Vec::new()),
                    value,
                    count: 1,
                }),
            }
        }
        model
    }
}

impl Theory for ObjectFacts<'_> {
    type Model = ObjectModel;

    fn assume(
        &mut self,
        search: &mut Search,
        atom: AtomKind,
        holds: bool,
        reasons: &Reasons,
    ) -> Result<Option<Reasons>, AutomatonError> {
        match (atom, holds) {
            (AtomKind::Has(name), _) => self.assume_comes(search, MemberRole::Key(name), holds, reasons),
            (AtomKind::Members(Keys::Name(name), assertion), _) => {
                self.assume_value(search, MemberRole::Key(name), assertion, holds, reasons)
            }
            (AtomKind::Members(Keys::Language(language), assertion), true) => {
                self.languages.push((language, assertion, reasons.clone()));
                self.note(Change::Language, reasons);
                for place in 0..self.coming.len() {
                    let name = self.coming[place];
                    if !self.is_within(search, name, language)? {
                        continue;
                    }
                    let (_, others) = self.keys[&name].comes.clone().unwrap_or_default();
                    self.add_value(name, assertion, true, &united([reasons, &others]));
                    let conflict = self.check(search, name, false)?;
                    if conflict.is_some() {
                        return Ok(conflict);
                    }
                }
                Ok(None)
            }
            (AtomKind::Members(Keys::Language(language), violates), false) => {
                let reasons = reasons.clone();
                let exception = Exception {
                    language,
                    violates,
                    reasons,
                };
                let conflict = match self.compares_languages {
                    true => self.language_against(search, &exception)?,
                    false => None,
                };
                self.exceptions.push(exception);
                self.changes.push(Change::Exception);
                Ok(conflict)
            }
            (AtomKind::CountAtLeast(count), true) => {
                self.note(Change::Min(self.min), reasons);
                self.min = self.min.max(count);
                Ok(None)
            }
            (AtomKind::CountAtLeast(count), false) => {
                self.note(Change::Over(self.over), reasons);
                self.over = self.over.min(count);
                Ok(None)
            }
            // Verdicts that no value has do no harm; leaving out the obvious ones saves looking for ways that lead nowhere.
            (AtomKind::Verdict(place), true) => match self.around.read.get(place as usize) {
                Some(&assertion) => self.assume_value(search, MemberRole::Read, assertion, true, reasons),
                None => Ok(None),
            },
            _ => Ok(None),
        }
    }

    fn value(&self, search: &Search, atom: AtomKind) -> Option<bool> {
        match atom {
            AtomKind::Has(name) => self.comes(MemberRole::Key(name)),
            AtomKind::Members(Keys::Name(name), assertion) => {
                if self.comes(MemberRole::Key(name)) == Some(false) {
                    return Some(true);
                }
                let facts = self.keys.get(&MemberRole::Key(name))?;
                let known = facts.value.value(assertion);
                known.or_else(|| {
                    let implied = search.implied_by_values(facts.value.satisfied(), assertion)?;
                    (implied || self.comes(MemberRole::Key(name)) == Some(true)).then_some(implied)
                })
            }
            AtomKind::Members(Keys::Language(language), assertion) => {
                let violates = |member: &MemberRole| {
                    let MemberRole::Key(name) = *member else { return false };
                    search.algebra.is_known_to_cover(language, name)
                        && (assertion == AssertionId::NOTHING
                            || self.keys.get(member).and_then(|facts| facts.value.value(assertion)) == Some(false))
                };
                self.coming
                    .iter()
                    .rev()
                    .take(MEMBERS_COMPARED)
                    .any(violates)
                    .then_some(false)
            }
            _ => None,
        }
    }

    fn look_closer(&mut self, search: &mut Search, formulas: &[FormulaId]) {
        let languages = formulas
            .iter()
            .flat_map(|formula| search.algebra.languages_of(*formula));
        for language in languages.collect::<Vec<_>>() {
            // The lists tell which languages have which keys. One that takes too long to find out is done without.
            if search.algebra.enumerated_keys(language).is_err() {
                search.algebra.key_memo.enumerated.insert(language, None);
            }
        }
        self.compares_languages = true;
    }

    fn changes(&self) -> usize {
        self.changes.len()
    }

    fn undo(&mut self, changes: usize) {
        for change in self.changes.drain(changes..).rev() {
            match change {
                Change::Comes(name) => {
                    let comes = self.keys.get_mut(&name).and_then(|facts| facts.comes.take());
                    if let Some((true, _)) = comes {
                        self.coming.pop();
                    }
                }
                Change::Value(name) => {
                    if let Some(facts) = self.keys.get_mut(&name) {
                        facts.value.pop();
                    }
                }
                Change::Language => _ = self.languages.pop(),
                Change::Exception => _ = self.exceptions.pop(),
                Change::Min(min) => self.min = min,
                Change::Over(over) => self.over = over,
                Change::Reasons => _ = self.reasons.pop(),
            }
        }
    }

    fn model(&mut self, search: &mut Search) -> Result<Result<ObjectModel, Reasons>, AutomatonError> {
        let members: Vec<MemberRole> = self.keys.keys().copied().collect();
        for name in members {
            if let Some(conflict) = self.check(search, name, true)? {
                return Ok(Err(conflict));
            }
        }
        let model = self.members_asked();
        let mut exceptions = Vec::new();
        for exception in &self.exceptions {
            if !self.is_met(search, &model, exception)? {
                exceptions.push(exception.clone());
            }
        }
        if !exceptions.is_empty() || model.count < self.min {
            return self.extended(search, model, &exceptions);
        }
        if model.count < self.over {
            return Ok(Ok(model));
        }
        let comes = self.keys.values().filter_map(|facts| facts.comes.as_ref());
        Ok(Err(united(comes.map(|(_, reasons)| reasons).chain(&self.reasons))))
    }
}

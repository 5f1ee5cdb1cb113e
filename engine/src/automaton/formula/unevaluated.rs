//! `unevaluatedProperties` and `unevaluatedItems`, expressed as formulas.
//!
//! Which members and items count as evaluated depends on which branches hold, and a formula says whether a branch
//! holds. So "every member is evaluated by a branch that holds, or satisfies the subschema" is stated for each class of
//! members: keys that the same keywords cover are alike, and so are items between two ends of `prefixItems`.

use crate::CompileError;
use crate::automaton::error::{AutomatonError, check_limit, limit_error};
use crate::automaton::formula::{Algebra, AssertionId, AtomKind, Constraint, FormulaId, Keys, TextId};
use crate::limits::Exceeded;
use crate::schema::{Body, Keywords, NodeId};
use crate::strings::LanguageId;
use hashbrown::HashSet;
use std::collections::BTreeMap;

/// Keys or items that a subschema evaluates if its branch holds.
#[derive(Clone, Debug)]
struct EvaluatedPart<T> {
    what: T,
    /// The condition under which the branch holds.
    when: FormulaId,
}

/// Members that a subschema evaluates.
#[derive(Clone, Debug)]
enum MembersOf {
    Name(TextId),
    Language(LanguageId),
    All,
}

/// Items that a subschema evaluates.
#[derive(Clone, Copy, Debug)]
enum ItemsOf {
    /// The first items, as many as the number says.
    First(u64),
    All,
    /// The items that satisfy an assertion.
    Satisfying(AssertionId),
}

/// The containers whose parts are asked about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Containers {
    Objects,
    Arrays,
}

impl Containers {
    /// The formula of a constraint on these containers.
    fn formula(self, constraint: &Constraint) -> FormulaId {
        match self {
            Self::Objects => constraint.objects,
            Self::Arrays => constraint.arrays,
        }
    }
}

/// Computes the members or items that a subschema evaluates by its own keywords, and whether these are all. The flag says that
/// the subschema's own `unevaluated*` keyword is asking and must be ignored.
type ByItself<T> = fn(&mut Algebra, NodeId, &Keywords, bool) -> Result<(Vec<T>, bool), CompileError>;

impl Algebra {
    /// The formula on an object with the condition that `unevaluatedProperties: rest` of `node` imposes; `objects` is the formula
    /// of all other keywords.
    pub(super) fn with_unevaluated_properties(
        &mut self,
        objects: FormulaId,
        node: NodeId,
        rest: NodeId,
    ) -> Result<FormulaId, CompileError> {
        let evaluated = self.evaluated(node, Containers::Objects, Self::members_of)?;
        let evaluated = self.languages_joined(evaluated)?;
        let assertion = self.assertion_of(rest);
        if let Some(closed) = self.closed_alternatives(objects, &evaluated, assertion)? {
            return Ok(closed);
        }
        let all = evaluated.iter().filter(|one| matches!(one.what, MembersOf::All));
        let all: Vec<FormulaId> = all.map(|one| one.when).collect();
        let (mut by_name, mut by_language) = (BTreeMap::<TextId, Vec<FormulaId>>::new(), Vec::new());
        for one in &evaluated {
            match one.what {
                MembersOf::Name(name) => by_name.entry(name).or_default().push(one.when),
                MembersOf::Language(language) => by_language.push((language, one.when)),
                MembersOf::All => {}
            }
        }
        let names = named(&evaluated);
        let mut parts = Vec::new();
        for (name, mut when) in by_name {
            when.extend(&all);
            for &(language, holds) in &by_language {
                let covers = self.languages.contains(language, self.texts.get(name));
                when.extend(covers.map_err(limit_error)?.then_some(holds));
            }
            let member = self.members(Keys::Name(name), assertion);
            parts.push(self.formulas.or(when.into_iter().chain([member])));
        }
        for (names, mut when) in self.classes(&names, &evaluated)? {
            when.extend(&all);
            let members = self.members(Keys::Language(names), assertion);
            parts.push(self.formulas.or(when.into_iter().chain([members])));
        }
        parts.push(objects);
        Ok(self.formulas.and(parts))
    }

    /// Joins the languages that are evaluated under one condition to one language. Otherwise [`classes`](Self::classes) would tell names
    /// apart by which of these languages they are in.
    fn languages_joined(
        &mut self,
        evaluated: Vec<EvaluatedPart<MembersOf>>,
    ) -> Result<Vec<EvaluatedPart<MembersOf>>, CompileError> {
        let mut languages: BTreeMap<FormulaId, Vec<LanguageId>> = BTreeMap::new();
        let mut joined = Vec::with_capacity(evaluated.len());
        for one in evaluated {
            match one.what {
                MembersOf::Language(language) => languages.entry(one.when).or_default().push(language),
                MembersOf::Name(_) | MembersOf::All => joined.push(one),
            }
        }
        for (when, languages) in languages {
            let what = MembersOf::Language(self.languages.or(&languages).map_err(limit_error)?);
            joined.push(EvaluatedPart { what, when });
        }
        Ok(joined)
    }

    /// The formula `objects` with each of its alternatives closed by itself, so that members are judged alternative by
    /// alternative: members that the alternative does not evaluate satisfy the assertion. `None` unless exactly one alternative
    /// holds and evaluates members.
    fn closed_alternatives(
        &mut self,
        objects: FormulaId,
        evaluated: &[EvaluatedPart<MembersOf>],
        assertion: AssertionId,
    ) -> Result<Option<FormulaId>, CompileError> {
        let conditions = evaluated.iter().map(|one| one.when);
        let mut conditions: Vec<FormulaId> = conditions.filter(|when| *when != FormulaId::TRUE).collect();
        conditions.sort_unstable();
        conditions.dedup();
        let either = self.formulas.or(conditions.iter().copied());
        let parts = self.formulas.conjuncts(&objects);
        if conditions.len() < 2 || !parts.contains(&either) || !self.exclude_each_other(&conditions) {
            return Ok(None);
        }
        let mut parts: Vec<FormulaId> = parts.iter().copied().filter(|part| *part != either).collect();
        let mut alternatives = Vec::with_capacity(conditions.len());
        for condition in conditions {
            let own = evaluated.iter();
            let own = own.filter(|one| one.when == FormulaId::TRUE || one.when == condition);
            let own: Vec<EvaluatedPart<MembersOf>> = own.cloned().collect();
            if own.iter().any(|one| matches!(one.what, MembersOf::All)) {
                alternatives.push(condition);
                continue;
            }
            let names = named(&own);
            let texts: Vec<&str> = names.iter().map(|name| self.texts.get(*name)).collect();
            let mut known = vec![self.languages.one_of(&texts).map_err(limit_error)?];
            known.extend(own.iter().filter_map(|one| match one.what {
                MembersOf::Language(language) => Some(language),
                _ => None,
            }));
            let known = self.languages.or(&known).map_err(limit_error)?;
            let others = self.languages.not(known).map_err(limit_error)?;
            let closed = self.members(Keys::Language(others), assertion);
            alternatives.push(self.formulas.and([condition, closed]));
        }
        parts.push(self.formulas.or(alternatives));
        Ok(Some(self.formulas.and(parts)))
    }

    /// The keys outside `names`, grouped into classes that the same languages of `evaluated` cover; each with the
    /// conditions under which those languages apply.
    fn classes(
        &mut self,
        names: &[TextId],
        evaluated: &[EvaluatedPart<MembersOf>],
    ) -> Result<Vec<(LanguageId, Vec<FormulaId>)>, CompileError> {
        let texts: Vec<&str> = names.iter().map(|name| self.texts.get(*name)).collect();
        let named = self.languages.one_of(&texts).map_err(limit_error)?;
        let mut classes = vec![(self.languages.not(named).map_err(limit_error)?, Vec::new())];
        for one in evaluated {
            let MembersOf::Language(language) = one.what else {
                continue;
            };
            let outside = self.languages.not(language).map_err(limit_error)?;
            let mut split = Vec::new();
            for (names, when) in classes {
                let inner = self.languages.and(&[names, language]).map_err(limit_error)?;
                if !self.languages.is_empty(inner).map_err(limit_error)? {
                    let mut when: Vec<FormulaId> = when.clone();
                    when.push(one.when);
                    split.push((inner, when));
                }
                let outer = self.languages.and(&[names, outside]).map_err(limit_error)?;
                if !self.languages.is_empty(outer).map_err(limit_error)? {
                    split.push((outer, when));
                }
            }
            classes = split;
            self.check_classes(classes.len())?;
        }
        Ok(classes)
    }

    /// Everything that `node` evaluates where it is valid, by its own keywords and through branches on the same value.
    /// Its own `unevaluated*` keyword is left out.
    fn evaluated<T>(
        &mut self,
        node: NodeId,
        containers: Containers,
        by_itself: ByItself<T>,
    ) -> Result<Vec<EvaluatedPart<T>>, CompileError> {
        let schema = self.schema.clone();
        let mut evaluated = Vec::new();
        let mut left = vec![(node, FormulaId::TRUE)];
        let mut found: HashSet<(NodeId, FormulaId)> = HashSet::from([left[0]]);
        let mut own = true;
        while let Some((node, when)) = left.pop() {
            // Branches within branches can be reached under conditions whose number doubles with each level.
            let limit = ("search_states", self.limits.search_states);
            check_limit(
                found.len(),
                limit,
                "conditions under which members or items are evaluated",
            )?;
            let Body::Keywords(keywords) = &schema.node(node).body else {
                continue;
            };
            let (by_itself, all) = by_itself(self, node, keywords, std::mem::take(&mut own))?;
            evaluated.extend(by_itself.into_iter().map(|what| EvaluatedPart { what, when }));
            if !all {
                let branches = self.branches(keywords, when, containers)?;
                left.extend(branches.into_iter().filter(|branch| found.insert(*branch)));
            }
        }
        Ok(evaluated)
    }

    /// The members that a subschema evaluates by its own keywords, and whether those are all members.
    fn members_of(
        &mut self,
        node: NodeId,
        keywords: &Keywords,
        own: bool,
    ) -> Result<(Vec<MembersOf>, bool), CompileError> {
        if keywords.additional_properties.is_some() || (!own && keywords.unevaluated_properties.is_some()) {
            return Ok((vec![MembersOf::All], true));
        }
        let names = keywords.properties.iter();
        let mut members: Vec<MembersOf> = names
            .map(|(name, _)| MembersOf::Name(self.texts.intern(name)))
            .collect();
        for (pattern, _) in &keywords.pattern_properties {
            members.push(MembersOf::Language(self.pattern(node, "patternProperties", pattern)?));
        }
        Ok((members, false))
    }

    /// The formula that `unevaluatedItems: rest` of `node` imposes on an array.
    pub(super) fn unevaluated_items(&mut self, node: NodeId, rest: NodeId) -> Result<FormulaId, CompileError> {
        let evaluated = self.evaluated(node, Containers::Arrays, Self::items_of)?;
        let rest = self.assertion_of(rest);
        let mut ends = vec![0];
        ends.extend(evaluated.iter().filter_map(|one| match one.what {
            ItemsOf::First(count) => Some(count),
            _ => None,
        }));
        ends.sort_unstable();
        ends.dedup();
        let mut parts = Vec::new();
        for (index, &from) in ends.iter().enumerate() {
            let to = ends.get(index + 1).copied();
            let mut when = Vec::new();
            for one in &evaluated {
                let covers = match one.what {
                    ItemsOf::First(count) => count > from,
                    ItemsOf::All => true,
                    ItemsOf::Satisfying(_) => false,
                };
                when.extend(covers.then_some(one.when));
            }
            let items = self.satisfying(from, to, rest, &evaluated)?;
            parts.push(self.formulas.or(when.into_iter().chain([items])));
        }
        Ok(self.formulas.and(parts))
    }

    /// The formula "every item of the range satisfies `rest`, or the `contains` of a branch that holds".
    fn satisfying(
        &mut self,
        from: u64,
        to: Option<u64>,
        rest: AssertionId,
        evaluated: &[EvaluatedPart<ItemsOf>],
    ) -> Result<FormulaId, CompileError> {
        let mut contains: BTreeMap<FormulaId, Vec<AssertionId>> = BTreeMap::new();
        for one in evaluated {
            if let ItemsOf::Satisfying(assertion) = one.what {
                // An item that satisfies the assertion fulfils `contains`, so this atom is replaced by true in the branch's condition.
                let has = self.atoms.intern(AtomKind::Contains(assertion, 1));
                let mut holds = |atom| (atom == has).then_some(FormulaId::TRUE);
                let when = self.formulas.substitute(one.when, &mut holds);
                contains.entry(when).or_default().push(assertion);
            }
        }
        let mut always = contains.remove(&FormulaId::TRUE).unwrap_or_default();
        always.push(rest);
        // Each subset of the conditions that may hold is written out.
        let allowed = self.limits.verdicts;
        if contains.len() >= allowed.max(1).ilog2() as usize {
            let (limit, what) = ("verdicts", "combinations of `contains` beside one `unevaluatedItems`");
            return Err(AutomatonError::from(Exceeded { limit, what, allowed }).into());
        }
        let mut any = Vec::new();
        for chosen in 0..1_u32 << contains.len() {
            let chosen = contains
                .iter()
                .enumerate()
                .filter(|(index, _)| chosen >> index & 1 == 1);
            let (mut assertions, mut holds) = (always.clone(), Vec::new());
            for (_, (when, satisfied)) in chosen {
                assertions.extend(satisfied);
                holds.push(*when);
            }
            let assertion = self.any_assertion(assertions);
            let items = self.items(from, to, assertion);
            any.push(self.formulas.and(holds.into_iter().chain([items])));
        }
        Ok(self.formulas.or(any))
    }

    /// The items that a subschema evaluates by its own keywords, and whether those are all items.
    fn items_of(&mut self, _: NodeId, keywords: &Keywords, own: bool) -> Result<(Vec<ItemsOf>, bool), CompileError> {
        if keywords.items.is_some() || (!own && keywords.unevaluated_items.is_some()) {
            return Ok((vec![ItemsOf::All], true));
        }
        let mut items = Vec::new();
        if !keywords.prefix_items.is_empty() {
            items.push(ItemsOf::First(keywords.prefix_items.len() as u64));
        }
        if let Some(contains) = keywords.contains.filter(|contains| contains.evaluates) {
            items.push(ItemsOf::Satisfying(self.assertion_of(contains.node)));
        }
        Ok((items, false))
    }

    /// The branches of a subschema that apply to the same value, each with the condition under which it holds. A branch
    /// that must hold wherever the subschema does has the subschema's own condition.
    fn branches(
        &mut self,
        keywords: &Keywords,
        when: FormulaId,
        containers: Containers,
    ) -> Result<Vec<(NodeId, FormulaId)>, CompileError> {
        let mut branches: Vec<(NodeId, FormulaId)> = Vec::new();
        branches.extend(keywords.all_of.iter().chain(&keywords.refs).map(|part| (*part, when)));
        let alternatives = keywords.any_of.iter().chain(&keywords.one_of).flatten();
        for &branch in alternatives {
            let holds = containers.formula(&self.part(branch)?);
            branches.push((branch, self.formulas.and([when, holds])));
        }
        if let Some((condition, then, otherwise)) = keywords.if_then_else {
            let holds = containers.formula(&self.part(condition)?);
            let fails = self.formulas.not(holds);
            let (holds, fails) = (self.formulas.and([when, holds]), self.formulas.and([when, fails]));
            branches.push((condition, holds));
            branches.extend(then.map(|then| (then, holds)));
            branches.extend(otherwise.map(|otherwise| (otherwise, fails)));
        }
        // On an array `dependentSchemas` says nothing, whatever its subschemas say of items.
        let dependent = keywords.dependent_schemas.iter();
        for (name, schema) in dependent.filter(|_| containers == Containers::Objects) {
            let name = self.texts.intern(name);
            let has = self.atom(AtomKind::Has(name));
            branches.push((*schema, self.formulas.and([when, has])));
        }
        Ok(branches)
    }
}

/// The single keys among the evaluated members, sorted.
fn named(evaluated: &[EvaluatedPart<MembersOf>]) -> Vec<TextId> {
    let names = evaluated.iter().filter_map(|one| match one.what {
        MembersOf::Name(name) => Some(name),
        _ => None,
    });
    let mut names: Vec<TextId> = names.collect();
    names.sort_unstable();
    names.dedup();
    names
}

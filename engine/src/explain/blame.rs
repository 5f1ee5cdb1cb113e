//! [`BlameWalk`]: keywords that exclude a text, found by one walk over the subschemas that apply to its values.
//!
//! A subschema excludes a value or its beginning if one of its keywords does, or a subschema that it applies to the value or to a
//! part of it, or every branch of an `anyOf`. Where one keyword at each of these suffices, one walk finds them, without trying sets of
//! keywords. Where keywords exclude a value only together, the walk finds their subschema, and
//! [`ConflictSearch`] finds them in it.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::blamed::{Blame, Union};
use super::direct_checks::{COMPARED_PER_WORK, DirectCheck, JudgedText, MAX_DISCRIMINATOR_DEPTH, demanded};
use super::keyword_part::KeywordPart;
use super::minimal_conflict::{ConflictSearch, Excluded, state_after};
use super::single_keywords::{SingleKeywords, with_single_keywords};
use super::text_tree::TextKind;
use crate::automaton::{Automaton, AutomatonError};
use crate::schema::{Body, Keywords, NodeId, SchemaSet};
use crate::strings::Languages;
use crate::{Formats, Style};

/// Subschemas that are followed from one to the next: the walk recurses on the native stack.
const MAX_DEPTH: usize = 200;
/// Maximal number of keywords reported that exclude a text independently of each other.
const MAX_INDEPENDENT: usize = 4;
/// Weight of a member whose value is the only one that a branch allows; a member with one of several allowed values counts for 1.
const CONST_WEIGHT: i32 = 4;

/// A walk through the subschemas beside a text.
pub(super) struct BlameWalk<'w, 't> {
    search: &'w mut ConflictSearch<'t>,
    set: Arc<SchemaSet>,
    added: SingleKeywords,
    /// Whether the name that begins at a byte matches a pattern.
    matches: HashMap<(NodeId, usize), bool>,
    automaton: Automaton,
    text: JudgedText<'t>,
    /// The text, and the part behind the byte that is forbidden.
    whole_text: JudgedText<'t>,
    known: HashMap<(NodeId, usize), Option<Blame>>,
    active: HashSet<(NodeId, usize)>,
    /// Candidates that are taken for absent, sorted.
    out: Vec<usize>,
}

impl<'w, 't> BlameWalk<'w, 't> {
    /// Starts a walk beside the text that a search is about; `whole_text` has the part behind it as well.
    pub(super) fn new(
        search: &'w mut ConflictSearch<'t>,
        formats: Formats,
        text: &'t [u8],
        is_all: bool,
        whole_text: &'t [u8],
    ) -> Self {
        let (set, added) = with_single_keywords(search.relaxable());
        let set = Arc::new(set);
        let automaton = Automaton::lazy(Languages::within(set.limits()), set.clone(), formats, Style::rfc8259());
        Self {
            search,
            set,
            added,
            matches: HashMap::new(),
            automaton,
            text: JudgedText::new(text, is_all),
            whole_text: JudgedText::new(whole_text, true),
            known: HashMap::new(),
            active: HashSet::new(),
            out: Vec::new(),
        }
    }

    /// Keywords that exclude the text; none where they are not found with the work that is left.
    pub(super) fn blame(&mut self, root: NodeId) -> Option<Blame> {
        self.known.clear();
        match self.text.tree.values.is_empty() {
            true => None,
            false => self.of(root, 0, 0),
        }
    }

    /// Keywords that exclude the text, which the subschema `root` excludes; some of them may do so only together.
    pub(super) fn blame_together(&mut self, root: NodeId) -> Option<Blame> {
        match self.text.tree.values.is_empty() {
            true => None,
            false => self.together(root, 0, 0).ok().flatten(),
        }
    }

    /// Returns keywords that exclude the text independently of each other: those of the branches that fit best and, as long as the text is
    /// excluded without the keywords found so far, those that exclude it then.
    pub(super) fn independent(&mut self, root: NodeId, blame: &Blame) -> Vec<usize> {
        let mut leading = blame.leading.clone();
        for _ in 0..MAX_INDEPENDENT {
            leading.retain(|candidate| !self.search.relaxable().is_reference(*candidate));
            leading.sort_unstable();
            leading.dedup();
            self.out.clone_from(&leading);
            match self.blame(root) {
                Some(more) => leading.extend(more.leading),
                None => break,
            }
        }
        leading
    }

    /// Returns the text, and the text with the part behind it, with the facts about their values.
    pub(super) fn into_texts(self) -> (JudgedText<'t>, JudgedText<'t>) {
        (self.text, self.whole_text)
    }

    /// Returns keywords of a subschema that exclude a value: one for each subschema that needs one.
    fn of(&mut self, node: NodeId, value: usize, depth: usize) -> Option<Blame> {
        let key = (node, value);
        if let Some(known) = self.known.get(&key) {
            return known.clone();
        }
        // A subschema that is valid only if it is valid excludes nothing by that.
        if depth > MAX_DEPTH || !self.search.spend(1) || !self.active.insert(key) {
            return None;
        }
        let set = self.set.clone();
        let found = match &set.node(node).body {
            Body::Anything => None,
            Body::Nothing => self.first_part(node, &Keywords::default(), value),
            Body::Keywords(keywords) => self.first_of(node, keywords, value, depth),
        };
        self.active.remove(&key);
        self.known.insert(key, found.clone());
        found
    }

    /// Returns the first blame for the exclusion of a value, in the order of the text.
    fn first_of(&mut self, node: NodeId, keywords: &Keywords, value: usize, depth: usize) -> Option<Blame> {
        let mut first = self.first_part(node, keywords, value);
        let mut consider = |found: Option<Blame>| {
            if let Some(found) = found
                && first.as_ref().is_none_or(|first| found.at < first.at)
            {
                first = Some(found);
            }
        };
        for (reference, applied, value) in self.applied(node, keywords, value) {
            let found = self.of(applied, value, depth + 1);
            consider(found.map(|found| found.by_way_of(reference)));
        }
        consider(self.excluded_name(keywords, value));
        consider(self.of_condition(node, keywords, value, depth));
        if let Some(branches) = keywords.any_of.as_deref().filter(|branches| !branches.is_empty()) {
            let mut all = Vec::new();
            for &branch in branches {
                let Some(found) = self.of(branch, value, depth + 1) else {
                    return first;
                };
                all.push((branch, found));
            }
            consider(self.union_of(node, all, value));
        }
        first
    }

    /// Returns the blame of an `if` that excludes a value: one whose condition is decided, or whose branches both exclude the
    /// value.
    fn of_condition(&mut self, node: NodeId, keywords: &Keywords, value: usize, depth: usize) -> Option<Blame> {
        let (condition, then, otherwise) = keywords.if_then_else?;
        let mut parts = self.search.relaxable().parts_of(node);
        let (candidate, _) = parts.find(|(_, part)| matches!(part, KeywordPart::If(_)))?;
        drop(parts);
        if self.out.binary_search(&candidate).is_ok() {
            return None;
        }
        let then = then.and_then(|then| self.of(then, value, depth + 1));
        let otherwise = otherwise.and_then(|otherwise| self.of(otherwise, value, depth + 1));
        let mut blame = match (then, otherwise) {
            (Some(then), Some(otherwise)) => {
                let (mut later, earlier) = if then.at < otherwise.at {
                    (otherwise, then)
                } else {
                    (then, otherwise)
                };
                later.keywords.extend(earlier.keywords);
                later.keywords.sort_unstable();
                later.keywords.dedup();
                later
            }
            (Some(then), None) => {
                let negated = *self.added.negated.get(&condition)?;
                self.excludes(negated, value).ok().filter(|holds| *holds)?;
                then
            }
            (None, Some(otherwise)) => {
                self.excludes(condition, value).ok().filter(|fails| *fails)?;
                otherwise
            }
            (None, None) => return None,
        };
        blame.is_simple = false;
        Some(blame.by_way_of(Some(candidate)))
    }

    /// Whether the name of a member matches a pattern; none where that is not known.
    fn matches(&mut self, pattern: &str, value: usize, child: usize) -> Option<bool> {
        let node = *self.added.patterns.get(pattern)?;
        let span = self.text.value(value).children[child].name_span.clone();
        if let Some(known) = self.matches.get(&(node, span.start)) {
            return Some(*known);
        }
        let before = self.automaton.effort();
        let at = state_after(&mut self.automaton, node, &self.text.text[span.clone()]).ok()?;
        let matches = match at {
            Some(at) => self.automaton.is_complete(at).ok()?,
            None => false,
        };
        self.matches.insert((node, span.start), matches);
        let effort = self.automaton.effort() - before;
        self.search.spend(effort + 1).then_some(matches)
    }

    /// The subschemas for the value of a member that has a name.
    fn nodes_of(&mut self, keywords: &Keywords, value: usize, child: usize) -> Vec<NodeId> {
        let name = &self.text.value(value).children[child].name;
        let declared = keywords.properties.iter().find(|(declared, _)| declared == name);
        let mut nodes: Vec<NodeId> = declared.map(|(_, node)| *node).into_iter().collect();
        let mut is_known = true;
        for (pattern, node) in &keywords.pattern_properties {
            match self.matches(pattern, value, child) {
                Some(true) => nodes.push(*node),
                Some(false) => {}
                None => is_known = false,
            }
        }
        if nodes.is_empty() && is_known {
            nodes.extend(keywords.additional_properties);
        }
        nodes
    }

    /// The blame of an `anyOf` whose branches are all excluded; the branch that fits best leads.
    fn union_of(&mut self, node: NodeId, branches: Vec<(NodeId, Blame)>, value: usize) -> Option<Blame> {
        let others = branches.len() - 1;
        let mut best: Option<((i32, usize, i32), NodeId, Blame)> = None;
        let (mut keywords, mut is_simple) = (Vec::new(), true);
        for (branch, found) in branches {
            keywords.extend_from_slice(&found.keywords);
            is_simple &= found.is_simple;
            let agreement = self.agreement(branch, value, 0);
            // A branch that disagrees fits no worse than one that says nothing, if the document follows it longer.
            let fit = (agreement.max(0), found.at, agreement);
            if best.as_ref().is_none_or(|(most, ..)| fit > *most) {
                best = Some((fit, branch, found));
            }
        }
        keywords.sort_unstable();
        keywords.dedup();
        let (_, branch, mut blame) = best?;
        blame.keywords = keywords;
        blame.is_simple = is_simple;
        if others > 0 {
            blame.unions.insert(0, Union { node, branch, others });
        }
        Some(blame)
    }

    /// Scores the agreement of the whole text with the constants that a subschema demands of single members.
    fn agreement(&mut self, node: NodeId, value: usize, depth: usize) -> i32 {
        let set = self.set.clone();
        let Body::Keywords(keywords) = &set.node(node).body else {
            return 0;
        };
        if depth > MAX_DISCRIMINATOR_DEPTH || !self.search.spend(keywords.properties.len() + 1) {
            return 0;
        }
        let mut agreement = 0;
        if !keywords.properties.is_empty()
            && let Some(object) = self.whole_text.tree.values.get(value)
        {
            let members = object.children.iter();
            let members: Vec<(String, usize)> = members
                .filter_map(|member| Some((member.name.clone(), member.value?)))
                .take(64)
                .collect();
            for (name, member) in members {
                let declared = keywords.properties.iter().find(|(declared, _)| *declared == name);
                let Some(values) = declared.and_then(|(_, node)| demanded(&set, *node)) else {
                    continue;
                };
                let Some(member) = self.whole_text.ended(member) else {
                    continue;
                };
                let weight = if values.len() == 1 { CONST_WEIGHT } else { 1 };
                agreement += match values.contains(member) {
                    true => weight,
                    false => -weight,
                };
            }
        }
        for part in keywords.all_of.iter().chain(&keywords.refs) {
            agreement += self.agreement(*part, value, depth + 1);
        }
        agreement
    }

    /// The keyword of a subschema that excludes a value by itself, at the first byte.
    fn first_part(&mut self, node: NodeId, keywords: &Keywords, value: usize) -> Option<Blame> {
        let parts: Vec<(usize, KeywordPart)> = self.search.relaxable().parts_of(node).collect();
        let mut first: Option<Blame> = None;
        for (candidate, part) in parts {
            if self.out.binary_search(&candidate).is_ok() {
                continue;
            }
            if !self.search.spend(self.text.work(part, keywords, value)) {
                break;
            }
            let at = match self.text.check(part, keywords, value) {
                DirectCheck::Fails(at) => at,
                DirectCheck::Passes => continue,
                DirectCheck::Unknown => {
                    let Some(&alone) = self.added.alone.get(&candidate) else {
                        continue;
                    };
                    match self.excludes(alone, value) {
                        Ok(true) => self.text.value(value).span.end.saturating_sub(1),
                        Ok(false) | Err(_) => continue,
                    }
                }
            };
            if first.as_ref().is_none_or(|first| at < first.at) {
                first = Some(Blame::one(candidate, value, at));
            }
        }
        first
    }

    /// The `false` that excludes the name of a member that has no value yet.
    fn excluded_name(&mut self, keywords: &Keywords, value: usize) -> Option<Blame> {
        let object = self.text.value(value);
        let last = object
            .children
            .len()
            .checked_sub(1)
            .filter(|_| object.kind == TextKind::Object)?;
        let (member, at) = (&object.children[last], object.span.end.saturating_sub(1));
        if member.value.is_some() || !self.search.spend(1 + keywords.properties.len() / COMPARED_PER_WORK) {
            return None;
        }
        let may_be_declared = || {
            keywords
                .properties
                .iter()
                .any(|(name, _)| name.starts_with(&member.name))
        };
        let nodes: Vec<NodeId> = match member.is_named {
            true => self.nodes_of(keywords, value, last),
            false if !keywords.pattern_properties.is_empty() || may_be_declared() => Vec::new(),
            false => keywords.additional_properties.into_iter().collect(),
        };
        let mut parts = nodes.iter().flat_map(|node| self.search.relaxable().parts_of(*node));
        let is_false = |(candidate, part): &(usize, KeywordPart)| {
            *part == KeywordPart::False && self.out.binary_search(candidate).is_err()
        };
        parts
            .find(is_false)
            .map(|(candidate, _)| Blame::one(candidate, value, at))
    }

    /// The subschemas that must hold if `node` holds of a value, each with the reference that leads to the subschema and the value to which it is
    /// applied; none where the work that is left does not suffice to find them.
    fn applied(&mut self, node: NodeId, keywords: &Keywords, value: usize) -> Vec<(Option<usize>, NodeId, usize)> {
        let mut applied: Vec<(Option<usize>, NodeId, usize)> = Vec::new();
        applied.extend(keywords.all_of.iter().map(|part| (None, *part, value)));
        for (candidate, part) in self.search.relaxable().parts_of(node) {
            if let KeywordPart::Ref { index, .. } = part
                && self.out.binary_search(&candidate).is_err()
            {
                applied.push((Some(candidate), keywords.refs[index], value));
            }
        }
        let text = self.text.value(value);
        let compared = text.children.len() + keywords.dependent_schemas.len();
        if !self.search.spend(1 + compared / COMPARED_PER_WORK) {
            return Vec::new();
        }
        if !keywords.dependent_schemas.is_empty() {
            let named = text.children.iter().filter(|child| child.is_named);
            let names: HashSet<&str> = named.map(|child| child.name.as_str()).collect();
            let dependent = keywords.dependent_schemas.iter();
            let dependent = dependent.filter(|(name, _)| names.contains(name.as_str()));
            applied.extend(dependent.map(|(_, node)| (None, *node, value)));
        }
        let is_array = text.kind == TextKind::Array;
        let children = text.children.iter().enumerate();
        let children: Vec<(usize, usize)> = children.filter_map(|(at, child)| Some((at, child.value?))).collect();
        for (at, inner) in children {
            let nodes: Vec<NodeId> = match is_array {
                true => keywords
                    .prefix_items
                    .get(at)
                    .or(keywords.items.as_ref())
                    .copied()
                    .into_iter()
                    .collect(),
                false => {
                    let compared = keywords.properties.len() + keywords.pattern_properties.len();
                    if !self.search.spend(1 + compared / COMPARED_PER_WORK) {
                        return Vec::new();
                    }
                    self.nodes_of(keywords, value, at)
                }
            };
            applied.extend(nodes.into_iter().map(|node| (None, node, inner)));
        }
        applied
    }

    /// Keywords that exclude a value, which the subschema `node` excludes.
    fn together(&mut self, node: NodeId, value: usize, depth: usize) -> Result<Option<Blame>, AutomatonError> {
        if let Some(found) = self.of(node, value, depth) {
            return Ok(Some(found));
        }
        let set = self.set.clone();
        let Body::Keywords(keywords) = &set.node(node).body else {
            return Ok(None);
        };
        if depth > MAX_DEPTH || !self.search.spend(1) {
            return Ok(None);
        }
        for (reference, applied, value) in self.applied(node, keywords, value) {
            if self.excludes(applied, value)? {
                let found = self.together(applied, value, depth + 1)?;
                return Ok(found.map(|found| found.by_way_of(reference)));
            }
        }
        if let Some(branches) = keywords.any_of.as_deref().filter(|branches| !branches.is_empty()) {
            let mut all = Vec::new();
            for &branch in branches {
                if !self.excludes(branch, value)? {
                    break;
                }
                let Some(found) = self.together(branch, value, depth + 1)? else {
                    break;
                };
                all.push((branch, found));
            }
            if all.len() == branches.len() {
                return Ok(self.union_of(node, all, value));
            }
        }
        let span = self.text.value(value).span.clone();
        let all: &'t [u8] = self.text.text;
        let text = &all[span.clone()];
        let excluded = match (self.text.value(value).is_open, text) {
            (true, [before @ .., last]) => Excluded::Byte(before, *last),
            _ => Excluded::End(text),
        };
        // When the search reaches its limit on work, the subschema's own keywords are blamed.
        let own = |search: &ConflictSearch<'_>| {
            search
                .relaxable()
                .parts_of(node)
                .map(|(candidate, _)| candidate)
                .collect()
        };
        let keywords: Vec<usize> = match self.search.within(node, excluded) {
            Some(keywords) => keywords,
            None => own(self.search),
        };
        Ok((!keywords.is_empty()).then(|| Blame {
            leading: keywords.clone(),
            keywords,
            unions: Vec::new(),
            value,
            at: span.end.saturating_sub(1),
            is_simple: false,
        }))
    }

    /// Whether a subschema excludes a value of the text.
    fn excludes(&mut self, node: NodeId, value: usize) -> Result<bool, AutomatonError> {
        let value = self.text.value(value);
        let text = &self.text.text[value.span.clone()];
        let before = self.automaton.effort();
        let at = state_after(&mut self.automaton, node, text)?;
        let excludes = match at {
            Some(at) => !value.is_open && !self.automaton.is_complete(at)?,
            None => true,
        };
        let effort = self.automaton.effort() - before;
        match self.search.spend(effort + text.len() / 4 + 1) {
            true => Ok(excludes),
            false => Err(AutomatonError::Pending),
        }
    }
}

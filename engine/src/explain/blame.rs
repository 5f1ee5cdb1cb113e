//! Which keywords exclude a text, found by going through the subschemas beside the text.
//!
//! A subschema excludes what has begun of a value if one of its keywords does, or a subschema that it applies to the value or
//! to a part of it, or, of an `anyOf`, every branch. Where one keyword in each place is enough, that takes one walk, with
//! no set of keywords tried. Where keywords exclude a value only together, the walk leads to the subschema that they are
//! of, and [`ConflictSearch`] finds them there.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::direct_checks::{DirectCheck, JudgedText};
use super::keyword_part::KeywordPart;
use super::minimal_conflict::{ConflictSearch, Excluded, state_after};
use super::removable_keywords::Relaxable;
use super::text_tree::TextKind;
use crate::automaton::{Automaton, AutomatonError};
use crate::json::{Shape, Value};
use crate::schema::{Body, Keywords, NodeId, SchemaSet};
use crate::strings::Languages;
use crate::{Formats, Style};

/// Subschemas that are followed from one to the next: the walk recurses on the native stack.
const MAX_DEPTH: usize = 200;
/// Subschemas that are looked through for a property that tells branches apart, from each branch.
const MAX_DISCRIMINATOR_DEPTH: usize = 6;
/// Most keywords that are looked for which exclude a text independently of each other.
const MAX_INDEPENDENT: usize = 4;
/// What a member counts for whose value is the only one that a branch allows; one of several counts for 1.
const CONST_WEIGHT: i32 = 4;

/// Keywords that exclude a value.
#[derive(Clone, Debug, Default)]
pub(super) struct Blame {
    /// Candidates that exclude it by themselves, sorted.
    pub(super) keywords: Vec<usize>,
    /// Those of them that are of the branches that fit best, sorted.
    pub(super) leading: Vec<usize>,
    /// The unions on the way to the leading ones, outermost first.
    pub(super) unions: Vec<Union>,
    /// The value that the leading ones are about.
    pub(super) value: usize,
    /// The byte at which they exclude it.
    at: usize,
    /// Whether each branch has one keyword that excludes it, so that the set is likely to be minimal.
    pub(super) is_simple: bool,
}

/// An `anyOf`, or the part of a `oneOf` that says that a branch holds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Union {
    pub(super) node: NodeId,
    /// The branch that fits best.
    pub(super) branch: NodeId,
    /// The number of other branches.
    pub(super) others: usize,
}

/// A walk through the subschemas beside a text.
pub(super) struct BlameWalk<'w, 't> {
    search: &'w mut ConflictSearch<'t>,
    set: Arc<SchemaSet>,
    /// Subschemas that say one keyword each.
    alone: HashMap<usize, NodeId>,
    automaton: Automaton,
    text: JudgedText<'t>,
    /// The text with what follows the byte that is forbidden.
    whole_text: JudgedText<'t>,
    known: HashMap<(NodeId, usize), Option<Blame>>,
    active: HashSet<(NodeId, usize)>,
    /// Candidates that are taken for absent, sorted.
    out: Vec<usize>,
}

impl<'w, 't> BlameWalk<'w, 't> {
    /// A walk beside the text that a search is about; `whole_text` has what follows.
    pub(super) fn new(
        search: &'w mut ConflictSearch<'t>,
        formats: Formats,
        text: &'t [u8],
        is_all: bool,
        whole_text: &'t [u8],
    ) -> Self {
        let (set, alone) = with_single_keywords(search.relaxable());
        let set = Arc::new(set);
        let automaton = Automaton::lazy(Languages::within(set.limits()), set.clone(), formats, Style::rfc8259());
        Self {
            search,
            set,
            alone,
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

    /// Keywords that exclude the text independently of each other: those of the branches that fit best, and where it is
    /// excluded without these too, those that exclude it then.
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

    /// The text, and the text with what follows, with what is known of their values.
    pub(super) fn into_texts(self) -> (JudgedText<'t>, JudgedText<'t>) {
        (self.text, self.whole_text)
    }

    /// Keywords of a subschema that exclude a value, one in each place.
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

    /// What excludes a value first, in the order of the text.
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

    /// How well what a subschema demands of single members agrees with the whole text.
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
            let at = match self.text.check(part, keywords, value) {
                DirectCheck::Fails(at) => at,
                DirectCheck::Passes => continue,
                DirectCheck::Unknown => {
                    let Some(&alone) = self.alone.get(&candidate) else {
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
        if !keywords.pattern_properties.is_empty() {
            return None;
        }
        let member = self.text.value(value).children.last()?;
        if member.value.is_some() || keywords.properties.len() > 0 && !self.search.spend(keywords.properties.len()) {
            return None;
        }
        let mut declared = keywords.properties.iter();
        let node = match member.is_named {
            true => declared
                .find(|(name, _)| *name == member.name)
                .map_or(keywords.additional_properties, |(_, node)| Some(*node)),
            false => match declared.any(|(name, _)| name.starts_with(&member.name)) {
                true => None,
                false => keywords.additional_properties,
            },
        };
        let at = self.text.value(value).span.end.saturating_sub(1);
        let (candidate, _) = self
            .search
            .relaxable()
            .parts_of(node?)
            .find(|(_, part)| *part == KeywordPart::False)?;
        let is_out = self.out.binary_search(&candidate).is_ok();
        (!is_out && self.text.value(value).kind == TextKind::Object).then(|| Blame::one(candidate, value, at))
    }

    /// The subschemas that have to hold where `node` holds of a value, each with the value that it is applied to and the
    /// reference that leads to it.
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
        let mut lookups = 1;
        let dependent = keywords.dependent_schemas.iter();
        applied.extend(
            dependent
                .filter(|(name, _)| text.children.iter().any(|child| child.is_named && child.name == *name))
                .map(|(_, node)| (None, *node, value)),
        );
        for (at, child) in text.children.iter().enumerate() {
            let Some(inner) = child.value else { continue };
            let node = match text.kind {
                TextKind::Array => keywords.prefix_items.get(at).copied().or(keywords.items),
                _ => {
                    lookups += 1 + keywords.properties.len() / 16;
                    let declared = keywords.properties.iter().find(|(name, _)| *name == child.name);
                    match declared {
                        Some((_, node)) => Some(*node),
                        None if keywords.pattern_properties.is_empty() => keywords.additional_properties,
                        None => None,
                    }
                }
            };
            applied.extend(node.map(|node| (None, node, inner)));
        }
        match self.search.spend(lookups) {
            true => applied,
            false => Vec::new(),
        }
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
        Ok(self.search.within(node, excluded).map(|keywords| Blame {
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

impl Blame {
    fn one(candidate: usize, value: usize, at: usize) -> Self {
        Self {
            keywords: vec![candidate],
            leading: vec![candidate],
            unions: Vec::new(),
            value,
            at,
            is_simple: true,
        }
    }

    /// A blame of what a reference leads to.
    fn by_way_of(mut self, reference: Option<usize>) -> Self {
        for keywords in [&mut self.keywords, &mut self.leading] {
            if let Some(reference) = reference
                && let Err(place) = keywords.binary_search(&reference)
            {
                keywords.insert(place, reference);
            }
        }
        self
    }
}

/// The values that a subschema demands, where it lists some.
fn demanded(set: &SchemaSet, node: NodeId) -> Option<&[Value]> {
    let mut node = node;
    for _ in 0..MAX_DISCRIMINATOR_DEPTH {
        let Body::Keywords(keywords) = &set.node(node).body else {
            return None;
        };
        if let Some(values) = &keywords.values {
            let is_scalar = |value: &Value| !matches!(value.as_ref().shape(), Shape::Array(_) | Shape::Object(_));
            return values.iter().all(is_scalar).then_some(values);
        }
        node = *keywords.refs.first().or(keywords.all_of.first())?;
    }
    None
}

/// The schema with a subschema more for each keyword that means something by itself.
fn with_single_keywords(relaxable: &Relaxable) -> (SchemaSet, HashMap<usize, NodeId>) {
    let mut set = SchemaSet::clone(&relaxable.set().0);
    let mut alone = HashMap::new();
    for candidate in 0..relaxable.len() {
        let (node, part) = relaxable.candidate(candidate);
        let subschema = set.node(node);
        if let Body::Keywords(keywords) = &subschema.body
            && let Some(keywords) = part.alone(keywords)
        {
            let (location, body) = (subschema.location, Body::Keywords(Box::new(keywords)));
            alone.insert(candidate, set.push(crate::schema::Subschema { location, body }));
        }
    }
    (set, alone)
}

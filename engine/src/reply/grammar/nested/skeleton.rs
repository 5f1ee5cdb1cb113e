//! [`Skeleton`]: nested rules as a recursive transition network: graphs whose edges read a text of a regular language or call a nested rule.

use hashbrown::{HashMap, HashSet};

use crate::strings::{LanguageId, Languages};
use crate::{CompileError, CompileErrorKind};

use super::super::regular::{RegularRules, limit};
use super::super::rules::{Grammar, Part, PartId, RuleId, UNBOUNDED};

/// Number of a point.
pub(super) type PointId = u32;
/// Number of a nested rule.
pub(super) type BodyId = usize;

/// The body that is the whole reply. No rule names it.
pub(super) const REPLY: BodyId = 0;

/// Points of all rules, at most: repetitions of nested rules are written out.
const MAX_POINTS: usize = 1 << 14;
/// Maximal number of nested rules: fixpoints over the rules visit every rule again after each change.
const MAX_BODIES: usize = 1 << 10;

/// An edge from a point to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Edge {
    /// Reads nothing.
    Empty(PointId),
    /// Reads a text of a language that lacks the empty text.
    Language(LanguageId, PointId),
    /// Calls a nested rule, which reads a text that is not empty.
    Call(BodyId, PointId),
}

impl Edge {
    /// The point that the edge leads to.
    pub(super) fn to(self) -> PointId {
        match self {
            Self::Empty(to) | Self::Language(_, to) | Self::Call(_, to) => to,
        }
    }

    /// Returns a copy of the edge that leads to another point.
    fn led_to(self, to: PointId) -> Self {
        match self {
            Self::Empty(_) => Self::Empty(to),
            Self::Language(language, _) => Self::Language(language, to),
            Self::Call(body, _) => Self::Call(body, to),
        }
    }
}

/// A nested rule.
#[derive(Clone, Debug)]
pub(super) struct Body {
    pub(super) name: String,
    pub(super) line: usize,
    pub(super) start: PointId,
    pub(super) end: PointId,
}

impl Body {
    /// The line and name of the rule, as error messages spell them.
    pub(super) fn told(&self) -> String {
        format!("line {}: in the rule `{}`", self.line, self.name)
    }
}

/// The nested rules of a grammar.
#[derive(Debug, Default)]
pub(super) struct Skeleton {
    pub(super) points: Vec<Vec<Edge>>,
    pub(super) bodies: Vec<Body>,
}

/// The grammar and tables from which a skeleton is built.
struct Sources<'a> {
    grammar: &'a Grammar,
    /// The body of each nested rule.
    numbers: HashMap<RuleId, BodyId>,
    /// The language of the texts that tokens can spell, if not all.
    within: Option<LanguageId>,
}

impl Skeleton {
    /// Builds the graphs of the nested rules of a grammar; `within` is the language of the texts that tokens can spell, if not all.
    ///
    /// # Errors
    ///
    /// [`CompileError`], where there are too many points, or a limit is reached.
    pub(super) fn new(
        grammar: &Grammar,
        rules: &RegularRules,
        languages: &mut Languages,
        within: Option<LanguageId>,
    ) -> Result<Self, CompileError> {
        let mut skeleton = Self::default();
        let nested = (0..grammar.rules.len()).filter(|rule| rules.language(*rule).is_none() && rules.is_reached(*rule));
        let numbers = nested.clone().zip(1..).collect();
        let sources = Sources {
            grammar,
            numbers,
            within,
        };
        let root = &grammar.rules[grammar.root];
        skeleton.body(root.name.clone(), root.line)?;
        for rule in nested.clone() {
            let rule = &grammar.rules[rule];
            skeleton.body(rule.name.clone(), rule.line)?;
        }
        let (start, end) = (skeleton.bodies[REPLY].start, skeleton.bodies[REPLY].end);
        skeleton.points[start as usize].push(Edge::Call(sources.numbers[&grammar.root], end));
        for rule in nested {
            let parts = rules.part_languages(grammar, languages, rule)?;
            let body = &skeleton.bodies[sources.numbers[&rule]];
            let (start, end) = (body.start, body.end);
            skeleton.build(&sources, languages, &parts, (rule, start, end))?;
        }
        skeleton.add_empty_calls();
        Ok(skeleton)
    }

    fn body(&mut self, name: String, line: usize) -> Result<(), CompileError> {
        if self.bodies.len() > MAX_BODIES {
            let message = format!("more than {MAX_BODIES} rules are nested in themselves");
            return Err(CompileError::new(CompileErrorKind::Unsupported, message).on_keyword("grammar"));
        }
        let (start, end) = (self.point()?, self.point()?);
        self.bodies.push(Body { name, line, start, end });
        Ok(())
    }

    /// A new point.
    pub(super) fn point(&mut self) -> Result<PointId, CompileError> {
        if self.points.len() >= MAX_POINTS {
            let message = format!(
                "the rules that are nested in themselves have more than {MAX_POINTS} parts, repetitions written out"
            );
            return Err(CompileError::new(CompileErrorKind::Unsupported, message).on_keyword("grammar"));
        }
        self.points.push(Vec::new());
        Ok(self.points.len() as PointId - 1)
    }

    /// Whether a point is the end of a rule.
    pub(super) fn is_end(&self, point: PointId) -> bool {
        // The ends of bodies were made behind their starts, before all other points.
        (point as usize) < 2 * self.bodies.len() && point % 2 == 1
    }

    /// Adds an edge, unless the point has it.
    pub(super) fn add(&mut self, from: PointId, edge: Edge) {
        let edges = &mut self.points[from as usize];
        if edge != Edge::Empty(from) && !edges.contains(&edge) {
            edges.push(edge);
        }
    }

    /// Adds the edges between two points that read a text of a language: one for the empty text, one for all others.
    fn add_language(
        &mut self,
        languages: &mut Languages,
        mut language: LanguageId,
        (from, to): (PointId, PointId),
        within: Option<LanguageId>,
    ) -> Result<(), CompileError> {
        if let Some(within) = within {
            language = languages.and(&[language, within]).map_err(limit)?;
        }
        if languages.accepts_empty(language) {
            self.add(from, Edge::Empty(to));
            let empty = languages.literal("").map_err(limit)?;
            let others = languages.not(empty).map_err(limit)?;
            language = languages.and(&[language, others]).map_err(limit)?;
        }
        if !languages.transitions(language).map_err(limit)?.is_empty() {
            self.add(from, Edge::Language(language, to));
        }
        Ok(())
    }

    /// Adds the points and edges of a rule's body between `start` and `end`. No edge leads into `start` or out of `end`.
    fn build(
        &mut self,
        sources: &Sources<'_>,
        languages: &mut Languages,
        parts: &[Option<LanguageId>],
        (rule, start, end): (RuleId, PointId, PointId),
    ) -> Result<(), CompileError> {
        let first = sources.grammar.rules[rule].parts.start;
        let language = |part: PartId| parts[part - first];
        let mut open = vec![(first + parts.len() - 1, start, end)];
        while let Some((part, from, to)) = open.pop() {
            if let Some(language) = language(part) {
                self.add_language(languages, language, (from, to), sources.within)?;
                continue;
            }
            match &sources.grammar.parts[part] {
                Part::Rule(rule) => self.add(from, Edge::Call(sources.numbers[rule], to)),
                Part::Sequence(parts) => {
                    let mut at = from;
                    let mut rest = &parts[..];
                    while let Some(&next) = rest.first() {
                        // Adjacent regular parts are joined to one language.
                        let regular = rest.iter().map_while(|part| language(*part)).count();
                        let (taken, left) = rest.split_at(regular.max(1));
                        let behind = if left.is_empty() { to } else { self.point()? };
                        if regular == 0 {
                            open.push((next, at, behind));
                        } else {
                            let mut joined = languages.literal("").map_err(limit)?;
                            for language in taken.iter().rev().filter_map(|part| language(*part)) {
                                joined = languages.concat(language, joined).map_err(limit)?;
                            }
                            self.add_language(languages, joined, (at, behind), sources.within)?;
                        }
                        (at, rest) = (behind, left);
                    }
                }
                Part::Choice(parts) => {
                    let regular: Vec<_> = parts.iter().filter_map(|part| language(*part)).collect();
                    let regular = languages.or(&regular).map_err(limit)?;
                    self.add_language(languages, regular, (from, to), sources.within)?;
                    let nested = parts.iter().filter(|part| language(**part).is_none());
                    open.extend(nested.map(|part| (*part, from, to)));
                }
                &Part::Repeat { inner, min, max } => {
                    let mut at = from;
                    for _ in 0..min {
                        let next = self.point()?;
                        open.push((inner, at, next));
                        at = next;
                    }
                    if max == UNBOUNDED {
                        let (again, behind) = (self.point()?, self.point()?);
                        self.add(at, Edge::Empty(again));
                        open.push((inner, again, behind));
                        self.add(behind, Edge::Empty(again));
                        self.add(again, Edge::Empty(to));
                        continue;
                    }
                    for _ in min..max {
                        let next = self.point()?;
                        self.add(at, Edge::Empty(to));
                        open.push((inner, at, next));
                        at = next;
                    }
                    self.add(at, Edge::Empty(to));
                }
                // Leaves are regular: they have languages.
                Part::Text(_) | Part::Characters { .. } | Part::Pattern(..) => {}
            }
        }
        Ok(())
    }

    /// Returns the epsilon closure of a point.
    pub(super) fn at_once(&self, from: PointId) -> Vec<PointId> {
        let (mut found, mut at) = (vec![from], 0);
        let mut seen: HashSet<PointId> = [from].into();
        while let Some(&point) = found.get(at) {
            at += 1;
            for edge in &self.points[point as usize] {
                if let Edge::Empty(to) = *edge
                    && seen.insert(to)
                {
                    found.push(to);
                }
            }
        }
        found
    }

    /// Adds an empty edge beside each call of a rule that has the empty text.
    fn add_empty_calls(&mut self) {
        let mut may_be_empty = vec![false; self.bodies.len()];
        loop {
            let mut has_changed = false;
            for (body, is_known) in may_be_empty.iter_mut().enumerate() {
                if !*is_known && self.may_be_empty(body) {
                    (*is_known, has_changed) = (true, true);
                }
            }
            if !has_changed {
                return;
            }
            for point in 0..self.points.len() {
                for edge in self.points[point].clone() {
                    if let Edge::Call(body, to) = edge
                        && may_be_empty[body]
                    {
                        self.add(point as PointId, Edge::Empty(to));
                    }
                }
            }
        }
    }

    /// Whether a rule has the empty text.
    pub(super) fn may_be_empty(&self, body: BodyId) -> bool {
        let Body { start, end, .. } = self.bodies[body];
        self.at_once(start).contains(&end)
    }

    /// Removes edges and points that are on no path to a text of the reply. False where nothing is left but the empty text.
    pub(super) fn trim(&mut self) -> bool {
        let mut has_texts = vec![false; self.bodies.len()];
        loop {
            let mut has_changed = false;
            for number in 0..self.bodies.len() {
                if !has_texts[number] && self.has_text(number, &has_texts) {
                    (has_texts[number], has_changed) = (true, true);
                }
            }
            if !has_changed {
                break;
            }
        }
        for edges in &mut self.points {
            edges.retain(|edge| !matches!(edge, Edge::Call(body, _) if !has_texts[*body]));
        }
        // The points from which the end of their rule is reached.
        let mut before: Vec<Vec<PointId>> = vec![Vec::new(); self.points.len()];
        for (from, edges) in (0..).zip(&self.points) {
            edges.iter().for_each(|edge| before[edge.to() as usize].push(from));
        }
        let mut ends = vec![false; self.points.len()];
        let mut open: Vec<PointId> = self.bodies.iter().map(|body| body.end).collect();
        while let Some(point) = open.pop() {
            if !std::mem::replace(&mut ends[point as usize], true) {
                open.extend(&before[point as usize]);
            }
        }
        for edges in &mut self.points {
            edges.retain(|edge| ends[edge.to() as usize]);
        }
        has_texts[REPLY]
    }

    /// Whether a rule has a text that is not empty, as far as others are known to have one.
    fn has_text(&self, body: BodyId, has_texts: &[bool]) -> bool {
        let Body { start, end, .. } = self.bodies[body];
        let mut seen: HashSet<(PointId, bool)> = [(start, false)].into();
        let mut open = vec![(start, false)];
        while let Some((point, has_read)) = open.pop() {
            if point == end && has_read {
                return true;
            }
            for edge in &self.points[point as usize] {
                let has_read = match edge {
                    Edge::Empty(_) => has_read,
                    Edge::Language(..) => true,
                    Edge::Call(body, _) if has_texts[*body] => true,
                    Edge::Call(..) => continue,
                };
                if seen.insert((edge.to(), has_read)) {
                    open.push((edge.to(), has_read));
                }
            }
        }
        false
    }

    /// The calls with which a text of a rule may begin: each called rule, and the point behind the call.
    pub(super) fn first_calls(&self, body: BodyId) -> Vec<(BodyId, PointId)> {
        let points = self.at_once(self.bodies[body].start);
        let edges = points.iter().flat_map(|point| &self.points[*point as usize]);
        let calls = edges.filter_map(|edge| match edge {
            Edge::Call(body, to) => Some((*body, *to)),
            _ => None,
        });
        calls.collect()
    }

    /// Copies a rule's body, without its empty text, between two points.
    pub(super) fn copy(&mut self, body: BodyId, (from, to): (PointId, PointId)) -> Result<(), CompileError> {
        let Body { start, end, .. } = self.bodies[body];
        let mut copies: HashMap<PointId, PointId> = HashMap::new();
        let mut open = Vec::new();
        for point in self.at_once(start) {
            for edge in self.points[point as usize].clone() {
                if !matches!(edge, Edge::Empty(_)) {
                    let copy = self.copied(edge.to(), &mut copies, &mut open)?;
                    self.add(from, edge.led_to(copy));
                }
            }
        }
        while let Some((point, copy)) = open.pop() {
            for edge in self.points[point as usize].clone() {
                let behind = self.copied(edge.to(), &mut copies, &mut open)?;
                self.add(copy, edge.led_to(behind));
            }
            if point == end {
                self.add(copy, Edge::Empty(to));
            }
        }
        Ok(())
    }

    fn copied(
        &mut self,
        point: PointId,
        copies: &mut HashMap<PointId, PointId>,
        open: &mut Vec<(PointId, PointId)>,
    ) -> Result<PointId, CompileError> {
        if let Some(known) = copies.get(&point) {
            return Ok(*known);
        }
        let copy = self.point()?;
        copies.insert(point, copy);
        open.push((point, copy));
        Ok(copy)
    }
}

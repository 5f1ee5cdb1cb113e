//! Compiles the formats of a structural tag to a [`Program`].
//!
//! Each format is built from a work list, between its first point and the point that follows it; nothing recurses. Alternative fixed texts
//! are merged to a trie, so that five hundred tags behind one trigger are one thread until their names differ.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use hashbrown::HashMap;
use smallvec::SmallVec;

use crate::{CompileError, CompileErrorKind, TokenId};

use super::entries::entries;
use super::format::{Format, FormatId, StructuralTag, Tag, Tags, Unit};
use super::literal::{BY_ID, Literal, tokens_in};
use super::program::{ContentStart, Edges, Point, PointId, Program};
use super::region::{Patterns, Region};

/// Points of one structural tag. Five hundred tools take some ten thousand, and two hundred with twenty parameters between marks each some 400,000.
const MAX_POINTS: usize = 1 << 19;
/// Bytes of all triggers and excluded texts of one structural tag, each list counted once. Each byte takes up to a kilobyte.
const MAX_PATTERN_BYTES: usize = 1 << 16;
/// Triggers and excluded texts of one structural tag, counted at each free text that has them.
const MAX_PATTERN_ENTRIES: usize = 1 << 21;
/// Fixed texts and triggers that are looked at while a structural tag is built, each counted as often as it is looked at: sixty times as many
/// as 500 tags with a trigger each take.
const MAX_LOOKS: usize = 1 << 24;
/// Maximal number of threads of a reply: each is stepped for every byte.
pub(super) const MAX_THREADS: usize = 256;
/// Steps of the work that follows the graph.
pub(super) const MAX_STEPS: usize = 1 << 22;

/// The end of the reply.
pub(super) const END: PointId = 0;

/// The texts that end the innermost tag around a format.
type Ends = Option<Arc<[Literal]>>;

/// A fixed text, and the point that follows it.
pub(super) type Alternative<'f> = (&'f [u8], PointId);

pub(super) struct Builder<'f> {
    formats: &'f [Format],
    pub(super) points: Vec<Point>,
    /// Formats that are still to be built, each with its point, the one that follows and the ends around it.
    open: Vec<(FormatId, PointId, PointId, Ends)>,
    /// The points before a byte, by the bytes that may come and the points behind them: fixed texts share their ends.
    branches: HashMap<Edges, PointId>,
    /// The points before other points, where fixed texts end.
    forks: HashMap<Vec<PointId>, PointId>,
    patterns: HashMap<Vec<Box<[u8]>>, Arc<Patterns>>,
    pattern_bytes: usize,
    /// Number of entries in all lists of points behind patterns.
    pattern_entries: usize,
    /// Number of fixed texts and triggers looked at.
    looks: usize,
}

/// Builds the program of a structural tag.
///
/// # Errors
///
/// [`CompileErrorKind::LimitExceeded`] where it grows too large, and [`CompileErrorKind::Malformed`] where a tag has no trigger.
pub(super) fn build(tag: &StructuralTag, starts: &[ContentStart]) -> Result<Program, CompileError> {
    let mut builder = Builder {
        formats: &tag.formats,
        points: vec![Point::End],
        open: Vec::new(),
        branches: HashMap::new(),
        forks: HashMap::new(),
        patterns: HashMap::new(),
        pattern_bytes: 0,
        pattern_entries: 0,
        looks: 0,
    };
    let root = builder.format(tag.root, END, None)?;
    while let Some((format, point, next, ends)) = builder.open.pop() {
        builder.points[point as usize] = builder.point(format, next, ends)?;
    }
    let points = builder.points;
    let entries = entries(&points, starts)?;
    let mut named: BTreeMap<TokenId, Box<[u8]>> = BTreeMap::new();
    let mut reads_ids = false;
    let lists = builder.patterns.values().flat_map(|patterns| patterns.texts.iter());
    let texts = lists.map(|pattern| &**pattern).chain(all_literals(&tag.formats));
    for (token, bytes) in texts.flat_map(tokens_in) {
        reads_ids |= bytes[0] == BY_ID;
        named.insert(token, bytes.into());
    }
    reads_ids |= points
        .iter()
        .any(|point| matches!(point, Point::Free(region) if region.unit() == Unit::Tokens));
    let regions = points.iter().filter(|point| matches!(point, Point::Free(_))).count();
    let patterns = builder.patterns.values().map(|patterns| patterns.memory());
    let point_bytes = patterns.sum::<usize>()
        + regions * size_of::<Region>()
        + builder.pattern_entries * size_of::<Option<PointId>>();
    Ok(Program {
        points,
        entries,
        root,
        named: named.into_iter().collect(),
        reads_ids,
        point_bytes,
    })
}

/// The error where there is more than a structural tag may have.
pub(super) fn too_large(what: &str, allowed: usize) -> CompileError {
    let message = format!("a structural tag has more than {allowed} {what}");
    CompileError::new(CompileErrorKind::LimitExceeded, message).at("")
}

impl<'f> Builder<'f> {
    pub(super) fn add(&mut self, point: Point) -> Result<PointId, CompileError> {
        if self.points.len() >= MAX_POINTS {
            return Err(too_large("places to stand in", MAX_POINTS));
        }
        self.points.push(point);
        Ok((self.points.len() - 1) as PointId)
    }

    /// Counts fixed texts or triggers that are looked at.
    fn look_at(&mut self, count: usize) -> Result<(), CompileError> {
        self.looks = self.looks.saturating_add(count);
        match self.looks > MAX_LOOKS {
            true => Err(too_large("texts and triggers to look at", MAX_LOOKS)),
            false => Ok(()),
        }
    }

    /// The point at which a format begins, which is built later.
    fn format(&mut self, format: FormatId, next: PointId, ends: Ends) -> Result<PointId, CompileError> {
        let point = self.add(Point::Fork(Vec::new()))?;
        self.open.push((format, point, next, ends));
        Ok(point)
    }

    /// The point before a fixed text.
    pub(super) fn literal(&mut self, bytes: &[u8], next: PointId) -> Result<PointId, CompileError> {
        let mut point = next;
        for &byte in bytes.iter().rev() {
            point = self.branch(SmallVec::from_elem((byte, point), 1))?;
        }
        Ok(point)
    }

    /// Returns the point before one of some bytes.
    fn branch(&mut self, edges: Edges) -> Result<PointId, CompileError> {
        if let Some(known) = self.branches.get(&edges) {
            return Ok(*known);
        }
        let point = self.add(Point::Branch(edges.clone()))?;
        self.branches.insert(edges, point);
        Ok(point)
    }

    /// Returns the point before other points.
    fn fork(&mut self, points: Vec<PointId>) -> Result<PointId, CompileError> {
        if let Some(known) = self.forks.get(&points) {
            return Ok(*known);
        }
        let point = self.add(Point::Fork(points.clone()))?;
        self.forks.insert(points, point);
        Ok(point)
    }

    /// Returns the point before one of some fixed texts, as the root of a trie, which is built from its leaves, so that tries share their branches.
    pub(super) fn alternatives(&mut self, mut alternatives: Vec<Alternative<'f>>) -> Result<PointId, CompileError> {
        self.look_at(alternatives.len())?;
        alternatives.sort_unstable();
        alternatives.dedup();
        /// Texts that begin alike, of which those before `from` are in `ended` and `edges`.
        struct Run {
            from: usize,
            to: usize,
            ended: Vec<PointId>,
            edges: Edges,
        }
        let run = |from, to| Run {
            from,
            to,
            ended: Vec::new(),
            edges: Edges::new(),
        };
        // The texts of a run begin with as many bytes alike as there are runs before it.
        let mut runs = vec![run(0, alternatives.len())];
        loop {
            let read = runs.len() - 1;
            let own = &mut runs[read];
            if own.from < own.to {
                let (bytes, next) = alternatives[own.from];
                let Some(&byte) = bytes.get(read) else {
                    own.ended.push(next);
                    own.from += 1;
                    continue;
                };
                let same = alternatives[own.from..own.to].iter();
                let same = same.take_while(|(bytes, _)| bytes.get(read) == Some(&byte)).count();
                let begun = run(own.from, own.from + same);
                own.from = begun.to;
                match same {
                    1 => own.edges.push((byte, self.literal(&bytes[read + 1..], next)?)),
                    _ => runs.push(begun),
                }
                continue;
            }
            let (mut ended, edges) = (std::mem::take(&mut own.ended), std::mem::take(&mut own.edges));
            runs.pop();
            let point = match ended[..] {
                [] => self.branch(edges)?,
                [point] if edges.is_empty() => point,
                _ => {
                    if !edges.is_empty() {
                        ended.push(self.branch(edges)?);
                    }
                    self.fork(ended)?
                }
            };
            let Some(around) = runs.last_mut() else {
                return Ok(point);
            };
            // The last text of the run that has ended begins with the byte before it.
            around.edges.push((alternatives[around.from - 1].0[read - 1], point));
        }
    }

    /// The point of a tag's content, behind its beginning.
    fn behind_begin(&mut self, tag: &'f Tag, next: PointId) -> Result<PointId, CompileError> {
        let ends = tag.ends.iter().map(|end| (&*end.bytes, next));
        let end = self.alternatives(ends.collect())?;
        self.format(tag.content, end, Some(tag.ends.clone().into()))
    }

    /// The point before one of some tags.
    fn one_of(&mut self, tags: &'f Tags, next: PointId) -> Result<PointId, CompileError> {
        let mut alternatives = Vec::new();
        for (tag, _) in &tags.tags {
            alternatives.push((&*tag.begin.bytes, self.behind_begin(tag, next)?));
        }
        self.alternatives(alternatives)
    }

    /// Returns the point at the beginning of a format.
    fn point(&mut self, format: FormatId, next: PointId, ends: Ends) -> Result<Point, CompileError> {
        let formats = self.formats;
        Ok(match &formats[format] {
            Format::Literals(literals) => {
                let literals = literals.iter().map(|literal| (&*literal.bytes, next));
                Point::Fork(vec![self.alternatives(literals.collect())?])
            }
            Format::Content(content) => Point::Content(*content, next),
            Format::Parameters(parameters) => self.parameters(parameters, next)?,
            Format::Free { unit, excludes } => self.free((*unit, false), Default::default(), excludes, &ends, next)?,
            Format::OneToken { excludes } => {
                self.free((Unit::Tokens, true), Default::default(), excludes, &ends, next)?
            }
            Format::Sequence(elements) => {
                let mut point = next;
                for element in elements.iter().rev() {
                    point = self.format(*element, point, ends.clone())?;
                }
                Point::Fork(vec![point])
            }
            Format::Or(elements) => self.or(elements, next, &ends)?,
            Format::Tag(tag) => {
                let content = self.behind_begin(tag, next)?;
                Point::Fork(vec![self.literal(&tag.begin.bytes, content)?])
            }
            Format::Triggered {
                unit,
                triggers,
                tags,
                excludes,
            } => self.triggered(*unit, triggers, tags, (excludes, &ends), next)?,
            Format::Separated { tags, separator } => {
                let again = match tags.stop_after_first {
                    true => next,
                    false => self.add(Point::End)?,
                };
                let first = self.one_of(tags, again)?;
                if again != next {
                    let more = self.literal(&separator.bytes, first)?;
                    self.points[again as usize] = Point::Fork(vec![more, next]);
                }
                Point::Fork(match tags.at_least_one {
                    true => vec![first],
                    false => vec![first, next],
                })
            }
            Format::Repeat { content, least, most } => self.repeat(*content, (*least, *most), next, &ends)?,
            Format::Dispatch {
                unit,
                rules,
                excludes,
                repeats,
            } => {
                // A trigger's tag leads back into the free text, which therefore needs a point of its own.
                let again = self.add(Point::End)?;
                let behind = if *repeats { again } else { next };
                let mut found = Vec::new();
                for (pattern, format) in rules {
                    found.push((pattern, self.format(*format, behind, ends.clone())?, ""));
                }
                let patterns: Vec<_> = rules.iter().map(|(pattern, _)| pattern).collect();
                let patterns = self.behind_triggers(&patterns, found)?;
                let refused = rules.iter().map(|(pattern, _)| &*pattern.text).collect();
                self.points[again as usize] = self.free((*unit, false), (patterns, refused), excludes, &ends, next)?;
                Point::Fork(vec![again])
            }
        })
    }

    /// Returns the point before one of some formats; those that begin with fixed texts share these.
    fn or(&mut self, elements: &[FormatId], next: PointId, ends: &Ends) -> Result<Point, CompileError> {
        let (mut alternatives, mut others) = (Vec::new(), Vec::new());
        for &element in elements {
            match &self.formats[element] {
                Format::Literals(literals) => {
                    alternatives.extend(literals.iter().map(|literal| (&*literal.bytes, next)));
                }
                Format::Tag(tag) => alternatives.push((&tag.begin.bytes, self.behind_begin(tag, next)?)),
                _ => others.push(self.format(element, next, ends.clone())?),
            }
        }
        if !alternatives.is_empty() {
            others.push(self.alternatives(alternatives)?);
        }
        Ok(Point::Fork(others))
    }

    fn repeat(
        &mut self,
        content: FormatId,
        (least, most): (u32, Option<u32>),
        next: PointId,
        ends: &Ends,
    ) -> Result<Point, CompileError> {
        let mut point = match most {
            Some(most) => {
                let mut point = next;
                for _ in least..most {
                    let one = self.format(content, point, ends.clone())?;
                    point = self.add(Point::Fork(vec![one, next]))?;
                }
                point
            }
            None => {
                let again = self.add(Point::End)?;
                let one = self.format(content, again, ends.clone())?;
                self.points[again as usize] = Point::Fork(vec![one, next]);
                again
            }
        };
        for _ in 0..least {
            point = self.format(content, point, ends.clone())?;
        }
        Ok(Point::Fork(vec![point]))
    }

    fn triggered(
        &mut self,
        unit: Unit,
        triggers: &'f [Literal],
        tags: &'f Tags,
        (excludes, ends): (&'f [Literal], &Ends),
        next: PointId,
    ) -> Result<Point, CompileError> {
        let again = self.add(Point::End)?;
        let behind = if tags.stop_after_first { next } else { again };
        let (mut first, mut found) = (Vec::new(), Vec::new());
        for (tag, place) in &tags.tags {
            let content = self.behind_begin(tag, behind)?;
            first.push((&*tag.begin.bytes, content));
            found.push((&tag.begin, content, &**place));
        }
        let patterns = self.behind_triggers(&triggers.iter().collect::<Vec<_>>(), found)?;
        // A trigger without a tag, or one that is spelled out where it has a special token, must not come.
        let refused = triggers
            .iter()
            .flat_map(|trigger| [&*trigger.bytes, &*trigger.text])
            .collect();
        self.points[again as usize] = self.free((unit, false), (patterns, refused), excludes, ends, next)?;
        Ok(Point::Fork(vec![match tags.at_least_one {
            true => self.alternatives(first)?,
            false => again,
        }]))
    }

    /// The points behind triggers in free text, which are followed by what is left of some texts: each text is given with the point behind it
    /// and the JSON Pointer at which it stands. Free text ends with the first trigger that is read, which is the shortest.
    fn behind_triggers(
        &mut self,
        triggers: &[&'f Literal],
        texts: Vec<(&'f Literal, PointId, &str)>,
    ) -> Result<Vec<Alternative<'f>>, CompileError> {
        // Triggers are found by their lengths, of which there are few.
        let mut known: HashMap<&[u8], &Literal> = HashMap::new();
        for trigger in triggers {
            known.insert(&trigger.bytes, trigger);
            known.insert(&trigger.text, trigger);
        }
        let lengths: BTreeSet<usize> = known.keys().map(|beginning| beginning.len()).collect();
        self.look_at(2 * lengths.len().saturating_mul(texts.len()))?;
        let mut groups: BTreeMap<&[u8], Vec<Alternative<'f>>> = BTreeMap::new();
        for (text, point, place) in texts {
            let beginnings = [&text.bytes, &text.text].into_iter();
            let beginnings = beginnings.flat_map(|all| lengths.iter().filter_map(|length| all.get(..*length)));
            let splits = beginnings.filter_map(|beginning| text.split_behind(known.get(beginning)?));
            let Some((trigger, rest)) = splits.min_by_key(|(trigger, _)| trigger.len()) else {
                let message = "the tag begins with none of the triggers";
                return Err(CompileError::new(CompileErrorKind::Malformed, message).at(place));
            };
            groups.entry(trigger).or_default().push((rest, point));
        }
        let behind = groups.into_iter();
        let behind = behind.map(|(trigger, rests)| Ok((trigger, self.alternatives(rests)?)));
        behind.collect()
    }

    /// Free text with patterns that are followed by points, and without some texts and those that are excluded.
    fn free(
        &mut self,
        kind: (Unit, bool),
        (patterns, refused): (Vec<Alternative<'f>>, Vec<&[u8]>),
        excludes: &[Literal],
        ends: &Ends,
        next: PointId,
    ) -> Result<Point, CompileError> {
        self.pattern_entries += patterns.len()
            + refused.len()
            + 2 * (excludes.len() + ends.iter().map(|ends| ends.iter().count()).sum::<usize>());
        if self.pattern_entries > MAX_PATTERN_ENTRIES {
            return Err(too_large(
                "triggers and excluded texts, counted at each free text",
                MAX_PATTERN_ENTRIES,
            ));
        }
        let mut all: BTreeMap<Box<[u8]>, Vec<PointId>> = BTreeMap::new();
        for (pattern, point) in patterns {
            all.entry(pattern.into()).or_default().push(point);
        }
        // Text within a tag ends where the tag does.
        let texts = excludes.iter().chain(ends.iter().flat_map(|ends| ends.iter()));
        let texts = texts.flat_map(|text| [&*text.bytes, &*text.text]);
        for text in texts.chain(refused).filter(|text| !text.is_empty()) {
            all.entry(text.into()).or_default();
        }
        let mut dispatch = Vec::new();
        for points in all.values_mut() {
            dispatch.push(match &points[..] {
                [] => None,
                [point] => Some(*point),
                _ => Some(self.add(Point::Fork(std::mem::take(points)))?),
            });
        }
        let patterns: Vec<Box<[u8]>> = all.into_keys().collect();
        let found = match self.patterns.get(&patterns) {
            Some(known) => known.clone(),
            None => {
                self.pattern_bytes += patterns.iter().map(|pattern| pattern.len()).sum::<usize>();
                if self.pattern_bytes > MAX_PATTERN_BYTES {
                    return Err(too_large("bytes of triggers and excluded texts", MAX_PATTERN_BYTES));
                }
                let built = Arc::new(Patterns::new(patterns.clone())?);
                self.patterns.insert(patterns, built.clone());
                built
            }
        };
        Ok(Point::Free(Box::new(Region::new(kind, found, dispatch.into(), next))))
    }
}

/// The fixed texts of formats.
fn all_literals(formats: &[Format]) -> impl Iterator<Item = &[u8]> {
    formats.iter().flat_map(|format| -> Vec<&[u8]> {
        match format {
            Format::Literals(literals) => literals.iter().map(|literal| &*literal.bytes).collect(),
            Format::Tag(tag) => tag_literals(tag).collect(),
            Format::Triggered { tags, .. } => tags.tags.iter().flat_map(|(tag, _)| tag_literals(tag)).collect(),
            Format::Separated { tags, separator } => {
                let tags = tags.tags.iter().flat_map(|(tag, _)| tag_literals(tag));
                tags.chain([&*separator.bytes]).collect()
            }
            Format::Parameters(parameters) => parameters.texts().map(|text| &*text.bytes).collect(),
            _ => Vec::new(),
        }
    })
}

fn tag_literals(tag: &Tag) -> impl Iterator<Item = &[u8]> {
    std::iter::once(&*tag.begin.bytes).chain(tag.ends.iter().map(|end| &*end.bytes))
}

//! Derivatives by all characters at once, as a table over ranges of characters.

use std::sync::Arc;

use hashbrown::HashMap;

use crate::strings::charset::{CharRange, LAST, character};
use crate::strings::expr::arena::Arena;
use crate::strings::expr::expression::Expr;
use crate::strings::language_id::{ANY, EMPTY, LanguageId, NONE};
use crate::strings::limits::LimitReached;
use crate::strings::shared_layer::{LayeredById, LayeredMap};

/// First characters, sorted, each with its derivative. Characters that nothing follows are left out.
pub(crate) type Transitions = Arc<[(CharRange, LanguageId)]>;

type TableRow = (CharRange, LanguageId);

/// The derivatives computed so far: by expression, and by the conditions on the past that hold.
#[derive(Debug)]
pub(in crate::strings) struct Derivatives {
    closed: LayeredById<Transitions>,
    open: LayeredMap<(LanguageId, u8), Transitions>,
    /// Single derivatives of combinations with custom DFAs.
    single: LayeredMap<(LanguageId, u32), LanguageId>,
}

impl Derivatives {
    pub(in crate::strings) fn new() -> Self {
        Self {
            closed: LayeredById::new(),
            open: LayeredMap::new(),
            single: LayeredMap::new(),
        }
    }

    /// Returns these derivatives with all tables in the shared layer, for an arena of so many expressions.
    pub(in crate::strings) fn share(self, expressions: usize) -> Self {
        Self {
            closed: self.closed.share(expressions),
            open: self.open.share(),
            single: self.single.share(),
        }
    }

    /// Derivatives over the shared tables of these.
    pub(in crate::strings) fn over(&self) -> Self {
        Self {
            closed: self.closed.over(),
            open: self.open.over(),
            single: self.single.over(),
        }
    }

    /// Begins a trial.
    pub(in crate::strings) fn begin(&mut self) {
        self.closed.begin();
        self.open.begin();
        self.single.begin();
    }

    /// Ends the trial that began last; the tables made since then are dropped if it `fails`.
    pub(in crate::strings) fn end(&mut self, fails: bool) {
        self.closed.end(fails);
        self.open.end(fails);
        self.single.end(fails);
    }

    fn get(&self, arena: &Arena, id: LanguageId, past: u8) -> Option<&Transitions> {
        if arena.is_closed(id) {
            self.closed.get(id)
        } else {
            self.open.get(&(id, past))
        }
    }

    fn put(&mut self, arena: &mut Arena, id: LanguageId, past: u8, rows: Vec<TableRow>) -> Result<(), LimitReached> {
        arena.spend(rows.len())?;
        if arena.is_closed(id) {
            self.closed.put(id, rows.into(), arena.len());
        } else {
            self.open.insert((id, past), rows.into());
        }
        Ok(())
    }

    /// The derivatives of a closed `id`, empty languages that do not look empty included.
    pub(in crate::strings) fn of(&mut self, arena: &mut Arena, id: LanguageId) -> Result<Transitions, LimitReached> {
        if let Some(known) = self.get(arena, id, 0) {
            return Ok(known.clone());
        }
        // Expressions may be as deep as a schema's author likes: children first, on a stack of our own.
        let mut stack = vec![(id, 0)];
        let mut needed = Vec::new();
        while let Some(&(id, past)) = stack.last() {
            if self.get(arena, id, past).is_some() {
                stack.pop();
                continue;
            }
            needed.clear();
            arena.needed(id, past, &mut needed)?;
            let before = stack.len();
            stack.extend(
                needed
                    .iter()
                    .filter(|&&(child, past)| self.get(arena, child, past).is_none()),
            );
            if stack.len() > before {
                continue;
            }
            stack.pop();
            let rows = self.compute(arena, id, past)?;
            self.put(arena, id, past, rows)?;
        }
        Ok(self.table(arena, id, 0))
    }

    /// Returns the derivative of `id`, which is closed, by the character numbered `c`. Unlike [`Self::of`] this makes no states
    /// for other characters.
    pub(in crate::strings) fn after(
        &mut self,
        arena: &mut Arena,
        id: LanguageId,
        c: u32,
    ) -> Result<LanguageId, LimitReached> {
        let mut stack = vec![id];
        while let Some(&at) = stack.last() {
            if self.single.contains_key(&(at, c)) {
                stack.pop();
                continue;
            }
            let before = stack.len();
            let children = match arena.node(at) {
                Expr::Or(members) | Expr::And(members) if arena.has_custom_dfa(at) => &members[..],
                Expr::Not(inner) if arena.has_custom_dfa(at) => std::slice::from_ref(inner),
                _ => &[],
            };
            stack.extend(children.iter().filter(|&&child| !self.single.contains_key(&(child, c))));
            if stack.len() == before {
                stack.pop();
                let target = self.single_after(arena, at, c)?;
                arena.spend(2)?;
                self.single.insert((at, c), target);
            }
        }
        Ok(self.single.get(&(id, c)).copied().unwrap_or(NONE))
    }

    fn single_after(&mut self, arena: &mut Arena, id: LanguageId, c: u32) -> Result<LanguageId, LimitReached> {
        let known = |child: &LanguageId| self.single.get(&(*child, c)).copied().unwrap_or(NONE);
        match arena.node(id) {
            Expr::CustomDfa(state) => match state.after(character(c))? {
                Some(next) => arena.intern(Expr::CustomDfa(next)),
                None => Ok(NONE),
            },
            Expr::Or(members) if arena.has_custom_dfa(id) => {
                let members = members.iter().map(known).collect();
                arena.or(members)
            }
            Expr::And(members) if arena.has_custom_dfa(id) => {
                let members = members.iter().map(known).collect();
                arena.and(members)
            }
            Expr::Not(inner) if arena.has_custom_dfa(id) => {
                let inner = known(inner);
                arena.not(inner)
            }
            _ => Ok(target(&self.of(arena, id)?, c)),
        }
    }

    fn table(&self, arena: &Arena, id: LanguageId, past: u8) -> Transitions {
        self.get(arena, id, past).cloned().unwrap_or_else(|| Arc::new([]))
    }

    fn compute(&self, arena: &mut Arena, id: LanguageId, past: u8) -> Result<Vec<TableRow>, LimitReached> {
        match arena.node(id).clone() {
            Expr::None | Expr::Empty => Ok(Vec::new()),
            Expr::Class(ranges) => Ok(ranges.iter().map(|&range| (range, EMPTY)).collect()),
            Expr::Branch { edges, .. } => Ok(edges.into_vec()),
            Expr::Concat(first, rest) => {
                let mut rows = self.table(arena, first, past).to_vec();
                map(&mut rows, |target| arena.concat_each(target, rest))?;
                if !arena.nullable(first) {
                    return Ok(joined(rows));
                }
                let skipped = self.table(arena, rest, past);
                overlay(&[&rows, &skipped], false, |targets| arena.or(targets.to_vec()))
            }
            Expr::Repeat { inner, min, max } => {
                let rest = arena.repeat(
                    inner,
                    min.saturating_sub(1),
                    max.saturating_sub(u64::from(max != u64::MAX)),
                )?;
                let mut rows = self.table(arena, inner, past).to_vec();
                map(&mut rows, |target| arena.concat_each(target, rest))?;
                Ok(joined(rows))
            }
            Expr::Or(members) => {
                let tables: Vec<_> = members.iter().map(|&member| self.table(arena, member, past)).collect();
                overlay(&slices(&tables), false, |targets| arena.or(targets.to_vec()))
            }
            Expr::And(members) => {
                let tables: Vec<_> = members.iter().map(|&member| self.table(arena, member, past)).collect();
                overlay(&slices(&tables), true, |targets| arena.and(targets.to_vec()))
            }
            Expr::Not(inner) => {
                let mut rows = total(&self.table(arena, inner, past));
                map(&mut rows, |target| arena.not(target))?;
                Ok(joined(rows))
            }
            Expr::Past(i) => Ok(if past >> i & 1 == 1 {
                vec![(CharRange::ALL, ANY)]
            } else {
                Vec::new()
            }),
            Expr::Recall { body, past: languages } => self.compute_recall(arena, body, &languages),
            Expr::Loop(number) => Ok(self.table(arena, arena.loop_definition(number), past).to_vec()),
            Expr::CustomDfa(state) => {
                let mut rows = Vec::new();
                for (range, next) in state.rows()? {
                    rows.push((range, arena.intern(Expr::CustomDfa(next))?));
                }
                Ok(rows)
            }
            Expr::LeapSecond { hour, minute } => {
                let definition = arena.leap_second(hour, minute)?;
                Ok(self.table(arena, definition, past).to_vec())
            }
        }
    }

    fn compute_recall(
        &self,
        arena: &mut Arena,
        body: LanguageId,
        past: &[LanguageId],
    ) -> Result<Vec<TableRow>, LimitReached> {
        let bits = arena.past_bits(past);
        let mut tables = vec![self.table(arena, body, bits)];
        // Total tables keep the targets in place: the body's first, then the languages of the past in order.
        tables.extend(
            past.iter()
                .map(|&language| total(&self.table(arena, language, 0)).into()),
        );
        let body_first = |arena: &mut Arena, targets: &[LanguageId]| arena.recall(targets[0], &targets[1..]);
        overlay(&slices(&tables), true, |targets| body_first(arena, targets))
    }
}

impl Arena {
    /// The derivatives of which those of `id` are made.
    fn needed(&mut self, id: LanguageId, past: u8, needed: &mut Vec<(LanguageId, u8)>) -> Result<(), LimitReached> {
        match self.node(id) {
            Expr::None | Expr::Empty | Expr::Class(_) | Expr::Branch { .. } | Expr::Past(_) | Expr::CustomDfa(_) => {}
            Expr::Concat(first, rest) => {
                needed.push((*first, past));
                if self.nullable(*first) {
                    needed.push((*rest, past));
                }
            }
            Expr::Repeat { inner, .. } | Expr::Not(inner) => needed.push((*inner, past)),
            Expr::Or(members) | Expr::And(members) => needed.extend(members.iter().map(|&member| (member, past))),
            Expr::Recall { body, past } => {
                needed.push((*body, self.past_bits(past)));
                needed.extend(past.iter().map(|&language| (language, 0)));
            }
            Expr::Loop(number) => needed.push((self.loop_definition(*number), past)),
            &Expr::LeapSecond { hour, minute } => needed.push((self.leap_second(hour, minute)?, past)),
        }
        Ok(())
    }
}

/// Returns the target of the character numbered `c`.
pub(in crate::strings) fn target(rows: &[TableRow], c: u32) -> LanguageId {
    let place = rows.partition_point(|(range, _)| range.last < c);
    match rows.get(place) {
        Some((range, target)) if range.first <= c => *target,
        _ => NONE,
    }
}

fn slices(tables: &[Transitions]) -> Vec<&[TableRow]> {
    tables.iter().map(|table| &table[..]).collect()
}

/// Replaces targets, asking once for each run of equal ones.
fn map(
    rows: &mut [TableRow],
    mut to: impl FnMut(LanguageId) -> Result<LanguageId, LimitReached>,
) -> Result<(), LimitReached> {
    let mut last = None;
    for (_, target) in rows {
        let mapped = match last {
            Some((from, mapped)) if from == *target => mapped,
            _ => to(*target)?,
        };
        last = Some((*target, mapped));
        *target = mapped;
    }
    Ok(())
}

/// Neighbouring ranges with one target joined, and dead ones left out.
fn joined(rows: Vec<TableRow>) -> Vec<TableRow> {
    let mut kept: Vec<TableRow> = Vec::with_capacity(rows.len());
    for (range, target) in rows {
        push(&mut kept, range, target);
    }
    kept
}

pub(in crate::strings) fn push(rows: &mut Vec<TableRow>, range: CharRange, target: LanguageId) {
    match rows.last_mut() {
        _ if target == NONE => {}
        Some((previous, same)) if *same == target && previous.last + 1 == range.first => previous.last = range.last,
        _ => rows.push((range, target)),
    }
}

/// A row for every character.
fn total(rows: &[TableRow]) -> Vec<TableRow> {
    let mut all = Vec::with_capacity(2 * rows.len() + 1);
    let mut next = 0;
    for &(range, target) in rows {
        if range.first > next {
            all.push((CharRange::new(next, range.first - 1), NONE));
        }
        all.push((range, target));
        next = range.last + 1;
    }
    if next <= LAST {
        all.push((CharRange::new(next, LAST), NONE));
    }
    all
}

/// Pairs of targets that are remembered while two tables are gone through.
const RECENT_PAIRS: usize = 16;

/// Overlays two tables, as [`overlay`] does, by going through them side by side.
fn overlay_two(
    one: &[TableRow],
    other: &[TableRow],
    all: bool,
    mut join: impl FnMut(&[LanguageId]) -> Result<LanguageId, LimitReached>,
) -> Result<Vec<TableRow>, LimitReached> {
    let mut known: Vec<([Option<LanguageId>; 2], LanguageId)> = Vec::new();
    let mut rows = Vec::with_capacity(one.len() + other.len());
    let (mut one, mut other) = (one.iter().peekable(), other.iter().peekable());
    let mut at = 0;
    while at <= LAST {
        // Returns a table's target at `at`, and the last character up to which the target stays the same.
        let here = |table: &mut std::iter::Peekable<std::slice::Iter<'_, TableRow>>| {
            while table.next_if(|(range, _)| range.last < at).is_some() {}
            match table.peek() {
                Some((range, target)) if range.first <= at => (Some(*target), range.last),
                Some((range, _)) => (None, range.first - 1),
                None => (None, LAST),
            }
        };
        let ((first, first_end), (second, second_end)) = (here(&mut one), here(&mut other));
        let range = CharRange::new(at, first_end.min(second_end));
        at = range.last + 1;
        let pair = [first, second];
        let target = match pair {
            [None, None] => continue,
            [None, _] | [_, None] if all => continue,
            // Pairs that come again mostly do so soon.
            _ => match known.iter().rev().take(RECENT_PAIRS).find(|(same, _)| *same == pair) {
                Some((_, target)) => *target,
                None => {
                    let target = match pair {
                        [Some(first), Some(second)] => join(&[first, second])?,
                        [Some(only), None] | [None, Some(only)] => join(&[only])?,
                        [None, None] => continue,
                    };
                    known.push((pair, target));
                    target
                }
            },
        };
        push(&mut rows, range, target);
    }
    Ok(rows)
}

/// The tables laid over each other: for each range on which none of them changes, `join` of their targets in the
/// order of the tables. Ranges that not all of them have are left out if `all` are needed.
fn overlay(
    tables: &[&[TableRow]],
    all: bool,
    mut join: impl FnMut(&[LanguageId]) -> Result<LanguageId, LimitReached>,
) -> Result<Vec<TableRow>, LimitReached> {
    if let [one, other] = tables {
        return overlay_two(one, other, all, join);
    }
    let mut events: Vec<(u32, usize, usize)> = Vec::new();
    for (t, table) in tables.iter().enumerate() {
        for (r, (range, _)) in table.iter().enumerate() {
            events.push((range.first, t, 2 * r));
            events.push((range.last + 1, t, 2 * r + 1));
        }
    }
    // Ends sort before the starts of the same table at the same place, as `2r + 1` is less than `2(r + 1)`.
    events.sort_unstable();
    let mut active: Vec<(usize, LanguageId)> = Vec::new();
    let mut known: HashMap<Vec<LanguageId>, LanguageId> = HashMap::new();
    let mut rows = Vec::new();
    let mut targets = Vec::new();
    let mut at = 0;
    while at < events.len() {
        let place = events[at].0;
        while let Some(&(_, t, mark)) = events.get(at).filter(|event| event.0 == place) {
            let position = active.binary_search_by_key(&t, |entry| entry.0);
            match (position, mark % 2) {
                (Ok(position), 1) => drop(active.remove(position)),
                (Ok(position), _) => active[position].1 = tables[t][mark / 2].1,
                (Err(position), 0) => active.insert(position, (t, tables[t][mark / 2].1)),
                (Err(_), _) => {}
            }
            at += 1;
        }
        let Some(next) = events.get(at).map(|event| event.0) else {
            break;
        };
        if active.is_empty() || (all && active.len() < tables.len()) {
            continue;
        }
        targets.clear();
        targets.extend(active.iter().map(|entry| entry.1));
        let target = match known.get(&targets) {
            Some(&target) => target,
            None => {
                let target = join(&targets)?;
                known.insert(targets.clone(), target);
                target
            }
        };
        push(&mut rows, CharRange::new(place, next - 1), target);
    }
    Ok(rows)
}

//! Union, intersection and complement in normal form.

use smallvec::SmallVec;

use crate::strings::charset::CharRange;
use crate::strings::charset::CharSet;
use crate::strings::expr::arena::{Arena, NewLanguage};
use crate::strings::expr::expression::Expr;
use crate::strings::language_id::{ANY, CHARACTER, EMPTY, LanguageId, NONE, UNBOUNDED};
use crate::strings::limits::LimitReached;

/// Loops over classes that the other members of a union are held against.
const ABSORBING_LOOPS: usize = 4;

impl Arena {
    /// Texts of any of `members`.
    pub(in crate::strings) fn or(&mut self, members: Vec<LanguageId>) -> NewLanguage {
        let mut members = self.flat(members, |node| Nesting::OrOfAnd.outer(node));
        loop {
            sort(&mut members);
            members.retain(|&member| member != NONE);
            if members.len() < 2 {
                return Ok(members.pop().unwrap_or(NONE));
            }
            if members.contains(&ANY) || self.has_complements(&members) {
                return Ok(ANY);
            }
            self.unite_classes(&mut members)?;
            self.unite_repeats(&mut members)?;
            self.unite_lists(&mut members)?;
            self.absorb(&mut members);
            if members.contains(&EMPTY) {
                let redundant = members
                    .iter()
                    .any(|&member| member != EMPTY && self.facts(member).nullable == u64::MAX);
                members.retain(|&member| !(redundant && member == EMPTY));
            }
            // A member that becomes simpler may make others simpler.
            if !self.simplify_nested(&mut members, Nesting::OrOfAnd)?
                && !self.simplify_complements(&mut members, Nesting::OrOfAnd)?
            {
                break;
            }
        }
        match members[..] {
            [single] => Ok(single),
            _ if members.contains(&ANY) => Ok(ANY),
            _ => self.intern(Expr::Or(members.into())),
        }
    }

    /// Texts of all of `members`.
    pub(in crate::strings) fn and(&mut self, members: Vec<LanguageId>) -> NewLanguage {
        let mut members = self.flat(members, |node| Nesting::AndOfOr.outer(node));
        loop {
            sort(&mut members);
            members.retain(|&member| member != ANY);
            if members.len() < 2 {
                return Ok(members.pop().unwrap_or(ANY));
            }
            if members.contains(&NONE) || self.has_complements(&members) || self.lacks_needed(&members) {
                return Ok(NONE);
            }
            self.intersect_repeats(&mut members)?;
            if self.intersect_lists(&mut members)? {
                continue;
            }
            if members.contains(&EMPTY) {
                if members.iter().any(|&member| self.facts(member).nullable == 0) {
                    return Ok(NONE);
                }
                members.retain(|&member| member == EMPTY || self.facts(member).nullable != u64::MAX);
            }
            if !self.simplify_nested(&mut members, Nesting::AndOfOr)?
                && !self.simplify_complements(&mut members, Nesting::AndOfOr)?
            {
                break;
            }
        }
        match members[..] {
            [single] => Ok(single),
            _ if members.contains(&NONE) => Ok(NONE),
            _ => self.intern(Expr::And(members.into())),
        }
    }

    /// Texts that are not of `id`.
    pub(in crate::strings) fn not(&mut self, id: LanguageId) -> NewLanguage {
        if id == NONE {
            return Ok(ANY);
        }
        if let Expr::Not(inner) = *self.node(id) {
            return Ok(inner);
        }
        let Some((min, max)) = self.as_length(id) else {
            return self.intern(Expr::Not(id));
        };
        let shorter = if min == 0 { NONE } else { self.length(0, min - 1)? };
        let longer = if max == UNBOUNDED {
            NONE
        } else {
            self.length(max + 1, UNBOUNDED)?
        };
        self.or(vec![shorter, longer])
    }

    /// `body` with its conditions on the past tied to the languages `past` of the text that has been read.
    pub(in crate::strings) fn recall(&mut self, body: LanguageId, past: &[LanguageId]) -> NewLanguage {
        let mentioned = self.facts(body).pasts;
        if mentioned == 0 {
            return Ok(body);
        }
        let mut past: Vec<LanguageId> = past.to_vec();
        for (i, language) in past.iter_mut().enumerate() {
            // States that differ only in what no longer matters are one.
            if mentioned >> i & 1 == 0 {
                *language = NONE;
            }
        }
        self.intern(Expr::Recall {
            body,
            past: past.into(),
        })
    }

    fn flat(&self, members: Vec<LanguageId>, inside: impl Fn(&Expr) -> Option<&[LanguageId]>) -> Vec<LanguageId> {
        if !members.iter().any(|&member| inside(self.node(member)).is_some()) {
            return members;
        }
        // A member of a union is never a union itself, so that one level is all there is.
        members.iter().fold(Vec::new(), |mut flat, &member| {
            match inside(self.node(member)) {
                Some(members) => flat.extend_from_slice(members),
                None => flat.push(member),
            }
            flat
        })
    }

    fn has_complements(&self, members: &[LanguageId]) -> bool {
        members.iter().any(|&member| match *self.node(member) {
            Expr::Not(inner) => members.binary_search(&inner).is_ok(),
            _ => false,
        })
    }

    fn unite_classes(&mut self, members: &mut Vec<LanguageId>) -> Result<(), LimitReached> {
        let is_class = |arena: &Self, id: LanguageId| matches!(arena.node(id), Expr::Class(_));
        if members.iter().filter(|&&member| is_class(self, member)).count() < 2 {
            return Ok(());
        }
        let ranges = members.iter().filter_map(|&member| match self.node(member) {
            Expr::Class(ranges) => Some(ranges),
            _ => None,
        });
        let union = CharSet::from_char_ranges(ranges.flatten().copied());
        members.retain(|&member| !is_class(self, member));
        members.push(self.class(&union)?);
        sort(members);
        Ok(())
    }

    /// Leaves out members that have no characters but those of a class of which another member has any texts: `[a-c]*|ab?c|b` is
    /// `[a-c]*`.
    fn absorb(&self, members: &mut Vec<LanguageId>) {
        let loops = members
            .iter()
            .copied()
            .filter_map(|member| Some((member, self.as_any_of_class(member)?)));
        let loops: SmallVec<[_; ABSORBING_LOOPS]> = loops.take(ABSORBING_LOOPS).collect();
        for (all, class) in loops {
            members.retain(|&member| member == all || !self.used(member).are_in(class));
        }
    }

    /// `x{1,3}s | x{2,5}s` is `x{1,5}s`, and `x{2}.* | x{5}.*` is `x{2}.*`: without this, counted repetitions make sets of
    /// counters.
    fn unite_repeats(&mut self, members: &mut Vec<LanguageId>) -> Result<(), LimitReached> {
        let is_repeat = |arena: &Self, id: LanguageId| matches!(arena.node(id), Expr::Repeat { .. });
        let heads = |arena: &Self, id: LanguageId| match *arena.node(id) {
            Expr::Concat(head, rest) => (head, rest),
            _ => (id, EMPTY),
        };
        let mut counted: Vec<(LanguageId, LanguageId, u64, u64, LanguageId)> = Vec::new();
        for &member in members.iter() {
            let (head, rest) = heads(self, member);
            if is_repeat(self, head) {
                let (inner, min, max) = self.as_repeat(head);
                counted.push((inner, rest, min, max, member));
            }
        }
        if counted.is_empty() {
            return Ok(());
        }
        let mut groups: Vec<(LanguageId, LanguageId)> = counted.iter().map(|c| (c.0, c.1)).collect();
        groups.sort_unstable();
        groups.dedup();
        for &member in members.iter() {
            let (head, rest) = heads(self, member);
            if groups.binary_search(&(head, rest)).is_ok() {
                counted.push((head, rest, 1, 1, member));
            }
        }
        for &(inner, rest) in &groups {
            if members.binary_search(&rest).is_ok() {
                counted.push((inner, rest, 0, 0, rest));
            }
        }
        self.replace_counted(members, counted)
    }

    fn replace_counted(
        &mut self,
        members: &mut Vec<LanguageId>,
        mut counted: Vec<(LanguageId, LanguageId, u64, u64, LanguageId)>,
    ) -> Result<(), LimitReached> {
        counted.sort_unstable();
        let mut gone = Vec::new();
        let mut made = Vec::new();
        let mut at = 0;
        while at < counted.len() {
            let (inner, rest, min, mut max, _) = counted[at];
            // The fewest have all others among their texts.
            let absorbs = self.absorbs(rest, inner);
            let mut end = at + 1;
            while let Some(&(i, r, low, high, _)) = counted.get(end)
                && (i, r) == (inner, rest)
                && (absorbs || low <= max.saturating_add(1))
            {
                max = max.max(high);
                end += 1;
            }
            if absorbs {
                max = min;
            }
            if end - at > 1 {
                gone.extend(counted[at..end].iter().map(|c| c.4));
                made.push((inner, rest, min, max));
            }
            at = end;
        }
        if made.is_empty() {
            return Ok(());
        }
        gone.sort_unstable();
        members.retain(|member| gone.binary_search(member).is_err());
        for (inner, rest, min, max) in made {
            let repeat = self.repeat(inner, min, max)?;
            members.push(self.concat(repeat, rest)?);
        }
        *members = self.flat(std::mem::take(members), |node| Nesting::OrOfAnd.outer(node));
        sort(members);
        Ok(())
    }

    /// Whether a text of `inner` followed by one of `rest` is a text of `rest`.
    fn absorbs(&self, rest: LanguageId, inner: LanguageId) -> bool {
        let head = match *self.node(rest) {
            Expr::Concat(head, _) => head,
            _ => rest,
        };
        rest == ANY
            || self
                .as_any_of_class(head)
                .is_some_and(|class| self.used(inner).are_in(class))
    }

    /// Merges repetitions of an intersection into one repetition of a class, or, beside other members, into one repetition
    /// without bounds and one bound on the length: the bound can then be judged against the lengths that the rest can have.
    fn intersect_repeats(&mut self, members: &mut Vec<LanguageId>) -> Result<(), LimitReached> {
        let counted: Vec<_> = members
            .iter()
            .filter_map(|&member| self.as_class_repeat(member))
            .collect();
        if counted.is_empty() || (counted.len() == 1 && members.len() == 1) {
            return Ok(());
        }
        members.retain(|&member| self.as_class_repeat(member).is_none());
        let (mut class, mut min, mut max) = counted[0];
        for &(other, low, high) in &counted[1..] {
            (min, max) = (min.max(low), max.min(high));
            class = self.intersect_classes(class, other)?;
        }
        if members.is_empty() || (min, max) == (1, 1) || max == 0 {
            members.push(self.repeat(class, min, max)?);
        } else {
            members.push(self.repeat(class, 0, UNBOUNDED)?);
            members.push(self.length(min, max)?);
        }
        members.retain(|&member| member != ANY);
        if members.is_empty() {
            members.push(ANY);
        }
        sort(members);
        Ok(())
    }

    fn intersect_classes(&mut self, left: LanguageId, right: LanguageId) -> NewLanguage {
        if left == right || right == CHARACTER {
            return Ok(left);
        }
        match (self.node(left), self.node(right)) {
            (Expr::Class(a), Expr::Class(b)) => {
                let set = |ranges: &[CharRange]| CharSet::from_char_ranges(ranges.iter().copied());
                let common = set(a).intersection(&set(b));
                self.class(&common)
            }
            _ => Ok(NONE),
        }
    }

    /// Absorption, also one level further down: `k | (n & (k | x))` is `k | (n & x)`, and the dual. Lookarounds in loops
    /// nest such terms, and without this each character read would nest them deeper. Returns whether something changed.
    fn simplify_nested(&mut self, members: &mut Vec<LanguageId>, nesting: Nesting) -> Result<bool, LimitReached> {
        let mut changed = false;
        let all = members.clone();
        let mut kept = Vec::with_capacity(all.len());
        for &member in &all {
            let Some(inner) = nesting.inner(self.node(member)) else {
                kept.push(member);
                continue;
            };
            if inner.iter().any(|part| all.binary_search(part).is_ok()) {
                changed = true;
                continue;
            }
            let contains = |part: &LanguageId| {
                nesting
                    .outer(self.node(*part))
                    .is_some_and(|deep| deep.iter().any(|d| all.binary_search(d).is_ok()))
            };
            if !inner.iter().any(contains) {
                kept.push(member);
                continue;
            }
            changed = true;
            let inner = inner.to_vec();
            kept.push(self.without(&inner, &all, nesting)?);
        }
        if changed {
            *members = kept;
            *members = self.flat(std::mem::take(members), |node| nesting.outer(node));
        }
        Ok(changed)
    }

    /// Absorption within complements: `k & !(k & x)` is `k & !x`, and the dual. Without this, what two languages have in
    /// common, such as a bound on the length, would be followed on both sides of a difference. Returns whether something changed.
    fn simplify_complements(&mut self, members: &mut Vec<LanguageId>, nesting: Nesting) -> Result<bool, LimitReached> {
        let simpler = |(place, member): (usize, &LanguageId)| {
            let Expr::Not(inner) = *self.node(*member) else {
                return None;
            };
            let parts = nesting.outer(self.node(inner))?;
            let is_new = |part: &LanguageId| members.binary_search(part).is_err();
            (!parts.iter().all(is_new)).then(|| (place, parts.iter().copied().filter(is_new).collect()))
        };
        let simpler: Vec<(usize, Vec<LanguageId>)> = members.iter().enumerate().filter_map(simpler).collect();
        if simpler.is_empty() {
            return Ok(false);
        }
        for (place, parts) in simpler {
            let left = match nesting {
                Nesting::OrOfAnd => self.or(parts)?,
                Nesting::AndOfOr => self.and(parts)?,
            };
            members[place] = self.not(left)?;
        }
        *members = self.flat(std::mem::take(members), |node| nesting.outer(node));
        Ok(true)
    }

    /// `inner` again, without those grandchildren that are in `context`.
    fn without(&mut self, inner: &[LanguageId], context: &[LanguageId], nesting: Nesting) -> NewLanguage {
        let mut parts = Vec::with_capacity(inner.len());
        for &part in inner {
            let Some(deep) = nesting.outer(self.node(part)) else {
                parts.push(part);
                continue;
            };
            let deep: Vec<_> = deep
                .iter()
                .copied()
                .filter(|d| context.binary_search(d).is_err())
                .collect();
            parts.push(match nesting {
                Nesting::OrOfAnd => self.or(deep)?,
                Nesting::AndOfOr => self.and(deep)?,
            });
        }
        match nesting {
            Nesting::OrOfAnd => self.and(parts),
            Nesting::AndOfOr => self.or(parts),
        }
    }
}

#[derive(Clone, Copy)]
enum Nesting {
    OrOfAnd,
    AndOfOr,
}

impl Nesting {
    /// Members of the operation inside.
    fn inner(self, node: &Expr) -> Option<&[LanguageId]> {
        match (self, node) {
            (Self::OrOfAnd, Expr::And(members)) | (Self::AndOfOr, Expr::Or(members)) => Some(members),
            _ => None,
        }
    }

    /// Members of the operation outside, which may come again two levels down.
    fn outer(self, node: &Expr) -> Option<&[LanguageId]> {
        match (self, node) {
            (Self::OrOfAnd, Expr::Or(members)) | (Self::AndOfOr, Expr::And(members)) => Some(members),
            _ => None,
        }
    }
}

fn sort(members: &mut Vec<LanguageId>) {
    members.sort_unstable();
    members.dedup();
}

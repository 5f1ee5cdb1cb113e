//! Constructors that keep expressions in normal form: characters, concatenation, repetition, word lists.
//! `boolean` has the Boolean operations.

use crate::strings::charset::{CharRange, CharSet, character, index};
use crate::strings::expr::arena::{Arena, NewLanguage};
use crate::strings::expr::expression::Expr;
use crate::strings::language_id::{ANY, CHARACTER, EMPTY, LanguageId, NONE, UNBOUNDED};
use crate::strings::limits::LimitReached;

impl Arena {
    /// Texts of one character of `set`.
    pub(in crate::strings) fn class(&mut self, set: &CharSet) -> NewLanguage {
        if set.is_empty() {
            return Ok(NONE);
        }
        self.intern(Expr::Class(set.ranges().into()))
    }

    /// Texts of `min` to `max` characters.
    pub(in crate::strings) fn length(&mut self, min: u64, max: u64) -> NewLanguage {
        self.repeat(CHARACTER, min, max)
    }

    /// Returns `id` as a repetition: the language that is repeated, the least and the largest number of times.
    pub(in crate::strings) fn as_repeat(&self, id: LanguageId) -> (LanguageId, u64, u64) {
        match *self.node(id) {
            Expr::Repeat { inner, min, max } => (inner, min, max),
            _ => (id, 1, 1),
        }
    }

    /// `id` as a repetition of one class of characters.
    pub(in crate::strings) fn as_class_repeat(&self, id: LanguageId) -> Option<(LanguageId, u64, u64)> {
        if id == EMPTY {
            return Some((CHARACTER, 0, 0));
        }
        let (inner, min, max) = self.as_repeat(id);
        matches!(self.node(inner), Expr::Class(_)).then_some((inner, min, max))
    }

    /// The class of which `id` has all texts.
    pub(in crate::strings) fn as_any_of_class(&self, id: LanguageId) -> Option<&[CharRange]> {
        match *self.node(id) {
            Expr::Repeat {
                inner,
                min: 0,
                max: UNBOUNDED,
            } => match self.node(inner) {
                Expr::Class(ranges) => Some(ranges),
                _ => None,
            },
            _ => None,
        }
    }

    /// Whether `part` has nothing to add before or behind any text of a class.
    fn adds_nothing(&self, part: LanguageId, class: &[CharRange]) -> bool {
        self.facts(part).nullable == u64::MAX && self.used(part).are_in(class)
    }

    /// `id` as a bound on the number of characters.
    pub(in crate::strings) fn as_length(&self, id: LanguageId) -> Option<(u64, u64)> {
        self.as_class_repeat(id)
            .filter(|&(class, ..)| class == CHARACTER)
            .map(|(_, min, max)| (min, max))
    }

    /// `min` to `max` texts of `inner`, which is closed, one after another.
    pub(in crate::strings) fn repeat(&mut self, inner: LanguageId, min: u64, max: u64) -> NewLanguage {
        if min > max || (inner == NONE && min > 0) {
            return Ok(NONE);
        }
        if max == 0 || inner == NONE || inner == EMPTY {
            return Ok(EMPTY);
        }
        let min = match self.nullable(inner) {
            // Skipped rounds match the empty text: there is no lower bound, and the inner's own way to be empty is superfluous.
            true => {
                if max == 1 {
                    return Ok(inner);
                }
                if let Expr::Or(members) = self.node(inner)
                    && members.contains(&EMPTY)
                {
                    let others: Vec<_> = members.iter().copied().filter(|&member| member != EMPTY).collect();
                    let inner = self.or(others)?;
                    return self.repeat(inner, 0, max);
                }
                0
            }
            false if (min, max) == (1, 1) => return Ok(inner),
            false => min,
        };
        let (inner, min, max) = self.flattened(inner, min, max).unwrap_or((inner, min, max));
        self.intern(Expr::Repeat { inner, min, max })
    }

    /// `(x{a,b}){c,d}` as one repetition, where the counts k·a to k·b for k from c to d leave no gap.
    fn flattened(&self, inner: LanguageId, c: u64, d: u64) -> Option<(LanguageId, u64, u64)> {
        let Expr::Repeat {
            inner: base,
            min: a,
            max: b,
        } = *self.node(inner)
        else {
            return None;
        };
        let reach = match (c, b) {
            (0, _) => 0,
            (_, UNBOUNDED) => UNBOUNDED - 1,
            _ => c.checked_mul(b)?,
        };
        let gapless = c == d || reach.checked_add(1)? >= c.checked_add(1)?.checked_mul(a)?;
        let high = if b == UNBOUNDED || d == UNBOUNDED {
            UNBOUNDED
        } else {
            b.checked_mul(d)?
        };
        gapless.then_some((base, a.checked_mul(c)?, high))
    }

    /// Texts of `first`, which is closed, followed by texts of `rest`.
    pub(in crate::strings) fn concat(&mut self, first: LanguageId, rest: LanguageId) -> NewLanguage {
        let mut spine = Vec::new();
        let mut head = first;
        while let Expr::Concat(item, tail) = *self.node(head) {
            spine.push(item);
            head = tail;
        }
        let mut joined = self.prepend(head, rest)?;
        while let Some(item) = spine.pop() {
            joined = self.prepend(item, joined)?;
        }
        Ok(joined)
    }

    /// Concatenates with unions distributed: each alternative gets a copy of the language behind it, as in an automaton
    /// whose states are sets of positions in the expression.
    pub(in crate::strings) fn concat_each(&mut self, first: LanguageId, rest: LanguageId) -> NewLanguage {
        let Expr::Or(members) = self.node(first) else {
            return self.concat(first, rest);
        };
        let members = members.to_vec();
        let joined: Result<Vec<_>, _> = members.into_iter().map(|member| self.concat(member, rest)).collect();
        self.or(joined?)
    }

    /// `concat` for a first part that is no concatenation.
    fn prepend(&mut self, mut item: LanguageId, mut rest: LanguageId) -> NewLanguage {
        loop {
            if item == NONE || rest == NONE {
                return Ok(NONE);
            }
            if item == EMPTY {
                return Ok(rest);
            }
            // What may be left out adds nothing behind any text; there may be thousands of it.
            while item == ANY
                && let Expr::Concat(head, tail) = *self.node(rest)
                && self.may_be_left_out(head)
            {
                rest = tail;
            }
            if rest == EMPTY {
                return Ok(item);
            }
            let (head, tail) = match *self.node(rest) {
                Expr::Concat(head, tail) => (head, tail),
                _ => (rest, EMPTY),
            };
            if let Some(joined) = self.absorbed(item, rest, head, tail)? {
                return Ok(joined);
            }
            match self.merged(item, head)? {
                Some(merged) => (item, rest) = (merged, tail),
                None => return self.intern(Expr::Concat(item, rest)),
            }
        }
    }

    /// Whether a part of a concatenation is a repetition, but of any characters, that may be none.
    fn may_be_left_out(&self, part: LanguageId) -> bool {
        let (inner, min, max) = self.as_repeat(part);
        min == 0 && max > 0 && inner != CHARACTER && self.is_closed(part)
    }

    /// Simplifies a concatenation beside a language of any texts: `x?.*` is `.*`, `x{2,5}.*` is `x{2}.*`.
    fn absorbed(
        &mut self,
        item: LanguageId,
        rest: LanguageId,
        head: LanguageId,
        tail: LanguageId,
    ) -> Result<Option<LanguageId>, LimitReached> {
        if self
            .as_any_of_class(item)
            .is_some_and(|class| self.adds_nothing(rest, class))
        {
            return Ok(Some(item));
        }
        if self
            .as_any_of_class(head)
            .is_some_and(|class| self.adds_nothing(item, class))
        {
            return Ok(Some(rest));
        }
        let (inner, min, max) = self.as_repeat(item);
        if tail == EMPTY && matches!(self.as_length(rest), Some((_, UNBOUNDED))) {
            if self.nullable(item) {
                return Ok(Some(rest));
            }
            if rest == ANY && min < max && inner != CHARACTER {
                let fewest = self.repeat(inner, min, min)?;
                return self.concat(fewest, rest).map(Some);
            }
        }
        if item == ANY && self.is_closed(head) {
            if tail == EMPTY && self.nullable(head) {
                return Ok(Some(ANY));
            }
            let (inner, min, max) = self.as_repeat(head);
            if min < max && inner != CHARACTER {
                let fewest = self.repeat(inner, min, min)?;
                let rest = self.concat(fewest, tail)?;
                return self.concat(ANY, rest).map(Some);
            }
        }
        Ok(None)
    }

    /// `x{a,b}x{c,d}` as one repetition. Two plain `x` stay as they are, unless they are any characters: those count.
    fn merged(&mut self, item: LanguageId, head: LanguageId) -> Result<Option<LanguageId>, LimitReached> {
        let ((x, a, b), (y, c, d)) = (self.as_repeat(item), self.as_repeat(head));
        if x != y || (item == head && item == x && x != CHARACTER) {
            return Ok(None);
        }
        let Some(min) = a.checked_add(c) else { return Ok(None) };
        let max = if b == UNBOUNDED || d == UNBOUNDED {
            Some(UNBOUNDED)
        } else {
            b.checked_add(d)
        };
        let Some(max) = max else { return Ok(None) };
        self.repeat(x, min, max).map(Some)
    }

    /// The text `text` and no other.
    pub(in crate::strings) fn literal(&mut self, text: &str) -> NewLanguage {
        self.words(vec![text])
    }

    /// The texts `words`.
    pub(in crate::strings) fn words(&mut self, mut words: Vec<&str>) -> NewLanguage {
        // The order of UTF-8 is the order of scalar values, so that words with a common prefix are neighbours.
        words.sort_unstable();
        words.dedup();
        self.trie(words.into_iter().map(|word| (word, EMPTY)))
    }

    /// Each word followed by its tail. Words come sorted and without duplicates.
    ///
    /// The result is the smallest automaton without cycles: a state is finished as soon as the words have left it, and
    /// equal states are one expression.
    pub(in crate::strings) fn trie<'w>(
        &mut self,
        words: impl IntoIterator<Item = (&'w str, LanguageId)>,
    ) -> NewLanguage {
        let mut open = OpenTrie::default();
        let mut previous: Vec<u32> = Vec::new();
        let mut word: Vec<u32> = Vec::new();
        for (text, tail) in words {
            word.clear();
            word.extend(text.chars().map(index));
            let shared = previous.iter().zip(&word).take_while(|(a, b)| a == b).count();
            self.close(&mut open, &previous, shared)?;
            open.states.resize(word.len() + 1, (open.edges.len(), None));
            if let Some((_, end)) = open.states.last_mut() {
                *end = Some(tail);
            }
            std::mem::swap(&mut previous, &mut word);
        }
        self.close(&mut open, &previous, 0)?;
        let tail = open.states.pop().and_then(|(_, tail)| tail);
        self.state(tail, &open.edges)
    }

    /// Finishes the states deeper than `depth` on the path that spells `word`.
    fn close(&mut self, open: &mut OpenTrie, word: &[u32], depth: usize) -> Result<(), LimitReached> {
        while open.states.len() > depth + 1
            && let Some((from, tail)) = open.states.pop()
        {
            let target = self.state(tail, &open.edges[from..])?;
            open.edges.truncate(from);
            let letter = word[open.states.len() - 1];
            let parent = open.states.last().map_or(0, |(from, _)| *from);
            match open.edges[parent..].last_mut() {
                Some((range, same)) if *same == target && range.last + 1 == letter => range.last = letter,
                _ => open.edges.push((CharRange::new(letter, letter), target)),
            }
        }
        Ok(())
    }

    /// Makes a state with these edges, and with the language that may follow the words that end there.
    fn state(&mut self, tail: Option<LanguageId>, edges: &[(CharRange, LanguageId)]) -> NewLanguage {
        if edges.is_empty() {
            return Ok(tail.unwrap_or(NONE));
        }
        if tail.is_none() && edges.iter().all(|&(_, target)| target == EMPTY) {
            let ranges = edges
                .iter()
                .map(|(range, _)| (character(range.first), character(range.last)));
            return self.class(&CharSet::from_ranges(ranges));
        }
        let accepts = tail == Some(EMPTY);
        let branch = self.intern(Expr::Branch {
            accepts,
            edges: edges.into(),
        })?;
        match tail {
            Some(tail) if !accepts => self.or(vec![tail, branch]),
            _ => Ok(branch),
        }
    }
}

/// The states of a trie that words may still be added to, each below the one before it.
#[derive(Default)]
struct OpenTrie {
    /// For each state the index at which its edges begin, and the language that may follow the words that end there.
    states: Vec<(usize, Option<LanguageId>)>,
    /// The edges of all, state after state.
    edges: Vec<(CharRange, LanguageId)>,
}

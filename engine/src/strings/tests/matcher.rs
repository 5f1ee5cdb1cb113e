//! A matcher by definition: the set of places where a match that starts at a place may end.

use crate::strings::pattern::{Ast, AstForm, AstId};

pub(super) struct Matcher<'a> {
    pub(super) ast: &'a Ast,
    pub(super) text: &'a [char],
}

fn is_word(c: Option<&char>) -> bool {
    c.is_some_and(|&c| c == '_' || c.is_ascii_alphanumeric())
}

impl Matcher<'_> {
    pub(super) fn finds(&self, whole: AstId) -> bool {
        (0..=self.text.len()).any(|start| !self.ends(whole, start).is_empty())
    }

    fn ends(&self, id: AstId, start: usize) -> Vec<usize> {
        let holds = |condition: bool| if condition { vec![start] } else { Vec::new() };
        match self.ast.form(id) {
            AstForm::Empty => vec![start],
            AstForm::Class(set) => match self.text.get(start) {
                Some(&c) if set.ranges().iter().any(|range| range.contains(c)) => vec![start + 1],
                _ => Vec::new(),
            },
            AstForm::Concat(parts) => parts.iter().fold(vec![start], |places, &part| self.step(part, &places)),
            AstForm::Alternatives(parts) => sorted(parts.iter().flat_map(|&part| self.ends(part, start)).collect()),
            &AstForm::Repeat { inner, min, max } => self.rounds(inner, min, max, start),
            AstForm::Start => holds(start == 0),
            AstForm::End => holds(start == self.text.len()),
            AstForm::WordBoundary { negated } => {
                let before = start.checked_sub(1).and_then(|place| self.text.get(place));
                holds((is_word(before) != is_word(self.text.get(start))) != *negated)
            }
            &AstForm::Look {
                behind: false,
                negated,
                inner,
            } => holds(self.ends(inner, start).is_empty() == negated),
            &AstForm::Look {
                behind: true,
                negated,
                inner,
            } => holds((0..=start).any(|from| self.ends(inner, from).contains(&start)) != negated),
        }
    }

    fn step(&self, part: AstId, places: &[usize]) -> Vec<usize> {
        sorted(places.iter().flat_map(|&place| self.ends(part, place)).collect())
    }

    fn rounds(&self, inner: AstId, min: u64, max: u64, start: usize) -> Vec<usize> {
        let mut places = vec![start];
        for _ in 0..min {
            places = self.step(inner, &places);
        }
        let mut all = places.clone();
        for _ in min..max.min(min + self.text.len() as u64 + 1) {
            places = self.step(inner, &places);
            all.extend_from_slice(&places);
        }
        sorted(all)
    }
}

fn sorted(mut places: Vec<usize>) -> Vec<usize> {
    places.sort_unstable();
    places.dedup();
    places
}

//! Removal of left recursion and of tail recursion from nested rules: both become loops.

use hashbrown::HashSet;

use crate::CompileError;

use super::super::components::of_graph;
use super::skeleton::{BodyId, Edge, PointId, Skeleton};

impl Skeleton {
    /// Turns left recursion, direct or indirect, and direct tail recursion into loops.
    ///
    /// # Errors
    ///
    /// [`CompileError`], where there are too many points.
    pub(super) fn without_recursion_at_ends(&mut self) -> Result<(), CompileError> {
        let circles = of_graph(self.bodies.len(), 0..self.bodies.len(), |body| {
            self.first_calls(body).iter().map(|(first, _)| *first).collect()
        });
        for circle in circles {
            for (number, &body) in circle.iter().enumerate() {
                if self.first_calls(body).iter().any(|(first, _)| circle.contains(first)) {
                    self.begin_without(body, &circle[..number])?;
                }
            }
        }
        for body in 0..self.bodies.len() {
            self.loop_at_end(body);
        }
        Ok(())
    }

    /// Rewrites the beginning of a rule so that it begins neither with a call of itself nor with one of a rule in `before`.
    fn begin_without(&mut self, body: BodyId, before: &[BodyId]) -> Result<(), CompileError> {
        let start = self.fresh_start(body)?;
        // Each copy of an earlier rule begins with later ones only.
        for &earlier in before {
            for edge in self.points[start as usize].clone() {
                if let Edge::Call(called, to) = edge
                    && called == earlier
                {
                    self.points[start as usize].retain(|other| *other != edge);
                    self.copy(earlier, (start, to))?;
                }
            }
        }
        // x = x a | b is b followed by any number of a.
        let end = self.bodies[body].end;
        for edge in self.points[start as usize].clone() {
            if let Edge::Call(called, to) = edge
                && called == body
            {
                self.points[start as usize].retain(|other| *other != edge);
                self.add(end, Edge::Empty(to));
            }
        }
        Ok(())
    }

    /// Gives a rule a new start that no edge leads to and no empty edge leaves, so that the rule loses its empty text.
    fn fresh_start(&mut self, body: BodyId) -> Result<PointId, CompileError> {
        let start = self.point()?;
        for point in self.at_once(self.bodies[body].start) {
            for edge in self.points[point as usize].clone() {
                if !matches!(edge, Edge::Empty(_)) {
                    self.add(start, edge);
                }
            }
        }
        self.bodies[body].start = start;
        Ok(start)
    }

    /// Whether every path from a point to the end of its rule reads nothing, and there is one.
    pub(super) fn is_at_end(&self, point: PointId, end: PointId) -> bool {
        let points = self.at_once(point);
        let is_empty = |edge: &Edge| matches!(edge, Edge::Empty(_));
        points.contains(&end)
            && points
                .iter()
                .all(|point| self.points[*point as usize].iter().all(is_empty))
    }

    /// Replaces each tail call of a rule to itself by an empty edge to its start.
    fn loop_at_end(&mut self, body: BodyId) {
        let (start, end) = (self.bodies[body].start, self.bodies[body].end);
        let mut seen: HashSet<PointId> = [start].into();
        let mut open = vec![start];
        while let Some(point) = open.pop() {
            for number in 0..self.points[point as usize].len() {
                let edge = self.points[point as usize][number];
                if let Edge::Call(called, to) = edge
                    && called == body
                    && self.is_at_end(to, end)
                {
                    self.points[point as usize][number] = Edge::Empty(start);
                    continue;
                }
                if seen.insert(edge.to()) {
                    open.push(edge.to());
                }
            }
        }
    }
}

//! Compiles the parameters of a call to points of a program.

use crate::CompileError;

use super::super::build::{Alternative, Builder};
use super::super::program::{Point, PointId};
use super::{Form, Parameters};

/// A line break may stand before a parameter and behind the last one.
const BREAK: &[u8] = b"\n";

impl<'f> Builder<'f> {
    /// The point before the parameters of a call, behind which `next` follows.
    pub(in crate::reply::tags) fn parameters(
        &mut self,
        parameters: &'f Parameters,
        next: PointId,
    ) -> Result<Point, CompileError> {
        // Behind all that are declared: further ones come over and over.
        let mut at = self.add(Point::End)?;
        let mut openings = self.openings(&parameters.others, at)?;
        let mut may_end = true;
        self.points[at as usize] = self.between(&openings, may_end.then_some(next))?;
        for (number, parameter) in parameters.declared.iter().enumerate().rev() {
            let mut own = self.openings(&parameter.forms, at)?;
            if parameter.is_required {
                (openings, may_end) = (Vec::new(), false);
            }
            own.append(&mut openings);
            openings = own;
            if number > 0 {
                let point = self.between(&openings, may_end.then_some(next))?;
                at = self.add(point)?;
            }
        }
        self.between(&openings, may_end.then_some(next))
    }

    /// Returns the fixed beginnings of parameters in some forms, each with the point behind it; each parameter ends at the point `behind`.
    fn openings(&mut self, forms: &'f [Form], behind: PointId) -> Result<Vec<Alternative<'f>>, CompileError> {
        let mut openings = Vec::with_capacity(forms.len());
        for form in forms {
            let mut point = behind;
            for (content, text) in form.parts.iter().rev() {
                point = self.literal(&text.bytes, point)?;
                point = self.add(Point::Content(*content, point))?;
            }
            openings.push((&*form.before.bytes, point));
        }
        Ok(openings)
    }

    /// Returns the point before one of some parameters or, where `next` is given, before the text that follows all parameters.
    fn between(&mut self, openings: &[Alternative<'f>], next: Option<PointId>) -> Result<Point, CompileError> {
        let mut points = Vec::new();
        if !openings.is_empty() {
            points.push(self.alternatives(openings.to_vec())?);
        }
        points.extend(next);
        for at in 0..points.len() {
            points.push(self.literal(BREAK, points[at])?);
        }
        Ok(Point::Fork(points))
    }
}

//! The recursive walk over the data, along its schema.

use std::cmp::Ordering;
use std::rc::Rc;

use num_bigint::BigInt;
use serde_json::Value;

use super::datum::{Bound, Content, Datum};
use super::failure::{FailureKind, Failures, preview};
use super::schema::{ArraySchema, Null, ObjectSchema, Schema, SchemaKind};

/// Holds data against a schema. Recurses with the schema, not with the data.
pub(super) struct DatumWalk<'f> {
    path: String,
    failures: &'f mut Failures,
}

impl<'f> DatumWalk<'f> {
    pub fn new(failures: &'f mut Failures) -> Self {
        Self {
            path: String::new(),
            failures,
        }
    }

    /// Adds the failures of `datum` under `schema`.
    pub fn value(&mut self, datum: &Datum, schema: &Schema) {
        if matches!(datum.content, Content::Null) {
            match schema.null {
                Null::Passes => return,
                Null::Refused => return self.wrong_type(datum, schema),
                Null::Checked => {}
            }
        }
        match (&schema.kind, &datum.content) {
            (SchemaKind::Array(array), Content::List(items)) => return self.array(items, array),
            (SchemaKind::Object(object), Content::Mapping(_)) => return self.object(datum, object),
            (SchemaKind::Array(_) | SchemaKind::Object(_), _) => return self.wrong_type(datum, schema),
            (SchemaKind::Any, _)
            | (SchemaKind::String, Content::Text(_))
            | (SchemaKind::Boolean, Content::Boolean(_)) => {}
            (SchemaKind::Number, Content::Integer(_) | Content::Float(_))
            | (SchemaKind::Integer, Content::Integer(_)) => {
                self.bounds(datum, schema);
            }
            (SchemaKind::String | SchemaKind::Boolean | SchemaKind::Number | SchemaKind::Integer, _) => {
                self.wrong_type(datum, schema)
            }
        }
        if let Some(choices) = &schema.choices
            && !choices.iter().any(|choice| datum.equals(choice))
        {
            self.add(FailureKind::NotInEnum, || {
                let choices: Vec<String> = choices.iter().map(Value::to_string).collect();
                format!("{} is none of {}", shown(datum), preview(&choices.join(", ")))
            });
        }
    }

    fn array(&mut self, items: &[Rc<Datum>], array: &ArraySchema) {
        let length = Datum::new(Content::Integer(BigInt::from(items.len())));
        if let Some((bound, side)) = outside(&length, array.min_items.as_ref(), array.max_items.as_ref()) {
            let count = items.len();
            self.add(FailureKind::ArrayLength, || format!("{count} items, {side} {bound}"));
        }
        let Some(schema) = &array.items else { return };
        for (number, item) in items.iter().enumerate() {
            self.below(&format!("[{number}]"), |walk| walk.value(item, schema));
        }
    }

    fn object(&mut self, datum: &Datum, object: &ObjectSchema) {
        let Content::Mapping(mapping) = &datum.content else {
            return;
        };
        for name in &object.required {
            if mapping.get(name).is_none() {
                self.below(&member(name), |walk| {
                    walk.add(FailureKind::MissingField, || "required field missing".to_owned());
                });
            }
        }
        for (name, schema) in &object.properties {
            if let Some(value) = mapping.get(name) {
                self.below(&member(name), |walk| walk.value(value, schema));
            }
        }
        for (key, _) in &mapping.entries {
            let known = matches!(&key.content, Content::Text(name) if object.positions.contains_key(name));
            if !known {
                self.below(&member(&key.key_text()), |walk| {
                    walk.add(FailureKind::ExtraField, || "field not asked for".to_owned());
                });
            }
        }
    }

    fn bounds(&mut self, datum: &Datum, schema: &Schema) {
        if let Some((bound, side)) = outside(datum, schema.minimum.as_ref(), schema.maximum.as_ref()) {
            self.add(FailureKind::OutOfBounds, || {
                format!("{} is {side} {bound}", shown(datum))
            });
        }
    }

    fn wrong_type(&mut self, datum: &Datum, schema: &Schema) {
        self.add(FailureKind::WrongType, || {
            format!("expected {}, got {}", schema.type_name, datum.kind())
        });
    }

    fn add(&mut self, kind: FailureKind, message: impl FnOnce() -> String) {
        self.failures.add(kind, &self.path, message);
    }

    fn below(&mut self, step: &str, work: impl FnOnce(&mut Self)) {
        let length = self.path.len();
        push_step(&mut self.path, step);
        work(self);
        self.path.truncate(length);
    }
}

/// Appends a step to a path, which begins without a point.
pub(super) fn push_step(path: &mut String, step: &str) {
    let step = if path.is_empty() {
        step.strip_prefix('.').unwrap_or(step)
    } else {
        step
    };
    path.push_str(step);
}

/// The step to the member `name`, which is cut where it is long.
pub(super) fn member(name: &str) -> String {
    format!(".{}", preview(name))
}

/// The bound that a number is beyond, and how it is.
fn outside<'b>(
    datum: &Datum,
    minimum: Option<&'b Bound>,
    maximum: Option<&'b Bound>,
) -> Option<(&'b Bound, &'static str)> {
    let below = minimum.filter(|bound| datum.compare(bound) == Some(Ordering::Less));
    let above = maximum.filter(|bound| datum.compare(bound) == Some(Ordering::Greater));
    below
        .map(|bound| (bound, "below the minimum of"))
        .or(above.map(|bound| (bound, "above the maximum of")))
}

/// A scalar, for messages.
pub(super) fn shown(datum: &Datum) -> String {
    match (&datum.content, &datum.plain) {
        (_, Some(plain)) => preview(plain),
        (Content::Text(text), None) => format!("{:?}", preview(text)),
        (Content::List(_) | Content::Mapping(_) | Content::Foreign(_), None) => datum.kind().to_owned(),
        (_, None) => preview(&datum.key_text()),
    }
}

//! Specification of one sample, before it is put into words.

use serde_json::{Map, Number, Value, json};

use super::difficulty::Difficulty;
use super::taxonomy::{Bounds, Entity, Field, FieldKind, Flavour, Item, Length};
use crate::ifstruct::draw::Draw;
use crate::ifstruct::{Count, OutputFormat};

/// Specification of a reply: its fields, their number, and the form around them.
#[derive(Clone, Debug)]
pub(super) struct Spec<'a> {
    pub entity: &'a Entity,
    pub context: &'a str,
    pub audience: Option<&'a str>,
    pub fields: Vec<Field>,
    pub count: Count,
    pub format: OutputFormat,
    /// The key that the list is wrapped under; a bare list without one.
    pub wrapper: Option<String>,
    pub fence: Fence,
    pub no_commentary: bool,
}

/// The request's rule on a code fence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fence {
    /// The request has no rule.
    Free,
    /// A fence is required.
    Any,
    /// A fence that names the format is required.
    Named,
    /// A fence is forbidden.
    Forbidden,
}

impl<'a> Spec<'a> {
    /// Draws a specification for `entity`.
    pub(super) fn draw(entity: &'a Entity, difficulty: Difficulty, draw: &mut Draw) -> Self {
        let format = draw.weighted(&[(OutputFormat::Json, 58), (OutputFormat::Yaml, 42)]);
        let fence = draw.weighted(&[
            (Fence::Free, 30),
            (Fence::Any, 22),
            (Fence::Named, 24),
            (Fence::Forbidden, 24),
        ]);
        let no_commentary = draw.chance(match fence {
            Fence::Forbidden => 60,
            _ => 45,
        });
        Self {
            entity,
            context: &entity.contexts[draw.below(entity.contexts.len())],
            audience: draw
                .chance(55)
                .then(|| entity.audiences[draw.below(entity.audiences.len())].as_str()),
            fields: fields(entity, difficulty, draw),
            count: count(draw),
            format,
            wrapper: draw.chance(55).then(|| wrapper(entity, draw)),
            fence,
            no_commentary,
        }
    }

    /// The schema of the list of items.
    pub(super) fn schema(&self) -> Map<String, Value> {
        let mut schema = Map::new();
        schema.insert("type".to_owned(), json!("array"));
        schema.insert("items".to_owned(), object_schema(&self.fields));
        schema
    }

    /// Returns the name of one item or of several, as many as are asked for.
    pub(super) fn noun(&self) -> &'a str {
        match self.count {
            Count::Exactly(1) => &self.entity.one,
            _ => &self.entity.many,
        }
    }

    /// The fields and those within them.
    pub(super) fn all_fields(&self) -> impl Iterator<Item = &Field> {
        self.fields
            .iter()
            .flat_map(|field| std::iter::once(field).chain(field.kind.fields().unwrap_or_default()))
    }
}

fn count(draw: &mut Draw) -> Count {
    if draw.chance(62) {
        return Count::Exactly(draw.weighted(&[(1, 10), (2, 24), (3, 28), (4, 18), (5, 12), (6, 5), (7, 3)]));
    }
    let low = draw.between(1, 4);
    Count::Between(low, low + draw.between(1, 3))
}

fn wrapper(entity: &Entity, draw: &mut Draw) -> String {
    let snake = |words: &str| words.to_lowercase().replace([' ', '-'], "_");
    match draw.below(10) {
        0..=2 => snake(&entity.many),
        3..=4 => entity.name.clone(),
        5 => format!("{}_list", entity.name),
        6 => format!("{}_records", entity.name),
        7 => format!("generated_{}", snake(&entity.many)),
        _ => draw
            .pick(&[
                "items",
                "results",
                "records",
                "entries",
                "data",
                "payload",
                "output_items",
            ])
            .to_owned(),
    }
}

/// Some fields of an entity: the first always, then those of [`usual_places`] or [`asked_places`].
fn fields(entity: &Entity, difficulty: Difficulty, draw: &mut Draw) -> Vec<Field> {
    let others = &entity.fields[1..];
    let mut chosen = match (difficulty.fields, difficulty.nested) {
        (None, None) => usual_places(entity, draw),
        _ => asked_places(entity, difficulty, draw),
    };
    if draw.chance(30) {
        draw.shuffle(&mut chosen);
    }
    let optional_percent = draw.pick(&[0, 0, 15, 25, 35]);
    // What fields mean is told of all, of some, or of none.
    let about_percent = draw.pick(&[0, 55, 85, 100, 100]);
    let habits = SpecHabits {
        optional_percent,
        about_percent,
        bounded_percent: draw.pick(&[55, 80, 100]),
    };
    let mut fields = vec![habits.field(&entity.fields[0], true, draw)];
    fields.extend(chosen.iter().map(|&place| habits.field(&others[place], false, draw)));
    fields
}

fn is_nested(field: &Field) -> bool {
    field.kind.fields().is_some()
}

/// Whether a field's texts need escaping.
fn is_stress(field: &Field) -> bool {
    matches!(field.kind, FieldKind::Text(flavour) if flavour != Flavour::String)
}

/// The places of some fields behind the first: something nested mostly, something to be escaped where the entity is for that.
fn usual_places(entity: &Entity, draw: &mut Draw) -> Vec<usize> {
    let wanted = usize::try_from(draw.between(3, 8)).unwrap_or(3);
    let nested_wanted = draw.chance(72);
    let others = &entity.fields[1..];
    let mut chosen = draw.places(others.len(), wanted);
    let mut include = |test: &dyn Fn(&Field) -> bool, draw: &mut Draw| {
        if !chosen.iter().any(|&place| test(&others[place])) {
            let candidates: Vec<usize> = (0..others.len()).filter(|&place| test(&others[place])).collect();
            if !candidates.is_empty() {
                chosen.push(draw.pick(&candidates));
            }
        }
    };
    if nested_wanted {
        include(&is_nested, draw);
    }
    if entity.escaping {
        include(&is_stress, draw);
    }
    chosen.sort_unstable();
    if !nested_wanted {
        chosen.retain(|&place| !is_nested(&others[place]));
    }
    chosen
}

/// The places of as many fields behind the first as `difficulty` asks for, with as many nested ones; something to be escaped where the
/// entity is for that and there is room.
fn asked_places(entity: &Entity, difficulty: Difficulty, draw: &mut Draw) -> Vec<usize> {
    let others = &entity.fields[1..];
    let (low, high) = difficulty.fields.unwrap_or((4, 9));
    let wanted = usize::try_from(draw.between(low as u64, high as u64)).unwrap_or(low);
    // The first is there anyway.
    let wanted = wanted.saturating_sub(1).min(others.len());
    let of_kind = |nested: bool| (0..others.len()).filter(move |&place| is_nested(&others[place]) == nested);
    let (nested, plain): (Vec<usize>, Vec<usize>) = (of_kind(true).collect(), of_kind(false).collect());
    let nested_wanted = match difficulty.nested {
        Some(nested) => nested,
        // As many as it takes, where there are too few others.
        None => usize::from(draw.chance(72)).max(wanted.saturating_sub(plain.len())),
    };
    let nested_wanted = nested_wanted.min(nested.len()).min(wanted);
    let mut chosen: Vec<usize> = draw
        .places(nested.len(), nested_wanted)
        .into_iter()
        .map(|place| nested[place])
        .collect();
    let mut rest = draw.places(plain.len(), wanted - nested_wanted);
    let stress: Vec<usize> = (0..plain.len())
        .filter(|&place| is_stress(&others[plain[place]]))
        .collect();
    if entity.escaping
        && !stress.is_empty()
        && !rest.iter().any(|place| stress.contains(place))
        && let Some(last) = rest.last_mut()
    {
        *last = draw.pick(&stress);
    }
    chosen.extend(rest.into_iter().map(|place| plain[place]));
    chosen.sort_unstable();
    chosen
}

/// Shares of one sample's fields that are optional, described and bounded, in percent.
struct SpecHabits {
    optional_percent: u32,
    about_percent: u32,
    bounded_percent: u32,
}

impl SpecHabits {
    fn field(&self, template: &Field, first: bool, draw: &mut Draw) -> Field {
        Field {
            name: template.name.clone(),
            about: template.about.clone().filter(|_| draw.chance(self.about_percent)),
            kind: self.kind(&template.kind, draw),
            nullable: template.nullable && draw.chance(80),
            required: first || !draw.chance(self.optional_percent),
        }
    }

    fn kind(&self, template: &FieldKind, draw: &mut Draw) -> FieldKind {
        match template {
            FieldKind::Text(flavour) => FieldKind::Text(*flavour),
            FieldKind::Boolean => FieldKind::Boolean,
            FieldKind::Integer(bounds) => FieldKind::Integer(self.bounds(*bounds, draw)),
            FieldKind::Number(bounds) => FieldKind::Number(self.bounds(*bounds, draw)),
            FieldKind::Enum(values) => {
                let count = usize::try_from(draw.between(2, values.len() as u64)).unwrap_or(2);
                let kept = draw.places(values.len(), count.max(values.len().min(3)));
                FieldKind::Enum(kept.into_iter().map(|place| values[place].clone()).collect())
            }
            FieldKind::List { item, length } => FieldKind::List {
                item: match *item {
                    Item::Integer(bounds) => Item::Integer(self.bounds(bounds, draw)),
                    Item::Number(bounds) => Item::Number(self.bounds(bounds, draw)),
                    text @ Item::Text(_) => text,
                },
                length: some_length(*length, draw),
            },
            FieldKind::Object(fields) => FieldKind::Object(self.inner(fields, draw)),
            FieldKind::Objects {
                one,
                many,
                length,
                fields,
            } => FieldKind::Objects {
                one: one.clone(),
                many: many.clone(),
                length: some_length(*length, draw),
                fields: self.inner(fields, draw),
            },
        }
    }

    fn inner(&self, fields: &[Field], draw: &mut Draw) -> Vec<Field> {
        let count = usize::try_from(draw.between(2, fields.len() as u64)).unwrap_or(2);
        let places = draw.places(fields.len(), count);
        let inner = places.into_iter().enumerate();
        inner
            .map(|(order, place)| self.field(&fields[place], order == 0, draw))
            .collect()
    }

    fn bounds(&self, bounds: Bounds, draw: &mut Draw) -> Bounds {
        if !draw.chance(self.bounded_percent) {
            return Bounds::default();
        }
        match draw.below(10) {
            0 => Bounds { max: None, ..bounds },
            1 => Bounds { min: None, ..bounds },
            _ => bounds,
        }
    }
}

/// A length within `length`: a part of it, one number, or half of it left open.
fn some_length(length: Length, draw: &mut Draw) -> Length {
    let (low, high) = (length.min.unwrap_or(0), length.max.unwrap_or(8));
    let min = draw.between(low, high);
    // A list that must be empty is no list.
    let max = draw.between(min, high).max(1);
    let at_least = Some(min).filter(|min| *min > 0);
    match draw.below(12) {
        0 => Length {
            min: at_least,
            max: None,
        },
        1 => Length {
            min: None,
            max: Some(max),
        },
        2 => Length::default(),
        _ => Length {
            min: at_least,
            max: Some(max),
        },
    }
}

/// The schema of an object with `fields`.
pub(super) fn object_schema(fields: &[Field]) -> Value {
    let properties: Map<String, Value> = fields
        .iter()
        .map(|field| (field.name.clone(), field_schema(field)))
        .collect();
    let required: Vec<&str> = fields
        .iter()
        .filter(|field| field.required)
        .map(|field| &*field.name)
        .collect();
    json!({ "type": "object", "properties": properties, "required": required })
}

fn field_schema(field: &Field) -> Value {
    let mut schema = Map::new();
    let name = match &field.kind {
        FieldKind::Text(_) | FieldKind::Enum(_) => "string",
        FieldKind::Boolean => "boolean",
        FieldKind::Integer(_) => "integer",
        FieldKind::Number(_) => "number",
        FieldKind::List { .. } | FieldKind::Objects { .. } => "array",
        FieldKind::Object(fields) => return object_schema(fields),
    };
    let name = match field.nullable {
        true => json!([name, "null"]),
        false => json!(name),
    };
    schema.insert("type".to_owned(), name);
    match &field.kind {
        FieldKind::Integer(bounds) | FieldKind::Number(bounds) => insert_bounds(&mut schema, *bounds),
        FieldKind::Enum(values) => {
            schema.insert("enum".to_owned(), json!(values));
        }
        FieldKind::List { item, length } => {
            schema.insert("items".to_owned(), item_schema(*item));
            insert_length(&mut schema, *length);
        }
        FieldKind::Objects { length, fields, .. } => {
            schema.insert("items".to_owned(), object_schema(fields));
            insert_length(&mut schema, *length);
        }
        _ => {}
    }
    Value::Object(schema)
}

fn item_schema(item: Item) -> Value {
    let (name, bounds) = match item {
        Item::Text(_) => ("string", Bounds::default()),
        Item::Integer(bounds) => ("integer", bounds),
        Item::Number(bounds) => ("number", bounds),
    };
    let mut schema = Map::new();
    schema.insert("type".to_owned(), json!(name));
    insert_bounds(&mut schema, bounds);
    Value::Object(schema)
}

fn insert_bounds(schema: &mut Map<String, Value>, bounds: Bounds) {
    for (keyword, bound) in [("minimum", bounds.min), ("maximum", bounds.max)] {
        if let Some(bound) = bound {
            schema.insert(keyword.to_owned(), number(bound));
        }
    }
}

fn insert_length(schema: &mut Map<String, Value>, length: Length) {
    for (keyword, bound) in [("minItems", length.min), ("maxItems", length.max)] {
        if let Some(bound) = bound {
            schema.insert(keyword.to_owned(), json!(bound));
        }
    }
}

/// A number as people write it, without a fraction where there is none.
fn number(value: f64) -> Value {
    value.to_string().parse::<Number>().map_or(Value::Null, Value::Number)
}

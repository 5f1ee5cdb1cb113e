//! The taxonomies: the entities that can be asked for, and their fields.
//!
//! Taxonomies are data (`suites/data/ifstruct/*.json`). An entity belongs to one split. Its first field is in every schema drawn
//! from it and no entity of the other split has a field of that name, so no schema is in both splits.
//!
//! A field is `"name": "TYPE: what it is"`, with `string` or another [`Flavour`], `boolean`, `integer`, `number` (both with bounds,
//! as `1..24`), `enum a|b|c`, or a list as `[string] 1..4`; a `?` behind the type's name lets null in. An object is
//! `{"about", "fields"}`, a list of objects has `"list": "2..6"` and the words for `"one"` and `"many"` of its items as well.

use serde::Deserialize;
use serde_json::{Map, Value};

use super::Split;

const FILES: [(&str, &str); 9] = [
    (
        "commerce_and_finance",
        include_str!("../../../data/ifstruct/commerce_and_finance.json"),
    ),
    (
        "culture_and_education",
        include_str!("../../../data/ifstruct/culture_and_education.json"),
    ),
    (
        "food_and_home",
        include_str!("../../../data/ifstruct/food_and_home.json"),
    ),
    (
        "health_and_science",
        include_str!("../../../data/ifstruct/health_and_science.json"),
    ),
    (
        "nature_and_engineering",
        include_str!("../../../data/ifstruct/nature_and_engineering.json"),
    ),
    (
        "public_and_legal",
        include_str!("../../../data/ifstruct/public_and_legal.json"),
    ),
    ("software", include_str!("../../../data/ifstruct/software.json")),
    (
        "travel_and_logistics",
        include_str!("../../../data/ifstruct/travel_and_logistics.json"),
    ),
    (
        "writing_and_text",
        include_str!("../../../data/ifstruct/writing_and_text.json"),
    ),
];

/// A taxonomy that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum TaxonomyError {
    /// The file is not JSON of a taxonomy's form.
    #[error("taxonomy {file}: {source}")]
    Json {
        /// The file, without its extension.
        file: &'static str,
        /// The parser's error, with line and column.
        source: serde_json::Error,
    },
    /// A field is not defined as fields are.
    #[error("taxonomy {file}: {entity}: {field}: {problem}")]
    Field {
        /// The file, without its extension.
        file: &'static str,
        /// The entity.
        entity: String,
        /// The field's name.
        field: String,
        /// The problem with the definition.
        problem: &'static str,
    },
}

/// An entity that can be asked for.
#[derive(Clone, Debug)]
pub(super) struct Entity {
    pub name: String,
    pub split: Split,
    /// Name of one item, without an article.
    pub one: String,
    pub many: String,
    /// Purposes of the items, as in "for a community cookbook".
    pub contexts: Vec<String>,
    /// Sentences on the readers of the items and how to write for them.
    pub audiences: Vec<String>,
    /// Whether its strings need escaping.
    pub escaping: bool,
    pub fields: Vec<Field>,
}

/// A field of an entity, or of a request.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Field {
    pub name: String,
    /// Meaning of the field, as it stands behind "with" or "put", such as "the name of the dish".
    pub about: Option<String>,
    pub kind: FieldKind,
    pub nullable: bool,
    pub required: bool,
}

/// Type of a field, with its bounds, values or inner fields.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum FieldKind {
    Text(Flavour),
    Boolean,
    Integer(Bounds),
    Number(Bounds),
    Enum(Vec<String>),
    List {
        item: Item,
        length: Length,
    },
    Object(Vec<Field>),
    Objects {
        one: String,
        many: String,
        length: Length,
        fields: Vec<Field>,
    },
}

impl FieldKind {
    /// The fields within, where it is an object or a list of objects.
    pub(super) fn fields(&self) -> Option<&[Field]> {
        match self {
            Self::Object(fields) | Self::Objects { fields, .. } => Some(fields),
            _ => None,
        }
    }
}

/// Type of the items of a list of scalars.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Item {
    Text(Flavour),
    Integer(Bounds),
    Number(Bounds),
}

/// Smallest and largest value of a number; whole numbers below 2^53 for integers.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Bounds {
    pub min: Option<f64>,
    pub max: Option<f64>,
}

/// Smallest and largest number of items of a list.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Length {
    pub min: Option<u64>,
    pub max: Option<u64>,
}

/// Kind of text in a string, which decides what has to be escaped in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Flavour {
    /// A name or a short phrase.
    String,
    /// Several sentences.
    Prose,
    /// Several sentences with quotation marks.
    Quoted,
    /// Lines, with line breaks that matter.
    Verse,
    /// Messages of several speakers.
    Dialogue,
    Markdown,
    LogLines,
    Code,
    Diff,
    Shell,
    Sql,
    Html,
    Config,
    Regex,
    Trace,
    JsonText,
    Tabbed,
    WindowsPath,
    PosixPath,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawEntity {
    entity: String,
    split: Split,
    one: String,
    many: String,
    contexts: Vec<String>,
    audiences: Vec<String>,
    #[serde(default)]
    escaping: bool,
    fields: Map<String, Value>,
}

/// Reads all taxonomies, in the order of their files.
pub(super) fn read() -> Result<Vec<Entity>, TaxonomyError> {
    let mut entities = Vec::new();
    for (file, text) in FILES {
        let raw: Vec<RawEntity> = serde_json::from_str(text).map_err(|source| TaxonomyError::Json { file, source })?;
        for entity in raw {
            let fields = fields(&entity.fields).map_err(|(field, problem)| TaxonomyError::Field {
                file,
                entity: entity.entity.clone(),
                field,
                problem,
            })?;
            entities.push(Entity {
                name: entity.entity,
                split: entity.split,
                one: entity.one,
                many: entity.many,
                contexts: entity.contexts,
                audiences: entity.audiences,
                escaping: entity.escaping,
                fields,
            });
        }
    }
    Ok(entities)
}

/// The fields, and those of the objects among them; objects hold no further ones.
fn fields(members: &Map<String, Value>) -> Result<Vec<Field>, (String, &'static str)> {
    let mut fields = Vec::new();
    for (name, value) in members {
        let problem = |problem| (name.clone(), problem);
        let (kind, nullable, about) = match value {
            Value::String(text) => scalar(text).map_err(problem)?,
            Value::Object(members) => object(members).map_err(problem)?,
            _ => return Err(problem("neither a string nor an object")),
        };
        fields.push(Field {
            name: name.clone(),
            about: Some(about),
            kind,
            nullable,
            required: true,
        });
    }
    Ok(fields)
}

fn object(members: &Map<String, Value>) -> Result<(FieldKind, bool, String), &'static str> {
    let word = |name: &str| members.get(name).and_then(Value::as_str).map(str::to_owned);
    let mut inner = Vec::new();
    for (name, value) in members.get("fields").and_then(Value::as_object).ok_or("no fields")? {
        let (kind, nullable, about) = scalar(value.as_str().ok_or("a field within is no string")?)?;
        inner.push(Field {
            name: name.clone(),
            about: Some(about),
            kind,
            nullable,
            required: true,
        });
    }
    let about = word("about").ok_or("no about")?;
    let kind = match word("list") {
        None => FieldKind::Object(inner),
        Some(length) => FieldKind::Objects {
            one: word("one").ok_or("no word for one")?,
            many: word("many").ok_or("no word for many")?,
            length: self::length(&length)?,
            fields: inner,
        },
    };
    Ok((kind, false, about))
}

/// `TYPE: about`.
fn scalar(text: &str) -> Result<(FieldKind, bool, String), &'static str> {
    let (kind, about) = text.split_once(": ").ok_or("no `: ` between type and description")?;
    if let Some(list) = kind.strip_prefix('[') {
        let (item, length) = list.split_once("] ").ok_or("a list without a length")?;
        let item = match type_of(item)? {
            (FieldKind::Text(flavour), false) => Item::Text(flavour),
            (FieldKind::Integer(bounds), false) => Item::Integer(bounds),
            (FieldKind::Number(bounds), false) => Item::Number(bounds),
            _ => return Err("a list of what lists cannot have"),
        };
        let length = self::length(length)?;
        return Ok((FieldKind::List { item, length }, false, about.to_owned()));
    }
    let (kind, nullable) = type_of(kind)?;
    Ok((kind, nullable, about.to_owned()))
}

fn type_of(text: &str) -> Result<(FieldKind, bool), &'static str> {
    let (name, rest) = text.split_once(' ').unwrap_or((text, ""));
    let (name, nullable) = name.strip_suffix('?').map_or((name, false), |name| (name, true));
    let kind = match name {
        "boolean" => FieldKind::Boolean,
        "integer" => FieldKind::Integer(bounds(rest)?),
        "number" => FieldKind::Number(bounds(rest)?),
        "enum" => FieldKind::Enum(rest.split('|').map(str::to_owned).collect()),
        flavour => {
            let flavour = Flavour::deserialize(Value::from(flavour)).map_err(|_| "an unknown type")?;
            FieldKind::Text(flavour)
        }
    };
    Ok((kind, nullable))
}

fn bounds(text: &str) -> Result<Bounds, &'static str> {
    if text.is_empty() {
        return Ok(Bounds::default());
    }
    let (min, max) = text.split_once("..").ok_or("bounds without `..`")?;
    let bound = |text: &str| text.parse().map_err(|_| "a bound that is no number");
    Ok(Bounds {
        min: Some(bound(min)?),
        max: Some(bound(max)?),
    })
}

fn length(text: &str) -> Result<Length, &'static str> {
    let (min, max) = text.split_once("..").ok_or("a length without `..`")?;
    let bound = |text: &str| text.parse().map_err(|_| "a length that is no number");
    Ok(Length {
        min: Some(bound(min)?),
        max: Some(bound(max)?),
    })
}

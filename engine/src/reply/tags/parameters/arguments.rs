//! [`Arguments`]: the schema of a call's arguments, and its statements on the values of each parameter.

use std::sync::Arc;

use hashbrown::HashSet;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use crate::json::{Content, Document, NodeIndex, push_string, unescaped_token};
use crate::schema::{ANNOTATIONS, decoded_fragment};
use crate::{CompileError, CompileErrorKind, Limits};

/// The document that schemas of values refer to.
pub(in crate::reply::tags) const ARGUMENTS: &str = "structural-tag:arguments";

/// Characters that a fragment of a URI has as `%XX`: more than have to be.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~')
    .remove(b'/');

/// References from one object of arguments to another that are followed.
const MAX_REFERENCES: usize = 16;

/// Whether a schema allows strings and other values, as far as its own `type`, `enum` or `const` tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kinds {
    /// All values.
    All,
    /// Strings alone.
    Strings,
    /// No strings.
    Others,
    /// No value.
    None,
    /// Perhaps strings, perhaps others.
    Some,
}

/// The types beside `string` that parsers take a value to have: those that its schema names, and those of the values that it lists.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct OtherTypes {
    pub(super) null: bool,
    pub(super) boolean: bool,
    pub(super) integer: bool,
    pub(super) number: bool,
    /// Arrays or objects.
    pub(super) container: bool,
}

impl OtherTypes {
    const ALL: Self = Self {
        null: true,
        boolean: true,
        integer: true,
        number: true,
        container: true,
    };

    /// Adds the type of a name.
    fn add(&mut self, name: &str) {
        match name {
            "null" => self.null = true,
            "boolean" => self.boolean = true,
            "integer" => self.integer = true,
            "number" => self.number = true,
            "array" | "object" => self.container = true,
            _ => {}
        }
    }
}

/// The schema of the values of a parameter.
pub(super) struct ValueSchema {
    pub(super) kinds: Kinds,
    pub(super) other_types: OtherTypes,
    /// The text of the schema.
    pub(super) text: String,
    /// All strings that the schema may allow, where it lists them.
    pub(super) strings: Option<Vec<String>>,
    /// Whether the values may have texts in them: no if they are of other types by their own `type`.
    pub(super) may_have_texts: bool,
    /// The document to which the schema refers.
    pub(super) arguments: Option<Arc<str>>,
}

/// An object of arguments within the document of its schema.
pub(super) struct Arguments {
    pub(super) document: Document,
    text: Arc<str>,
    /// The schema that lists the parameters.
    pub(super) root: NodeIndex,
    /// JSON Pointer of the document in the structural tag.
    place: String,
}

impl Arguments {
    /// Reads the text of the schema; `place` is its JSON Pointer in the structural tag.
    pub(super) fn read(text: String, limits: &Limits, place: String) -> Result<Self, CompileError> {
        let document = Document::parse(&text, limits).map_err(|error| CompileError::from(error).within(&place))?;
        let mut arguments = Self {
            document,
            text: text.into(),
            root: 0,
            place,
        };
        arguments.follow_references()?;
        Ok(arguments)
    }

    pub(super) fn error(&self, kind: CompileErrorKind, at: NodeIndex, message: impl Into<String>) -> CompileError {
        CompileError::new(kind, message).at(self.place_of(at))
    }

    /// JSON Pointer of a value of the document in the structural tag.
    pub(super) fn place_of(&self, at: NodeIndex) -> String {
        format!("{}{}", self.place, self.document.pointer(at))
    }

    pub(super) fn malformed(&self, at: NodeIndex, message: impl Into<String>) -> CompileError {
        self.error(CompileErrorKind::Malformed, at, message)
    }

    pub(super) fn unsupported(&self, at: NodeIndex, message: impl Into<String>) -> CompileError {
        self.error(CompileErrorKind::Unsupported, at, message)
    }

    pub(super) fn member(&self, name: &str) -> Option<NodeIndex> {
        self.document.member(self.root, name)
    }

    /// Goes on to the schema that `$ref` names, as long as there is one.
    fn follow_references(&mut self) -> Result<(), CompileError> {
        for _ in 0..MAX_REFERENCES {
            let Some(reference) = self.member("$ref") else {
                return Ok(());
            };
            let found = self.target(reference);
            let beside = self.document.members(self.root).any(|(name, _)| !matters_not(name));
            match found {
                Some(found) if !beside => self.root = found,
                _ => {
                    let message = "the object of arguments of a call in this style refers to a schema by a JSON Pointer, and to nothing else";
                    return Err(self.unsupported(reference, message));
                }
            }
        }
        Err(self.unsupported(self.root, "more references, one after the other, than are followed"))
    }

    /// The schema that a reference leads to by a JSON Pointer.
    fn target(&self, reference: NodeIndex) -> Option<NodeIndex> {
        let target = self.document.string(reference)?.strip_prefix('#')?;
        let pointer = decoded_fragment(target);
        let mut steps = pointer.split('/').skip(1).map(unescaped_token);
        let is_pointer = pointer.is_empty() || pointer.starts_with('/');
        is_pointer.then(|| steps.try_fold(0, |node, name| self.document.member(node, &name)))?
    }

    /// The types beside `string` that parsers take the values of a schema to have.
    fn other_types(&self, schema: NodeIndex) -> OtherTypes {
        let document = &self.document;
        let (mut types, mut open, mut seen) = (OtherTypes::default(), vec![schema], HashSet::new());
        while let Some(schema) = open.pop() {
            if !seen.insert(schema) {
                continue;
            }
            let items = |word| {
                let list = document.member(schema, word).into_iter();
                list.flat_map(|list| document.items(list))
            };
            for name in items("type").chain(document.member(schema, "type")) {
                types.add(document.string(name).unwrap_or_default());
            }
            for value in items("enum").chain(document.member(schema, "const")) {
                match document.content(value) {
                    Content::Null => types.null = true,
                    Content::Bool(_) => types.boolean = true,
                    Content::Number(_) => types.number = true,
                    Content::String(_) => {}
                    Content::Array(_) | Content::Object(_) => types.container = true,
                }
            }
            open.extend(["anyOf", "oneOf", "allOf"].into_iter().flat_map(items));
            if let Some(reference) = document.member(schema, "$ref") {
                match self.target(reference) {
                    Some(target) => open.push(target),
                    None => return OtherTypes::ALL,
                }
            }
        }
        types
    }

    /// The schema of the values of a parameter, which stands at a JSON Pointer in the structural tag.
    pub(super) fn value(&self, schema: Option<NodeIndex>, place: &str) -> ValueSchema {
        let all = |kinds, text: &str| ValueSchema {
            kinds,
            other_types: OtherTypes::default(),
            text: text.to_owned(),
            strings: None,
            may_have_texts: true,
            arguments: None,
        };
        let Some(schema) = schema else {
            return all(Kinds::All, "true");
        };
        match self.document.content(schema) {
            Content::Bool(true) => return all(Kinds::All, "true"),
            Content::Bool(false) => return all(Kinds::None, "false"),
            _ => {}
        }
        let kinds = self.kinds(schema);
        let strings = self.listed_strings(schema);
        let other_types = match kinds {
            Kinds::Some => self.other_types(schema),
            _ => OtherTypes::default(),
        };
        let may_have_texts = self.may_have_texts(schema);
        let text = self.document.compact(schema, usize::MAX).unwrap_or_default();
        // A schema without references is shared by all tools that have it.
        if self.member("$schema").is_none() && self.document.member(0, "$schema").is_none() && !text.contains("\"$") {
            return ValueSchema {
                kinds,
                other_types,
                text: self.without_annotations(schema).unwrap_or(text),
                strings,
                may_have_texts,
                arguments: None,
            };
        }
        let mut text = r#"{"$ref": "#.to_owned();
        let pointer = utf8_percent_encode(&place[self.place.len()..], ESCAPED);
        push_string(&mut text, &format!("{ARGUMENTS}#{pointer}"));
        text.push('}');
        ValueSchema {
            kinds,
            other_types,
            text,
            strings,
            may_have_texts,
            arguments: Some(self.text.clone()),
        }
    }

    /// The strings among the values that a schema lists.
    fn listed_strings(&self, schema: NodeIndex) -> Option<Vec<String>> {
        let list = match self.document.member(schema, "enum") {
            Some(list) => self.document.items(list).collect(),
            None => vec![self.document.member(schema, "const")?],
        };
        let strings = list.into_iter().filter_map(|value| self.document.string(value));
        Some(strings.map(str::to_owned).collect())
    }

    fn without_annotations(&self, schema: NodeIndex) -> Option<String> {
        if !self.document.is_object(schema) {
            return None;
        }
        let mut text = "{".to_owned();
        for (name, value) in self
            .document
            .members(schema)
            .filter(|(name, _)| !ANNOTATIONS.contains(name))
        {
            if text.len() > 1 {
                text.push_str(", ");
            }
            push_string(&mut text, name);
            text.push_str(": ");
            text.push_str(&self.document.compact(value, usize::MAX)?);
        }
        text.push('}');
        Some(text)
    }

    /// Whether values may be strings, arrays or objects, as far as a schema's own `type` tells.
    fn may_have_texts(&self, schema: NodeIndex) -> bool {
        let document = &self.document;
        let has_none = |name| {
            let name = document.string(name);
            name.is_some_and(|name| matches!(name, "null" | "boolean" | "integer" | "number"))
        };
        match document.member(schema, "type") {
            Some(types) if matches!(document.content(types), Content::Array(_)) => !document.items(types).all(has_none),
            Some(name) => !has_none(name),
            None => true,
        }
    }

    fn kinds(&self, schema: NodeIndex) -> Kinds {
        let document = &self.document;
        let of = |are_strings: &mut dyn Iterator<Item = bool>| {
            let (mut strings, mut others) = (false, false);
            are_strings.for_each(|is_string| *(if is_string { &mut strings } else { &mut others }) = true);
            match (strings, others) {
                (true, false) => Kinds::Strings,
                (false, _) => Kinds::Others,
                (true, true) => Kinds::Some,
            }
        };
        let is_string = |value| document.string(value).is_some();
        let is_type = |name: &str| name == "string";
        if document.is_object(schema) && document.members(schema).all(|(name, _)| ANNOTATIONS.contains(&name)) {
            return Kinds::All;
        }
        if let Some(types) = document.member(schema, "type") {
            return match document.content(types) {
                Content::String(name) => of(&mut std::iter::once(is_type(name))),
                Content::Array(_) => of(&mut document
                    .items(types)
                    .map(|name| document.string(name).is_some_and(is_type))),
                _ => Kinds::Some,
            };
        }
        if let Some(list) = document.member(schema, "enum")
            && matches!(document.content(list), Content::Array(_))
        {
            return of(&mut document.items(list).map(is_string));
        }
        match document.member(schema, "const") {
            Some(value) => of(&mut std::iter::once(is_string(value))),
            None => Kinds::Some,
        }
    }
}

/// Whether a keyword beside a `$ref` does not matter to the parameters.
fn matters_not(name: &str) -> bool {
    ANNOTATIONS.contains(&name) || matches!(name, "$ref" | "$schema" | "$id" | "$defs" | "definitions")
}

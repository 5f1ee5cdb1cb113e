//! The subschemas that apply to a value, as far as they are found without evaluating the schema.
//!
//! These subschemas advise the writer which names and strings are usual at its position. The mask alone says what is allowed: where a subschema is
//! missed here, or belongs to a branch that the document does not take, documents are less usual and no less valid.

use std::collections::HashSet;

use serde_json::Value;

/// Subschemas that are looked at for one value.
const MAX_SUBSCHEMAS: usize = 200;
/// Bytes of the longest string of a schema that counts as a name or value.
const LONGEST_STRING: usize = 200;

/// The subschemas that apply to one value.
#[derive(Clone, Debug, Default)]
pub(super) struct Guide<'s> {
    subschemas: Vec<&'s Value>,
}

impl<'s> Guide<'s> {
    /// The guide of a whole document under the part of a schema that a JSON Pointer, with or without `#`, leads to.
    pub(super) fn root(schema: &'s Value, pointer: &str) -> Self {
        let root = schema.pointer(pointer.strip_prefix('#').unwrap_or(pointer));
        Self::of(schema, root.into_iter())
    }

    /// The subschemas `from`, and those that they apply to the same value.
    fn of(schema: &'s Value, from: impl Iterator<Item = &'s Value>) -> Self {
        let mut subschemas: Vec<&Value> = Vec::new();
        let mut left: Vec<&Value> = from.collect();
        left.reverse();
        while let Some(subschema) = left.pop() {
            let is_known = subschemas.iter().any(|known| std::ptr::eq(*known, subschema));
            if is_known || subschemas.len() >= MAX_SUBSCHEMAS {
                continue;
            }
            subschemas.push(subschema);
            let mut applied: Vec<&Value> = Vec::new();
            let target = subschema.get("$ref").and_then(Value::as_str);
            applied.extend(target.and_then(|target| schema.pointer(target.strip_prefix('#')?)));
            for keyword in ["allOf", "anyOf", "oneOf"] {
                applied.extend(subschema.get(keyword).and_then(Value::as_array).into_iter().flatten());
            }
            for keyword in ["then", "else"] {
                applied.extend(subschema.get(keyword));
            }
            left.extend(applied.into_iter().rev());
        }
        Self { subschemas }
    }

    /// The guide of a member.
    pub(super) fn member(&self, schema: &'s Value, name: &str) -> Self {
        let under = |subschema: &&'s Value| {
            let declared = subschema.get("properties").and_then(|declared| declared.get(name));
            declared.or_else(|| subschema.get("additionalProperties"))
        };
        Self::of(schema, self.subschemas.iter().filter_map(under))
    }

    /// The guide of an item.
    pub(super) fn item(&self, schema: &'s Value, position: usize) -> Self {
        let under = |subschema: &&'s Value| {
            let listed = subschema.get("prefixItems").or_else(|| subschema.get("items"));
            let listed = listed.filter(|items| items.is_array());
            let listed = listed.and_then(|items| items.get(position));
            listed.or_else(|| subschema.get("items").filter(|items| items.is_object()))
        };
        Self::of(schema, self.subschemas.iter().filter_map(under))
    }

    /// The names that are declared for an object, in the order of the schema, each once.
    pub(super) fn names(&self) -> Vec<&'s str> {
        let mut names: Vec<&str> = Vec::new();
        let mut known = HashSet::new();
        let of = |subschema: &&'s Value| subschema.get("properties").and_then(Value::as_object);
        let declared = self.subschemas.iter().filter_map(of);
        let declared = declared.flat_map(|declared| declared.keys());
        for name in declared.chain(self.listed("required")) {
            if known.insert(name.as_str()) {
                names.push(name);
            }
        }
        names
    }

    /// Whether some subschema demands a member of this name.
    pub(super) fn requires(&self, name: &str) -> bool {
        self.listed("required").any(|required| required == name)
    }

    fn listed<'g>(&'g self, keyword: &'g str) -> impl Iterator<Item = &'s String> + use<'s, 'g> {
        let of = move |subschema: &&'s Value| subschema.get(keyword).and_then(Value::as_array);
        let lists = self.subschemas.iter().filter_map(of).flatten();
        lists.filter_map(|name| match name {
            Value::String(name) => Some(name),
            _ => None,
        })
    }

    /// The strings that subschemas list as values.
    pub(super) fn values(&self) -> Vec<&'s str> {
        let listed = self.listed("enum").map(String::as_str);
        listed.chain(self.single("const")).collect()
    }

    /// The strings that subschemas give as examples.
    pub(super) fn examples(&self) -> Vec<&'s str> {
        let listed = self.listed("examples").map(String::as_str);
        listed
            .chain(self.single("example"))
            .chain(self.single("default"))
            .collect()
    }

    /// The strings that keywords have as their value.
    fn single<'g>(&'g self, keyword: &'g str) -> impl Iterator<Item = &'s str> + use<'s, 'g> {
        let values = self
            .subschemas
            .iter()
            .filter_map(move |subschema| subschema.get(keyword));
        values.filter_map(Value::as_str)
    }

    /// The formats that subschemas name.
    pub(super) fn formats(&self) -> Vec<&'s str> {
        let formats = self.subschemas.iter().filter_map(|subschema| subschema.get("format"));
        formats.filter_map(Value::as_str).collect()
    }
}

/// The strings in a schema that can be names or values of its documents, each once.
pub(super) fn strings_of(schema: &Value, most: usize) -> Vec<String> {
    let mut known = HashSet::new();
    let mut strings = Vec::new();
    let mut left = vec![schema];
    while let Some(value) = left.pop() {
        let mut found: Vec<&str> = Vec::new();
        match value {
            Value::String(text) => found.push(text),
            Value::Array(items) => left.extend(items.iter().rev()),
            Value::Object(members) => {
                found.extend(members.keys().map(String::as_str));
                left.extend(members.values().rev());
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
        for text in found {
            if strings.len() < most && text.len() <= LONGEST_STRING && known.insert(text) {
                strings.push(text.to_owned());
            }
        }
    }
    strings
}

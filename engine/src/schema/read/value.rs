//! `type`, `const`, `enum`.

use hashbrown::HashSet;

use crate::json::{Content, NodeIndex, Value};

use super::{KeywordReader, Member, ReadResult};
use crate::schema::keywords::TypeSet;

/// The type that a name stands for in other languages, and in other letters.
pub(super) fn meant_type(name: &str) -> Option<&'static str> {
    Some(match &*name.to_ascii_lowercase() {
        "string" | "str" | "text" | "char" | "varchar" | "date" | "datetime" | "date-time" | "time" | "uuid"
        | "email" | "uri" | "url" => "string",
        "integer" | "int" | "int32" | "int64" | "long" => "integer",
        "number" | "float" | "double" | "decimal" | "num" => "number",
        "boolean" | "bool" => "boolean",
        "array" | "list" | "tuple" | "set" => "array",
        "object" | "dict" | "map" | "record" | "struct" => "object",
        "null" | "none" | "nil" | "nul" | "undefined" => "null",
        _ => return None,
    })
}

impl KeywordReader<'_, '_> {
    /// The value of `type`.
    pub(super) fn types(&self, member: Member<'_>) -> ReadResult<TypeSet> {
        match self.json.content(member.value) {
            Content::String(_) => self.type_at(member, member.value),
            Content::Array(_) => self
                .json
                .items(member.value)
                .try_fold(TypeSet::default(), |types, item| {
                    Ok(types.union(self.type_at(member, item)?))
                }),
            _ => Err(self.wrong_type(member, "a string or an array of strings")),
        }
    }

    fn type_at(&self, member: Member<'_>, index: NodeIndex) -> ReadResult<TypeSet> {
        let name = self.json.string(index);
        name.and_then(|name| TypeSet::from_name(name, self.draft()))
            .ok_or_else(|| {
                let found = match name {
                    Some(name) => format!("{name:?}"),
                    None => self.json.content(index).describe().to_owned(),
                };
                let types = "\"null\", \"boolean\", \"integer\", \"number\", \"string\", \"array\", \"object\"";
                let meant = name.and_then(meant_type);
                let meant = meant.map_or_else(String::new, |meant| format!(" (did you mean {meant:?}?)"));
                self.malformed(member, format!("{found} is no type{meant}: the types are {types}"))
            })
    }

    pub(super) fn read_const(&mut self, member: Member<'_>) -> ReadResult {
        let value = self.value_at(member, member.value)?;
        self.restrict(vec![value]);
        Ok(())
    }

    pub(super) fn read_enum(&mut self, member: Member<'_>) -> ReadResult {
        if !matches!(self.json.content(member.value), Content::Array(_)) {
            return Err(self.wrong_type(member, "an array"));
        }
        let items = self.json.items(member.value);
        let mut values = Vec::with_capacity(items.clone().count());
        for item in items {
            values.push(self.value_at(member, item)?);
        }
        let mut seen = HashSet::with_capacity(values.len());
        let is_first: Vec<bool> = values.iter().map(|value| seen.insert(value)).collect();
        drop(seen);
        let mut is_first = is_first.into_iter();
        values.retain(|_| is_first.next().unwrap_or(true));
        self.restrict(values);
        Ok(())
    }

    fn value_at(&self, member: Member<'_>, index: NodeIndex) -> ReadResult<Value> {
        Value::new(&self.json, index).map_err(|number| match self.json.content(number) {
            Content::Number(text) => self.exponent_too_large(member, text),
            _ => self.wrong_type(member, "a value"),
        })
    }

    /// Admits only values that are in `values` and were admitted before: `const` and `enum` may stand side by side.
    fn restrict(&mut self, values: Vec<Value>) {
        self.keywords.values = Some(match self.keywords.values.take() {
            None => values,
            Some(mut before) => {
                let admitted: HashSet<Value> = values.into_iter().collect();
                before.retain(|value| admitted.contains(value));
                before
            }
        });
    }
}

//! Reads the schema of a call's arguments as [`Parameters`].

use hashbrown::HashSet;

use crate::json::{Content, NodeIndex, push_string, push_token};
use crate::{CompileError, CompileErrorKind};

use super::super::format::{ContentId, ContentSource, FoundContent};
use super::super::literal::Literal;
use super::super::parse::Parser;
use super::arguments::{Arguments, Kinds, OtherTypes, ValueSchema};
use super::styles::{ParameterStyle, Way, WrittenValues};
use super::{Form, Parameter, Parameters};

/// Keywords beside which parameters are not independent of each other, or not known from `properties`.
const REFUSED: [&str; 21] = [
    "allOf",
    "anyOf",
    "oneOf",
    "not",
    "if",
    "then",
    "else",
    "const",
    "enum",
    "dependencies",
    "dependentRequired",
    "dependentSchemas",
    "patternProperties",
    "propertyNames",
    "minProperties",
    "maxProperties",
    "unevaluatedProperties",
    "disallow",
    "extends",
    "$dynamicRef",
    "$recursiveRef",
];

/// Bytes of memory that a byte of a schema takes where it is read, roughly: each value takes 16 bytes beside its text.
const MEMORY_OF_BYTE: usize = 8;

/// Returns expressions of the texts that parsers take for a value of some types, or a superset of these texts. Parsers try other types before
/// strings, and read any JSON where arrays or objects are allowed.
fn texts_of_types(types: OtherTypes) -> Vec<&'static str> {
    let mut texts = Vec::new();
    if types.null {
        texts.push("^[nN][uU][lL][lL]$");
    }
    if types.boolean {
        texts.push(r"^\s*([tT][rR][uU][eE]|[fF][aA][lL][sS][eE]|[01])\s*$");
    }
    // Python reads underscores between digits.
    if types.integer || types.number {
        texts.push(r"^\s*[-+]?[0-9_]+\s*$");
    }
    if types.number {
        texts.push(r"^\s*[-+]?([0-9_]+\.?[0-9_]*|\.[0-9_]+)([eE][-+]?[0-9_]+)?\s*$");
    }
    if types.container {
        texts.extend([
            r"^\s*\[[\s\S]*\]\s*$",
            r"^\s*\{[\s\S]*\}\s*$",
            r#"^\s*"([^"\\]|\\[\s\S])*"\s*$"#,
            r"^\s*(null|true|false|-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?)\s*$",
        ]);
    }
    texts
}

/// Returns the schema of those strings among some values that a [`Way`] can write.
fn schema_of_strings(value: &ValueSchema, style: &ParameterStyle, way: &Way) -> String {
    // No mark has a character with a meaning in expressions.
    let mut refused = style.never_in_values.join("|");
    if way.loses_line_breaks {
        refused.push_str(r"|^\n|\n$");
    }
    if way.values == WrittenValues::All {
        for text in texts_of_types(value.other_types) {
            refused.push('|');
            refused.push_str(text);
        }
    }
    let mut schema = r#"{"type": "string", "allOf": ["#.to_owned();
    if value.kinds != Kinds::All {
        schema.push_str(&value.text);
        schema.push_str(", ");
    }
    schema.push_str(r#"{"not": {"pattern": "#);
    push_string(&mut schema, &refused);
    schema.push_str("}}]}");
    schema
}

impl Parser<'_> {
    /// The parameters of a call whose arguments have a schema.
    pub(in crate::reply::tags) fn parameters(
        &mut self,
        schema: NodeIndex,
        style: &'static ParameterStyle,
    ) -> Result<Parameters, CompileError> {
        let (text, place) = (self.schema_text(schema)?, self.members.document.pointer(schema));
        let arguments = Arguments::read(text, self.limits, place)?;
        self.parameters_of(&arguments, schema, style)
    }

    fn parameters_of(
        &mut self,
        arguments: &Arguments,
        at: NodeIndex,
        style: &'static ParameterStyle,
    ) -> Result<Parameters, CompileError> {
        let document = &arguments.document;
        let no_object = || {
            let message = "the arguments of a call are an object, which this schema does not allow";
            arguments.error(CompileErrorKind::Unsatisfiable, arguments.root, message)
        };
        match document.content(arguments.root) {
            Content::Bool(true) | Content::Object(_) => {}
            Content::Bool(false) => return Err(no_object()),
            other => {
                let message = format!("a schema is needed here, not {}", other.describe());
                return Err(arguments.malformed(arguments.root, message));
            }
        }
        let is_object = |name: NodeIndex| document.string(name) == Some("object");
        if let Some(types) = arguments.member("type") {
            if !matches!(document.content(types), Content::String(_) | Content::Array(_)) {
                return Err(arguments.malformed(types, "`type` is the name of a type or an array of such names"));
            }
            if !is_object(types) && !document.items(types).any(is_object) {
                return Err(no_object());
            }
        }
        if let Some((name, keyword)) = document
            .members(arguments.root)
            .find(|(name, _)| REFUSED.contains(name))
        {
            let message = format!(
                "`{name}` on the object of arguments is not treated in the style `{}`: the parameters are those of `properties`, `required` and \
                 `additionalProperties`",
                style.name
            );
            return Err(arguments.unsupported(keyword, message));
        }
        // Names, each with the schema of its values and the JSON Pointer of that in the structural tag.
        let mut declared: Vec<(&str, Option<NodeIndex>, String)> = Vec::new();
        if let Some(properties) = arguments.member("properties") {
            if !document.is_object(properties) {
                return Err(arguments.malformed(properties, "`properties` is an object"));
            }
            let around = arguments.place_of(properties);
            declared.extend(document.members(properties).map(|(name, schema)| {
                let mut place = around.clone();
                push_token(&mut place, name);
                (name, Some(schema), place)
            }));
        }
        let mut required: HashSet<&str> = HashSet::new();
        let further = arguments.member("additionalProperties");
        let further_place = arguments.place_of(further.unwrap_or(arguments.root));
        if let Some(names) = arguments.member("required") {
            if !matches!(document.content(names), Content::Array(_)) {
                return Err(arguments.malformed(names, "`required` is an array of names"));
            }
            let mut known: HashSet<&str> = declared.iter().map(|(name, ..)| *name).collect();
            for name in document.items(names) {
                let name = document
                    .string(name)
                    .ok_or_else(|| arguments.malformed(name, "a name is needed here"))?;
                required.insert(name);
                if known.insert(name) {
                    declared.push((name, further, further_place.clone()));
                }
            }
        }
        let mut parameters = Parameters {
            declared: Vec::new(),
            others: Vec::new(),
        };
        let members = self.members;
        for (name, schema, place) in &declared {
            if name.is_empty()
                || name
                    .chars()
                    .any(|character| character.is_control() || "<>\"".contains(character))
            {
                let message = format!("the name {name:?} cannot be written in the style `{}`", style.name);
                return Err(arguments.unsupported(schema.unwrap_or(arguments.root), message));
            }
            let value = arguments.value(*schema, place);
            let literal = |text: &str| members.literal(text, at).map_err(|error| error.at(place));
            let mut forms = Vec::new();
            for way in style.ways {
                for content in self.contents_of(&value, style, way, place)? {
                    forms.push(Form {
                        before: literal(&format!("{}{name}{}", style.open, way.before))?,
                        parts: vec![(content, literal(way.after)?)],
                    });
                }
            }
            parameters.declared.push(Parameter {
                forms,
                is_required: required.contains(name),
                place: place.clone(),
            });
        }
        let is_closed = match further {
            None => self.is_closed,
            Some(further) => document.content(further) == Content::Bool(false),
        };
        if !is_closed {
            let names: Vec<&str> = declared.iter().map(|(name, ..)| *name).collect();
            let value = arguments.value(further, &further_place);
            parameters.others = self.others(&value, &names, style, (at, further_place.as_str()))?;
        }
        Ok(parameters)
    }

    /// Returns the forms of a parameter that is not declared, of arguments at a node, with values whose schema stands at a JSON Pointer.
    fn others(
        &mut self,
        value: &ValueSchema,
        declared: &[&str],
        style: &'static ParameterStyle,
        (at, place): (NodeIndex, &str),
    ) -> Result<Vec<Form>, CompileError> {
        // This expression means the same in all dialects; `$` holds before a line break in some.
        let mut schema =
            r#"{"type": "string", "minLength": 1, "allOf": [{"not": {"pattern": "^[0-9]|[^A-Za-z0-9_]"}}]"#.to_owned();
        if !declared.is_empty() {
            schema.push_str(r#", "not": {"enum": ["#);
            for (number, name) in declared.iter().enumerate() {
                if number > 0 {
                    schema.push(',');
                }
                push_string(&mut schema, name);
            }
            schema.push_str("]}");
        }
        schema.push('}');
        let source = ContentSource::Text {
            schema,
            arguments: None,
            never: style.never_in_names,
            excluded: declared.iter().map(|name| (*name).to_owned()).collect(),
        };
        let name = self.content(FoundContent {
            source,
            place: place.to_owned(),
            is_verbatim: false,
            is_needed: true,
        })?;
        let mut forms = Vec::new();
        for way in style.ways {
            for content in self.contents_of(value, style, way, place)? {
                let (before, after): (Literal, Literal) = (
                    self.members.literal(way.before, at)?,
                    self.members.literal(way.after, at)?,
                );
                forms.push(Form {
                    before: self.members.literal(style.open, at)?,
                    parts: vec![(name, before), (content, after)],
                });
            }
        }
        Ok(forms)
    }

    /// Returns the contents that a value, whose schema stands at a JSON Pointer, has when it is written in a [`Way`].
    ///
    /// # Errors
    ///
    /// [`CompileErrorKind::LimitExceeded`] where there are too many contents, or too many refer to the schema of all arguments: each reads that anew.
    fn contents_of(
        &mut self,
        value: &ValueSchema,
        style: &'static ParameterStyle,
        way: &Way,
        place: &str,
    ) -> Result<Vec<ContentId>, CompileError> {
        let mut contents = Vec::new();
        let mut add = |source, is_verbatim| {
            let found = FoundContent {
                source,
                place: place.to_owned(),
                is_verbatim: is_verbatim && value.arguments.is_none(),
                is_needed: false,
            };
            contents.push(self.content(found)?);
            Ok::<_, CompileError>(())
        };
        let has_strings = matches!(value.kinds, Kinds::All | Kinds::Strings | Kinds::Some);
        if has_strings && way.values != WrittenValues::Others {
            let can_be_written = |text: &String| {
                let has_break = way.loses_line_breaks && (text.starts_with('\n') || text.ends_with('\n'));
                let has_mark = style.never_in_values.iter().any(|mark| text.contains(mark));
                !has_break && !has_mark
            };
            let strings = value.strings.as_ref();
            let may_be_others = way.values == WrittenValues::All && value.kinds == Kinds::Some;
            let is_verbatim = !may_be_others && strings.is_some_and(|strings| strings.iter().all(can_be_written));
            let schema = match is_verbatim {
                true => value.text.clone(),
                false => schema_of_strings(value, style, way),
            };
            let source = ContentSource::Text {
                schema,
                arguments: value.arguments.clone(),
                never: style.never_in_values,
                excluded: Vec::new(),
            };
            add(source, is_verbatim)?;
        }
        let has_others = match value.kinds {
            // As a string, any text that is JSON is one of these values.
            Kinds::All => way.values == WrittenValues::Others,
            Kinds::Others | Kinds::Some => way.values != WrittenValues::Strings,
            Kinds::Strings | Kinds::None => false,
        };
        if has_others {
            let is_verbatim = value.kinds == Kinds::Others;
            let schema = match is_verbatim {
                true => value.text.clone(),
                false => {
                    let types = r#""type": ["null", "boolean", "number", "array", "object"]"#;
                    format!(r#"{{{types}, "allOf": [{}]}}"#, value.text)
                }
            };
            let source = ContentSource::Json {
                schema,
                any_order: false,
                arguments: value.arguments.clone(),
                never: match value.may_have_texts {
                    true => style.never_in_values,
                    false => &[],
                },
            };
            add(source, is_verbatim)?;
        }
        if let Some(text) = &value.arguments {
            // 200 parameters that refer to a schema of 300 KB, each in four forms, are within the limit's default.
            let bytes = text.len().saturating_mul(contents.len());
            self.referred_bytes = self.referred_bytes.saturating_add(bytes);
            let allowed = self.limits.memory_bytes / MEMORY_OF_BYTE;
            if self.referred_bytes > allowed {
                let message = format!(
                    "parameters refer to the schema of all arguments, which is read anew for each form of their values, in all more than \
                     {allowed} bytes (the limit `memory_bytes` divided by {MEMORY_OF_BYTE}): write their schemas out"
                );
                return Err(CompileError::new(CompileErrorKind::LimitExceeded, message).at(place));
            }
        }
        Ok(contents)
    }
}

//! What a caller asks about a schema.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::expect::expected;
use super::json_position::{JsonPosition, Phase, line_and_column};
use super::messages::{Cause, Conflict, Forbidden, KeywordLocation, UnsatisfiablePart};
use super::minimal_conflict::{ConflictSearch, Excluded, excludes, state_after};
use crate::automaton::{Automaton, AutomatonError};
use crate::schema::{Body, Keywords, NodeId, SchemaSet};
use crate::strings::Languages;
use crate::{CompileError, Draft, ExactOptions, Formats, Style};

/// Most parts of one schema whose conflicts are looked for: each may take a second.
const MAX_EXPLAINED_PARTS: usize = 100;

/// Explains what one schema admits and what not.
#[derive(Debug)]
pub struct Explainer {
    pub(super) set: Arc<SchemaSet>,
    formats: Formats,
    /// Any text of JSON.
    any: Automaton,
    /// Texts in a style, where it is not any.
    styled: Option<Automaton>,
}

impl Explainer {
    /// Reads a schema.
    ///
    /// # Errors
    ///
    /// [`CompileError`] where the text is no schema. What the exact compiler cannot treat is for
    /// [`refused`](Self::refused) to say.
    pub fn new(schema: &str, options: &ExactOptions) -> Result<Self, CompileError> {
        let set = Arc::new(SchemaSet::load(schema, &options.schema)?);
        let automaton = |style| {
            let languages = Languages::within(set.limits());
            Automaton::lazy(languages, set.clone(), options.formats, style)
        };
        Ok(Self {
            any: automaton(Style::rfc8259()),
            styled: (options.style != Style::rfc8259()).then(|| automaton(options.style)),
            formats: options.formats,
            set,
        })
    }

    /// The draft by which the schema is read.
    pub fn draft(&self) -> Draft {
        self.set.draft()
    }

    /// Number of subschemas that can be reached, with references followed.
    pub fn subschemas(&self) -> usize {
        self.set.len()
    }

    /// Everything that the exact compiler refuses.
    pub fn refused(&mut self) -> Vec<CompileError> {
        let mut refused = Vec::new();
        for (node, _) in self.set.clone().nodes() {
            if let Err(error) = self.any.expand_node(node)
                && !refused.contains(&error)
            {
                refused.push(error);
            }
        }
        refused
    }

    /// Why no value is valid; none where one is.
    ///
    /// # Errors
    ///
    /// [`CompileError`], where something cannot be treated or a limit is reached.
    pub fn conflict(&mut self) -> Result<Option<Conflict>, CompileError> {
        let root = self.set.root();
        let has_value = self.any.has_value(root)?;
        Ok((!has_value).then(|| conflict_of(&self.set, root, self.formats)))
    }

    /// The subschemas that no value satisfies, but for those that are `false`, in the order of their locations.
    ///
    /// # Errors
    ///
    /// [`CompileError`], where something cannot be treated or a limit is reached.
    pub fn unsatisfiable_parts(&mut self) -> Result<Vec<UnsatisfiablePart>, CompileError> {
        let set = self.set.clone();
        let mut parts = BTreeMap::new();
        for (node, subschema) in set.nodes() {
            let is_false = match &subschema.body {
                Body::Anything => continue,
                Body::Nothing => true,
                Body::Keywords(keywords) => is_not_anything(&set, keywords),
            };
            if node == set.root() || is_false || self.any.has_value(node)? {
                continue;
            }
            let location = KeywordLocation {
                document: set.uri(subschema.location).map(str::to_owned),
                pointer: set.pointer(subschema.location),
            };
            parts.entry(location).or_insert(node);
        }
        let explained = parts
            .into_iter()
            .enumerate()
            .map(|(index, (subschema, node))| UnsatisfiablePart {
                subschema,
                conflict: match index < MAX_EXPLAINED_PARTS {
                    true => conflict_of(&set, node, self.formats),
                    false => Conflict::default(),
                },
            });
        Ok(explained.collect())
    }

    /// Where a document leaves the schema; none where it is valid, and in the style of the options.
    ///
    /// # Errors
    ///
    /// [`CompileError`], where something cannot be treated or a limit is reached.
    pub fn forbidden(&mut self, text: &[u8]) -> Result<Option<Forbidden>, CompileError> {
        let root = self.set.root();
        let automaton = self.styled.as_mut().unwrap_or(&mut self.any);
        let Some(offset) = first_forbidden(automaton, root, text)? else {
            return Ok(None);
        };
        let (before, byte) = (&text[..offset], text.get(offset).copied());
        let excluded = match byte {
            Some(byte) => Excluded::Byte(before, byte),
            None => Excluded::End(before),
        };
        let position = JsonPosition::after(before);
        let by_style = self.styled.is_some() && !excludes(&mut self.any, root, excluded)?;
        let cause = if by_style {
            Cause::Style
        } else {
            let mut search = ConflictSearch::new(&self.set, root, self.formats, excluded);
            match search.is_excluded_by_none() {
                true => match position.repeated_name(before, byte) {
                    Some(name) => Cause::RepeatedName(name),
                    None => Cause::Syntax,
                },
                false => {
                    let (conflict, remedy) = search.conflict_and_remedy();
                    Cause::Keywords { conflict, remedy }
                }
            }
        };
        let (line, column) = line_and_column(text, offset);
        let automaton = self.styled.as_mut().unwrap_or(&mut self.any);
        let (mut around, mut listed) = (false, Vec::new());
        if let Some(at) = state_after(automaton, root, before)? {
            // A number does not say where it ends: where it may, what follows belongs to the object or array.
            around = byte == Some(b']') && position.phase == Phase::Value
                || position.phase == Phase::Number && byte.is_some() && automaton.step(at, b' ')?.is_some();
            listed = expected(automaton, at, &position, before)?;
        }
        Ok(Some(Forbidden {
            offset,
            line,
            column,
            byte,
            pointer: position.pointer(around),
            cause,
            expected: listed,
        }))
    }
}

/// Why no value satisfies the root of a schema that has none.
pub(crate) fn unsatisfiable(set: &SchemaSet, formats: Formats) -> Conflict {
    conflict_of(set, set.root(), formats)
}

fn conflict_of(set: &SchemaSet, node: NodeId, formats: Formats) -> Conflict {
    ConflictSearch::new(set, node, formats, Excluded::Values).conflict()
}

/// Whether this is `{"not": {}}`, as draft 4 spells `false`.
fn is_not_anything(set: &SchemaSet, keywords: &Keywords) -> bool {
    let not = keywords.not.filter(|not| matches!(set.node(*not).body, Body::Anything));
    let only_not = || Keywords {
        not,
        ..Keywords::default()
    };
    not.is_some() && *keywords == only_not()
}

/// The number of bytes before the first that is forbidden; none where the document is valid.
fn first_forbidden(automaton: &mut Automaton, root: NodeId, text: &[u8]) -> Result<Option<usize>, AutomatonError> {
    let assertion = automaton.assertion_of(root);
    let Some(mut at) = automaton.start(assertion)? else {
        return Ok(Some(0));
    };
    for (offset, &byte) in text.iter().enumerate() {
        match automaton.step(at, byte)? {
            Some(next) => at = next,
            None => return Ok(Some(offset)),
        }
    }
    Ok((!automaton.is_complete(at)?).then_some(text.len()))
}

//! [`Explainer`]: the public interface of explanations.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use super::blame::BlameWalk;
use super::empty_parts::EmptyParts;
use super::expect::expected;
use super::json_position::{JsonPosition, Phase};
use super::keyword_notes;
use super::messages::{Cause, Conflict, Forbidden, KeywordLocation, UnsatisfiablePart};
use super::minimal_conflict::{ConflictSearch, Excluded, MAX_WORK, excludes, state_after};
use super::text_tree::TextTree;
use crate::automaton::{Automaton, AutomatonError, WrittenState};
use crate::schema::{Body, Keywords, NodeId, SchemaOptions, SchemaSet};
use crate::strings::Languages;
use crate::{CompileError, Draft, ExactOptions, Formats, Style};

/// Maximal number of errors, and of parts without a value, that are listed: who has a thousand needs no more to begin with.
const MAX_LISTED: usize = 1_000;

/// Explains which values one schema admits and which it excludes, and why.
#[derive(Debug)]
pub struct Explainer {
    pub(super) set: Arc<SchemaSet>,
    formats: Formats,
    style: Style,
    /// Any text of JSON.
    any: Automaton,
    /// Texts in a style, where it is not any.
    styled: Option<Automaton>,
    /// Work that the last explanation took, of [`MAX_WORK`].
    pub(super) work: usize,
}

impl Explainer {
    /// Reads a schema.
    ///
    /// # Errors
    ///
    /// [`CompileError`] where the text is no schema. [`refused`](Self::refused) lists the keywords that the exact compiler cannot
    /// treat.
    pub fn new(schema: &str, options: &ExactOptions) -> Result<Self, CompileError> {
        let set = Arc::new(SchemaSet::load(schema, &options.schema)?);
        let automaton = |style| {
            let languages = Languages::within(set.limits());
            Automaton::lazy(languages, set.clone(), options.formats, style)
        };
        Ok(Self {
            any: automaton(Style::rfc8259()),
            styled: (options.style != Style::rfc8259()).then(|| automaton(options.style)),
            style: options.style,
            formats: options.formats,
            set,
            work: 0,
        })
    }

    /// The style of the options.
    pub(super) fn style(&self) -> Style {
        self.style
    }

    /// An automaton of the schema in a style.
    pub(super) fn automaton(&self, style: Style) -> Automaton {
        Automaton::lazy(
            Languages::within(self.set.limits()),
            self.set.clone(),
            self.formats,
            style,
        )
    }

    /// The automaton of documents in the style, and that of all documents where this is another one.
    pub(super) fn styled_and_any(&mut self) -> (&mut Automaton, Option<&mut Automaton>) {
        match &mut self.styled {
            Some(styled) => (styled, Some(&mut self.any)),
            None => (&mut self.any, None),
        }
    }

    /// The draft by which the schema is read.
    pub fn draft(&self) -> Draft {
        self.set.draft()
    }

    /// Number of subschemas that can be reached, with references followed.
    pub fn subschemas(&self) -> usize {
        self.set.len()
    }

    /// Lists the errors of the subschemas that the exact compiler refuses, each once and 1,000 at most; empty where it refuses none.
    pub fn refused(&mut self) -> Vec<CompileError> {
        let (mut refused, mut listed) = (Vec::new(), HashSet::new());
        for (node, _) in self.set.clone().nodes() {
            if let Err(error) = self.any.expand_node(node)
                && listed.insert(error.clone())
            {
                refused.push(error);
                if refused.len() == MAX_LISTED {
                    break;
                }
            }
        }
        refused
    }

    /// Finds keywords that together leave the schema no value; none where some value is valid.
    ///
    /// # Errors
    ///
    /// [`CompileError`], where something cannot be treated or a limit is reached.
    pub fn conflict(&mut self) -> Result<Option<Conflict>, CompileError> {
        let root = self.set.root();
        let has_value = self.any.has_value(root)?;
        if has_value {
            return Ok(None);
        }
        let (conflict, spent) = conflict_of(&self.set, root, self.formats, MAX_WORK);
        self.work = spent;
        Ok(Some(conflict))
    }

    /// The subschemas that no value satisfies, but for those that are `false`, in the order of their locations; the first 1,000 that are
    /// found, where there are more.
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
            if parts.len() == MAX_LISTED {
                break;
            }
        }
        self.work = 0;
        let mut explained = Vec::new();
        for (subschema, node) in parts {
            // Each search has a schema of its own to take keywords out of.
            self.work += set.len();
            let mut conflict = Conflict::default();
            if self.work < MAX_WORK {
                let (found, spent) = conflict_of(&set, node, self.formats, MAX_WORK - self.work);
                self.work += spent;
                conflict = found;
            }
            explained.push(UnsatisfiablePart { subschema, conflict });
        }
        Ok(explained)
    }

    /// Finds the first byte at which a document leaves the schema; none where it is valid, and in the style of the options.
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
        let cause = self.cause(text, offset)?;
        let position = JsonPosition::after(before);
        let (line, column) = crate::json::line_and_column(text, offset);
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
            character: character_at(text, offset),
            pointer: position.pointer(around),
            cause,
            expected: listed,
        }))
    }

    /// Returns the cause for which a text is forbidden at a byte.
    fn cause(&mut self, text: &[u8], offset: usize) -> Result<Cause, CompileError> {
        let (before, byte) = (&text[..offset], text.get(offset).copied());
        let excluded = match byte {
            Some(byte) => Excluded::Byte(before, byte),
            None => Excluded::End(before),
        };
        if let Some(name) = TextTree::of(text, true).repeated_name(text, offset) {
            return Ok(Cause::RepeatedName(name.to_owned()));
        }
        let json = Arc::new(SchemaSet::load("true", &SchemaOptions::default())?);
        let root = json.root();
        let mut json = Automaton::lazy(Languages::within(json.limits()), json, self.formats, Style::rfc8259());
        if excludes(&mut json, root, excluded)? {
            return Ok(Cause::Syntax);
        }
        let root = self.set.root();
        if self.styled.is_some() && !excludes(&mut self.any, root, excluded)? {
            return Ok(Cause::Style);
        }
        let mut search = ConflictSearch::new(&self.set, root, self.formats, excluded, MAX_WORK);
        let cause = by_keywords(&mut search, self.formats, text, offset);
        self.work = search.spent();
        Ok(cause)
    }
}

/// The keywords that forbid a text at a byte.
fn by_keywords<'t>(search: &mut ConflictSearch<'t>, formats: Formats, text: &'t [u8], offset: usize) -> Cause {
    let root = search.root();
    let is_all = offset == text.len();
    let until = &text[..text.len().min(offset + 1)];
    let mut walk = BlameWalk::new(search, formats, until, is_all, text);
    let blame = walk.blame(root).or_else(|| walk.blame_together(root));
    let mut leading = Vec::new();
    if let Some(blame) = &blame {
        // Keywords that forbid the text independently of one another are all leading: each would have to go.
        leading = walk.independent(root, blame);
    }
    let texts = walk.into_texts();
    let is_minimal = (blame.as_ref()).is_some_and(|blame| blame.is_simple && search.is_minimal_union(&blame.keywords));
    let found = blame.as_ref().map(|blame| blame.keywords.clone());
    let Some((kept, minimal)) = search.conflict(found, is_minimal) else {
        return Cause::Keywords {
            conflict: Conflict::default(),
            remedy: Conflict::default(),
            leading: Vec::new(),
            other_branches: Vec::new(),
        };
    };
    let unions = blame.iter().flat_map(|blame| &blame.unions);
    let unions: Vec<(NodeId, NodeId)> = unions.map(|union| (union.node, union.branch)).collect();
    let remedy = search.remedy(&leading, &unions, &kept);
    let relaxable = search.relaxable();
    let mut conflict = keyword_notes::conflict(relaxable, &kept, minimal);
    let remedy = match remedy {
        Some(remedy) => keyword_notes::conflict(relaxable, &remedy, true),
        None => Conflict::default(),
    };
    let mut other_branches = Vec::new();
    let mut first: Vec<KeywordLocation> = conflict.keywords.clone();
    if let Some(blame) = &blame {
        let leads = |keyword: &KeywordLocation| {
            let mut leading = blame
                .leading
                .iter()
                .flat_map(|&leading| keyword_notes::locations(relaxable, leading));
            leading.any(|leading| leading == *keyword)
        };
        if conflict.keywords.iter().any(leads) {
            first.retain(leads);
            other_branches = keyword_notes::other_branches(relaxable, blame);
            conflict.notes = keyword_notes::notes_on_text(relaxable, blame, &texts);
        }
    }
    Cause::Keywords {
        conflict,
        remedy,
        leading: first,
        other_branches,
    }
}

/// Returns keywords that together leave the root of a schema no value.
pub(crate) fn unsatisfiable(set: &SchemaSet, formats: Formats) -> Conflict {
    conflict_of(set, set.root(), formats, MAX_WORK).0
}

/// Returns keywords that together leave a subschema no value, and the work that the search took.
fn conflict_of(set: &SchemaSet, node: NodeId, formats: Formats, work: usize) -> (Conflict, usize) {
    let mut search = ConflictSearch::new(set, node, formats, Excluded::Values, work);
    let root = search.root();
    let found = EmptyParts::new(&mut search, formats).blame(root);
    let conflict = match search.conflict(found, false) {
        Some((kept, minimal)) => Conflict {
            notes: keyword_notes::notes_on_values(search.relaxable(), &kept),
            ..keyword_notes::conflict(search.relaxable(), &kept, minimal)
        },
        None => Conflict::default(),
    };
    (conflict, search.spent())
}

/// The character that the byte at `offset` is of.
fn character_at(text: &[u8], offset: usize) -> Option<char> {
    /// Bytes of the longest character.
    const LONGEST: usize = 4;
    let is_first = |byte: &u8| !matches!(byte, 0x80..=0xBF);
    let start = (0..=offset)
        .rev()
        .take(LONGEST)
        .find(|&at| text.get(at).is_some_and(is_first))?;
    let ends = (offset + 1)..=text.len().min(start + LONGEST);
    let mut characters = ends.filter_map(|end| std::str::from_utf8(&text[start..end]).ok());
    characters.next()?.chars().next()
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
    let Some(start) = automaton.start(assertion)? else {
        return Ok(Some(0));
    };
    let mut at = WrittenState::start(start, &automaton.bounds(), 1);
    for (offset, &byte) in text.iter().enumerate() {
        if !automaton.read_bounded(&mut at, byte)? {
            return Ok(Some(offset));
        }
    }
    Ok((!automaton.is_complete(at.state)?).then_some(text.len()))
}

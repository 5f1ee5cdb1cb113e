//! [`Narrowings`]: the values of a schema that a style leaves out, and their places.

mod value_places;

use std::collections::BTreeMap;
use std::fmt;

use super::explainer::Explainer;
use super::messages::KeywordLocation;
use crate::automaton::{Automaton, AutomatonError};
use crate::schema::NodeId;
use crate::style::NarrowingKind;
use crate::{KeyOrder, NumberStyle, Style};
use value_places::{ValuePlace, ValuePlaces};

/// Maximal number of values of a schema that are checked for values that the style leaves out.
const MAX_VALUES: usize = 5_000;

/// Work that finding out may cost, in units of about a microsecond: half a second.
const MAX_WORK: usize = 500_000;

/// Places that are kept of each kind; more are counted.
const MAX_PLACES: usize = 100;

/// Places that a message lists.
const LISTED_PLACES: usize = 3;

/// The values that a schema allows and a style never writes, by kind and place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Narrowings {
    /// Each kind of value that is left out, once.
    pub found: Vec<Narrowing>,
    /// Whether every value that the schema speaks of was checked. Otherwise the check would exceed the allowed work.
    pub is_complete: bool,
}

/// A kind of values that a schema allows and a style leaves out, with the places of such values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Narrowing {
    /// The kind of the values.
    pub kind: NarrowingKind,
    /// The subschemas some of whose values are left out, outermost first; a hundred at most.
    pub places: Vec<KeywordLocation>,
    /// Number of these subschemas.
    pub count: usize,
    /// A description of the values that are left out, without the places.
    what: String,
}

impl Narrowing {
    /// Describes the values that are left out in a few words, without the places.
    pub fn what(&self) -> &str {
        &self.what
    }
}

impl fmt::Display for Narrowing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)?;
        for (at, place) in self.places.iter().take(LISTED_PLACES).enumerate() {
            f.write_str(if at == 0 { ": at " } else { ", " })?;
            match (&place.document, &*place.pointer) {
                (None, "") => f.write_str("the root")?,
                _ => write!(f, "`{place}`")?,
            }
        }
        match self.count.saturating_sub(LISTED_PLACES) {
            0 => Ok(()),
            1 => f.write_str(" and one other place"),
            others => write!(f, " and {others} other places"),
        }
    }
}

/// The automata that answer, each with one part of the style.
struct Automata<'a> {
    styled: &'a mut Automaton,
    /// All numbers there are, where the style leaves some out.
    any: Option<&'a mut Automaton>,
    /// The style with one of `closed` and `all_required` only.
    closed: Option<Automaton>,
    all_required: Option<Automaton>,
}

impl Explainer {
    /// Lists the valid values that the style of the options never writes; none under [`Style::rfc8259`].
    ///
    /// Only valid values are listed: a string with a `maxLength` below the style's bound is not. Keywords that make a value's
    /// validity depend on others beside it (`uniqueItems`, `contains`, a `not` around it) are passed over, so that the list may name
    /// a place whose values they exclude. The list is empty for a schema without a value.
    pub fn narrowings(&mut self) -> Narrowings {
        let mut automata = self.automata();
        let set = automata.styled.schema().clone();
        let mut places = ValuePlaces::new(&set);
        let mut found: BTreeMap<NarrowingKind, Vec<NodeId>> = BTreeMap::new();
        let (mut values, mut is_complete) = (0, true);
        while let Some(place) = places.next() {
            values += 1;
            if values > MAX_VALUES || automata.effort() + places.looks > MAX_WORK {
                is_complete = false;
                break;
            }
            match automata.left_out(&place) {
                Ok(kinds) => kinds
                    .into_iter()
                    .for_each(|kind| found.entry(kind).or_default().push(place.first)),
                Err(_) => is_complete = false,
            }
        }
        is_complete &= places.is_complete;
        let style = self.style();
        let found = found.into_iter().map(|(kind, nodes)| {
            let mut places: Vec<KeywordLocation> = Vec::new();
            for node in nodes {
                let location = set.node(node).location;
                let place = KeywordLocation {
                    document: set.uri(location).map(str::to_owned),
                    pointer: set.pointer(location),
                };
                places.push(place);
            }
            places.sort_by(|one, other| (one.pointer.len(), one).cmp(&(other.pointer.len(), other)));
            places.dedup();
            let count = places.len();
            places.truncate(MAX_PLACES);
            Narrowing {
                kind,
                places,
                count,
                what: describe(kind, &style),
            }
        });
        Narrowings {
            found: found.collect(),
            is_complete,
        }
    }
}

impl Automata<'_> {
    fn left_out(&mut self, place: &ValuePlace) -> Result<Vec<NarrowingKind>, AutomatonError> {
        let mut kinds = Vec::new();
        for way in &place.ways {
            kinds.extend(self.styled.left_out(way)?);
        }
        kinds.sort_unstable();
        kinds.dedup();
        if self.styled.mixes_orders(&place.nodes)? {
            kinds.push(NarrowingKind::MixedOrder);
        }
        if let Some(any) = &mut self.any
            && any.has_unwritable_numbers(&place.nodes)?
        {
            kinds.push(NarrowingKind::LongNumbers);
        }
        let narrowing = [
            (&mut self.closed, NarrowingKind::Closed),
            (&mut self.all_required, NarrowingKind::AllRequired),
        ];
        for (automaton, kind) in narrowing {
            if let Some(automaton) = automaton
                && automaton.narrows_objects(&place.nodes)?
            {
                kinds.push(kind);
            }
        }
        Ok(kinds)
    }

    fn effort(&self) -> usize {
        let others = [&self.closed, &self.all_required];
        let others = others.into_iter().flatten().map(Automaton::effort).sum::<usize>();
        self.styled.effort() + self.any.as_ref().map_or(0, |any| any.effort()) + others
    }
}

impl Explainer {
    fn automata(&mut self) -> Automata<'_> {
        let style = self.style();
        let only = |closed, all_required| Style {
            closed,
            all_required,
            ..style
        };
        let closed = style.closed.then(|| self.automaton(only(true, false)));
        let all_required = style.all_required.then(|| self.automaton(only(false, true)));
        let (styled, any) = self.styled_and_any();
        Automata {
            styled,
            any: any.filter(|_| style.numbers != NumberStyle::Rfc8259),
            closed,
            all_required,
        }
    }
}

/// Describes in a few words the values that a kind of narrowing leaves out.
fn describe(kind: NarrowingKind, style: &Style) -> String {
    let bounds = &style.bounds;
    let more =
        |what: &str, bound: Option<u32>, of: &str| format!("{what} of more than {} {of}", bound.unwrap_or(u32::MAX));
    match kind {
        NarrowingKind::FreeDepth => format!(
            "values nested more than {} deep where the schema says nothing of them",
            bounds.free_depth.unwrap_or(u8::MAX)
        ),
        NarrowingKind::LongStrings => more("strings", bounds.string_characters, "characters"),
        NarrowingKind::LongNames => {
            let bound = bounds.effective_name_characters();
            more("names that are not listed, those", bound, "characters")
        }
        NarrowingKind::LongArrays => more("arrays", bounds.array_items, "items"),
        NarrowingKind::LargeObjects => {
            let members = match style.key_order {
                KeyOrder::Schema => "members that are not listed",
                KeyOrder::Any => "members",
            };
            more("objects", bounds.object_members, members)
        }
        NarrowingKind::LongNumbers => match style.numbers {
            NumberStyle::Scientific => "numbers of more than 17 significant digits",
            _ => "numbers of more than 17 digits or 20 places, but for those that the schema names",
        }
        .to_owned(),
        NarrowingKind::UnusualStrings => "strings that are not in the spelling that the style prefers".to_owned(),
        NarrowingKind::Closed => {
            "objects with members that are not declared, and other values where objects are described without `type`"
                .to_owned()
        }
        NarrowingKind::AllRequired => "objects without some of the members that are declared".to_owned(),
        NarrowingKind::MixedOrder => {
            "no value, but the order of alternatives that disagree: some members come where they are listed first"
                .to_owned()
        }
    }
}

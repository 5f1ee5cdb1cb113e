//! Internationalised host names (RFC 5890, section 2.3.2.3): U-labels, A-labels and other labels without hyphens in
//! both the third and the fourth place, none of which is longer than 63 octets once encoded, nor the name than 253.
//!
//! The state keeps the present label, without the facts about its ASCII characters that no longer matter, and of the labels
//! before it their lengths and the requirement that they put on others ([`Demand`]).
//!
//! Nearly always a longer label takes more octets once encoded, but not quite always, because numbers in Punycode adapt
//! to those before them. Outside of the language are the names, hard to come by, of which a beginning of a label takes
//! more octets than a label may have, though the whole label does not.

use std::sync::OnceLock;

use crate::strings::charset::CharSet;
use crate::strings::custom_dfa::hostname::completion;
use crate::strings::custom_dfa::hostname::{ENCODED, LABEL, completes, is_a_label};
use crate::strings::custom_dfa::idna::{DOTS, Demand, Tables};
use crate::strings::custom_dfa::label::LabelReading;
use crate::strings::custom_dfa::punycode::{Decoder, encoded_length};
use crate::strings::limits::LimitReached;

/// Octets of a name.
pub(in crate::strings) const NAME: usize = 253;
/// Characters of which one or two end nearly every label that wants for anything: letters, digits and kana, letters that
/// join, and letters of either direction.
pub(in crate::strings) const ENDINGS: &str = "la0αגאαβωابدري١۱ߊܐᠠ𞤢ァあ一é";

/// Octets that a label of a single one of the [lone letters](lone_letters) takes beside its character.
pub(in crate::strings) const LONE_LETTER: usize = 7;

/// The letters beyond ASCII each of which is a label by itself, whatever other labels demand, and takes few octets.
pub(in crate::strings) fn lone_letters() -> &'static CharSet {
    static LETTERS: OnceLock<CharSet> = OnceLock::new();
    LETTERS.get_or_init(|| {
        let is_label = |c: char| {
            let label = PlainLabel::default().fitting(c, Demand::LeftToRight, LONE_LETTER + 1);
            label.is_some_and(|label| label.reading.is_label(Demand::Directed))
        };
        let letters = Tables::get().letters.within('\u{80}', '\u{FFFF}');
        CharSet::from_ranges(letters.filter(|&c| is_label(c)).map(|c| (c, c)))
    })
}

/// A state within an internationalised host name.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(in crate::strings) struct IdnHostname {
    /// Octets of the labels and dots before.
    used: u8,
    demand: Demand,
    label: Label,
}

/// The part of a label that has been read.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Label {
    Plain(PlainLabel),
    /// The characters behind `xn--`, in lower case.
    Encoded(Box<str>),
}

/// A label that does not begin with `xn--`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct PlainLabel {
    text: Box<str>,
    reading: LabelReading,
    /// Once encoded.
    octets: usize,
}

impl PlainLabel {
    /// Returns the label with `c` behind it; none if no label begins like that.
    fn after(&self, c: char) -> Option<Self> {
        let reading = self.reading.after(&self.text, c)?;
        let mut text = String::with_capacity(self.text.len() + c.len_utf8());
        text.push_str(&self.text);
        text.push(c);
        let octets = match reading.is_wide() {
            false => text.len(),
            true => 4 + encoded_length(text.chars())?,
        };
        let text = simplified(text);
        Some(Self { text, reading, octets })
    }

    /// Whether this is a label that is not longer than `room`.
    fn is_label(&self, demand: Demand, room: usize) -> bool {
        self.octets <= room && self.reading.is_label(demand)
    }

    /// Returns one or two characters that end the label within `room`, and the label then. A label that takes another is read as
    /// none; two are tried only where no single one would do, however much room there is.
    fn ending(&self, demand: Demand, room: usize) -> Option<(String, Self)> {
        let mut ends = self.ends(demand).peekable();
        if ends.peek().is_some() {
            return ends.find_map(|c| Some((c.to_string(), self.fitting(c, demand, room)?)));
        }
        ENDINGS.chars().find_map(|first| {
            let longer = self.fitting(first, demand, room)?;
            let (second, whole) = longer
                .ends(demand)
                .find_map(|c| Some((c, longer.fitting(c, demand, room)?)))?;
            Some(([first, second].iter().collect(), whole))
        })
    }

    /// The characters of [`ENDINGS`] with any of which nothing is missing but room.
    fn ends(&self, demand: Demand) -> impl Iterator<Item = char> {
        let ends = move |c| {
            self.reading
                .after(&self.text, c)
                .is_some_and(|reading| reading.is_label(demand))
        };
        ENDINGS.chars().filter(move |&c| ends(c))
    }

    /// Returns the label with `c` behind it, where that fits into `room` and may still meet the demand.
    fn fitting(&self, c: char, demand: Demand, room: usize) -> Option<Self> {
        let longer = self.after(c)?;
        (longer.octets <= room && longer.reading.may_serve(demand)).then_some(longer)
    }
}

impl IdnHostname {
    /// Returns the state before a name.
    pub(in crate::strings) fn start() -> Self {
        Self {
            used: 0,
            demand: Demand::Any,
            label: Label::Plain(PlainLabel::default()),
        }
    }

    /// Octets of the labels and dots before the present label.
    pub(in crate::strings) fn used(&self) -> usize {
        usize::from(self.used)
    }

    /// Whether so many octets are left for labels behind the present one, which is no A-label, whatever that label becomes.
    pub(in crate::strings) fn leaves(&self, octets: usize) -> bool {
        matches!(self.label, Label::Plain(_)) && self.used() + usize::from(LABEL) + octets <= NAME
    }

    /// Octets that the present label may have.
    fn room(&self) -> usize {
        usize::from(LABEL).min(NAME - self.used())
    }

    /// Octets of an A-label behind `xn--`.
    fn encoded_room(&self) -> usize {
        self.room().saturating_sub(4).min(ENCODED)
    }

    pub(in crate::strings) fn accepts(&self) -> bool {
        match &self.label {
            Label::Encoded(encoded) => encoded.len() <= self.encoded_room() && is_a_label(encoded, self.demand),
            Label::Plain(label) => label.is_label(self.demand, self.room()),
        }
    }

    /// The label, decoded, and its octets, if it may end here.
    fn finished(&self) -> Option<(Vec<char>, usize)> {
        if !self.accepts() {
            return None;
        }
        match &self.label {
            Label::Encoded(encoded) => Some((Decoder::after(encoded)?.text()?.to_vec(), 4 + encoded.len())),
            Label::Plain(label) => Some((label.text.chars().collect(), label.octets)),
        }
    }

    /// The state after `c`; none where no host name continues with it.
    pub(in crate::strings) fn after(&self, c: char) -> Result<Option<Self>, LimitReached> {
        if DOTS.contains(c) {
            return Ok(self.finished().and_then(|(label, octets)| {
                let used = self.used() + octets + 1;
                (used < NAME).then(|| Self {
                    used: used as u8,
                    demand: self.demand.behind(&label),
                    label: Label::Plain(PlainLabel::default()),
                })
            }));
        }
        match self.followed(c) {
            Some(next) if next.lives()? => Ok(Some(next)),
            _ => Ok(None),
        }
    }

    /// The state after `c`, which is no dot, live or not; none if no label has `c` there.
    fn followed(&self, c: char) -> Option<Self> {
        let label = match &self.label {
            Label::Encoded(encoded) => match c.to_ascii_lowercase() {
                c @ ('a'..='z' | '0'..='9' | '-') => Label::Encoded(format!("{encoded}{c}").into()),
                _ => return None,
            },
            Label::Plain(label) if c == '-' && label.text.eq_ignore_ascii_case("xn-") => Label::Encoded(Box::default()),
            Label::Plain(label) => Label::Plain(label.after(c)?),
        };
        Some(Self { label, ..*self })
    }

    /// Whether a text goes on with a character from `first` to `last`.
    pub(in crate::strings) fn may_begin(&self, first: char, last: char) -> Result<bool, LimitReached> {
        let dots = DOTS.chars().filter(|c| (first..=last).contains(c));
        for dot in dots {
            if self.after(dot)?.is_some() {
                return Ok(true);
            }
        }
        for c in Tables::get().letters.within(first, last) {
            let Some(next) = self.followed(c) else { continue };
            if next.lives()? {
                return Ok(true);
            }
            if self.is_outgrown(c, &next) {
                return Ok(false);
            }
        }
        Ok(false)
    }

    /// Whether `next`, with `c` behind the label, is too long, and so is any with a greater character. That is known of
    /// characters beyond all before them: theirs is the last number of the encoded label, and the greater, the longer.
    fn is_outgrown(&self, c: char, next: &Self) -> bool {
        match (&self.label, &next.label) {
            (Label::Plain(label), Label::Plain(next)) if next.reading.is_wide() => {
                next.octets > self.room() && label.text.chars().all(|before| before < c)
            }
            _ => false,
        }
    }

    fn lives(&self) -> Result<bool, LimitReached> {
        let (demand, room) = (self.demand, self.room());
        match &self.label {
            Label::Encoded(encoded) => match self.encoded_room().checked_sub(encoded.len()) {
                Some(left) => completes(encoded, 0, left, demand),
                None => Ok(false),
            },
            Label::Plain(label) if label.text.is_empty() => Ok(true),
            Label::Plain(label) if label.octets > room || !label.reading.may_serve(demand) => Ok(false),
            Label::Plain(label) => Ok(label.is_label(demand, room) || label.ending(demand, room).is_some()),
        }
    }

    /// Whether a name can end after `min` to `max` characters more; none where that is not easily seen.
    pub(in crate::strings) fn reaches(&self, min: u64, max: u64) -> Result<Option<bool>, LimitReached> {
        // A character takes an octet at least.
        let left = (NAME - self.used()) as u64;
        if min > max.min(left) {
            return Ok(Some(false));
        }
        if max == 0 || (min == 0 && max >= left) {
            return Ok(Some(max > 0 || self.accepts()));
        }
        match &self.label {
            // To end a name later takes more characters.
            Label::Encoded(encoded) if min == 0 => {
                let room = self.encoded_room().saturating_sub(encoded.len());
                return completes(encoded, 0, room.min(max as usize), self.demand).map(Some);
            }
            // Behind ASCII, each further character takes an octet at least.
            Label::Plain(label) if max == 1 && !label.reading.is_wide() && label.octets >= self.room() => {
                return Ok(Some(min == 0 && self.accepts()));
            }
            Label::Plain(label) if max == 1 => {
                let (demand, room) = (self.demand, self.room());
                let ends = |c| {
                    label
                        .fitting(c, demand, room)
                        .is_some_and(|whole| whole.reading.is_label(demand))
                };
                let mut letters = Tables::get()
                    .letters
                    .ranges()
                    .iter()
                    .flat_map(|range| range.first()..=range.last());
                let reached = (min == 0 && self.accepts()) || ENDINGS.chars().any(ends) || letters.any(ends);
                return Ok(Some(reached));
            }
            _ => {}
        }
        let Some((way, octets)) = self.completion() else {
            return Ok(None);
        };
        // Behind the label, a dot and a letter or more.
        let (way, more) = (way.chars().count() as u64, left - octets as u64);
        let reached = (min..=max).contains(&way) || min.max(way + 2) <= max.min(way + more);
        Ok(reached.then_some(true))
    }

    /// Returns one way to end the label, where that is easily found, and the octets of the label then.
    pub(in crate::strings) fn completion(&self) -> Option<(String, usize)> {
        let (demand, room) = (self.demand, self.room());
        match &self.label {
            Label::Encoded(encoded) => {
                let way = completion(encoded, self.encoded_room().checked_sub(encoded.len())?, demand)?;
                let octets = 4 + encoded.len() + way.len();
                Some((way, octets))
            }
            Label::Plain(label) if label.is_label(demand, room) => Some((String::new(), label.octets)),
            Label::Plain(label) => {
                let (way, whole) = label.ending(demand, room)?;
                Some((way, whole.octets))
            }
        }
    }

    /// Memory beyond that of a node, in cells.
    pub(in crate::strings) fn cells(&self) -> usize {
        match &self.label {
            Label::Plain(label) => 4 + label.text.len() / 8,
            Label::Encoded(encoded) => encoded.len() / 8,
        }
    }
}

/// `label` with letters and digits that no longer matter made alike: only where they stand counts, and whether any is a
/// capital, unless a character beyond ASCII follows, which may ask for a letter or join it.
fn simplified(label: String) -> Box<str> {
    if label.chars().nth(4).is_none() {
        return label.into();
    }
    let ascii_first = label.starts_with(|c: char| c.is_ascii());
    let capital = label.contains(|c: char| c.is_ascii_uppercase());
    let mut simple = String::with_capacity(label.len());
    let mut characters = label.chars().peekable();
    while let Some(c) = characters.next() {
        simple.push(match c {
            _ if !c.is_ascii() || !characters.peek().is_some_and(char::is_ascii) => c,
            '0'..='9' if simple.is_empty() || !ascii_first => '0',
            '-' if !ascii_first => '-',
            _ if capital => 'A',
            _ => 'a',
        });
    }
    simple.into()
}

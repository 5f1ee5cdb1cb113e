//! Internationalised host names (RFC 5890, section 2.3.2.3): U-labels, A-labels and other labels without hyphens in
//! both the third and the fourth place, none of which is longer than 63 octets once encoded, nor the name than 253.
//!
//! The state keeps the present label, with what no longer matters about its ASCII characters left out, and of those
//! before it how long they are and what they ask of others ([`Demand`]).
//!
//! Nearly always a longer label takes more octets once encoded, but not quite always, because numbers in Punycode adapt
//! to those before them. Outside of the language are the names, hard to come by, of which a beginning of a label takes
//! more octets than a label may have, though the whole label does not.

use super::host::{ENCODED, LABEL, completes, completion, is_a_label};
use super::idna::{DOTS, Demand, ENDINGS, is_u_label, may_begin_u_label};
use super::punycode::{Decoder, encode};
use crate::strings::limits::LimitReached;

/// Octets of a name.
pub(super) const NAME: usize = 253;

/// A place in an internationalised host name.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(in crate::strings) struct Idn {
    /// Octets of the labels and dots before.
    used: u8,
    demand: Demand,
    label: Label,
}

/// What has been read of a label.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Label {
    /// Its text.
    Text(Box<str>),
    /// What follows `xn--`, in lower case.
    Encoded(Box<str>),
}

impl Idn {
    /// Before a name.
    pub(super) fn start() -> Self {
        Self {
            used: 0,
            demand: Demand::Any,
            label: Label::Text(Box::default()),
        }
    }

    /// Octets of the labels and dots before the present label.
    pub(super) fn used(&self) -> usize {
        usize::from(self.used)
    }

    /// Octets that the present label may have.
    fn room(&self) -> usize {
        usize::from(LABEL).min(NAME - self.used())
    }

    /// Octets of an A-label behind `xn--`.
    fn encoded_room(&self) -> usize {
        self.room().saturating_sub(4).min(ENCODED)
    }

    pub(super) fn accepts(&self) -> bool {
        self.finished().is_some()
    }

    /// The label, decoded, and its octets, if it may end here.
    fn finished(&self) -> Option<(Vec<char>, usize)> {
        match &self.label {
            Label::Encoded(encoded) => {
                let fits = encoded.len() <= self.encoded_room() && is_a_label(encoded, self.demand);
                let label = Decoder::after(encoded).filter(|_| fits)?.text()?.to_vec();
                Some((label, 4 + encoded.len()))
            }
            Label::Text(text) => {
                let label: Vec<char> = text.chars().collect();
                let octets = self.octets(&label)?;
                Some((label, octets))
            }
        }
    }

    /// The octets of a label, if it is one that may stand here.
    fn octets(&self, label: &[char]) -> Option<usize> {
        let octets = match label.iter().all(char::is_ascii) {
            true if label.is_empty() || label.last() == Some(&'-') => return None,
            true => label.len(),
            false if is_u_label(label) => encode(label)?.len() + 4,
            false => return None,
        };
        (octets <= self.room() && self.demand.holds(label)).then_some(octets)
    }

    fn with(&self, label: Label) -> Self {
        Self { label, ..*self }
    }

    /// The place after `c`; none where no name goes on like that.
    pub(super) fn after(&self, c: char) -> Result<Option<Self>, LimitReached> {
        if DOTS.contains(c) {
            return Ok(self.finished().and_then(|(label, octets)| {
                let used = self.used() + octets + 1;
                (used < NAME).then(|| Self {
                    used: used as u8,
                    demand: self.demand.behind(&label),
                    label: Label::Text(Box::default()),
                })
            }));
        }
        let next = match &self.label {
            Label::Encoded(encoded) => {
                let c = c.to_ascii_lowercase();
                if !matches!(c, 'a'..='z' | '0'..='9' | '-') {
                    return Ok(None);
                }
                let encoded = format!("{encoded}{c}").into_boxed_str();
                self.with(Label::Encoded(encoded))
            }
            Label::Text(text) => match format!("{text}{c}") {
                text if text.eq_ignore_ascii_case("xn--") => self.with(Label::Encoded(Box::default())),
                text => self.with(Label::Text(simplified(&text))),
            },
        };
        Ok(next.lives()?.then_some(next))
    }

    fn lives(&self) -> Result<bool, LimitReached> {
        let text = match &self.label {
            Label::Encoded(encoded) => {
                let Some(left) = self.encoded_room().checked_sub(encoded.len()) else {
                    return Ok(false);
                };
                return completes(encoded, 0, left, self.demand);
            }
            Label::Text(text) => text,
        };
        let label: Vec<char> = text.chars().collect();
        let Some(&first) = label.first() else {
            return Ok(true);
        };
        if label.iter().all(char::is_ascii) {
            let only = label.iter().all(|&c| c == '-' || c.is_ascii_alphanumeric());
            let open = usize::from(label.last() == Some(&'-'));
            let reserved = label.get(2..4) == Some(&['-', '-']);
            let directed = self.demand != Demand::Directed || first.is_ascii_alphabetic();
            return Ok(only && first != '-' && !reserved && directed && label.len() + open <= self.room());
        }
        if !may_begin_u_label(&label, self.demand) {
            return Ok(false);
        }
        if self.fits(&label).is_none() {
            return Ok(false);
        }
        // With room for them, one or two of a few characters end every label that can be ended. With less room, a label
        // that takes another is read as none.
        Ok(self.octets(&label).is_some() || self.ending(&label).is_some())
    }

    /// The octets behind `xn--` of a label, if it has room for them.
    fn fits(&self, label: &[char]) -> Option<usize> {
        let octets = encode(label)?.len();
        (octets <= self.encoded_room()).then_some(octets)
    }

    /// One or two characters that end a label.
    fn ending(&self, label: &[char]) -> Option<String> {
        let mut longer = label.to_vec();
        for first in ENDINGS.chars() {
            longer.truncate(label.len());
            longer.push(first);
            if self.octets(&longer).is_some() {
                return Some(first.to_string());
            }
        }
        for first in ENDINGS.chars() {
            longer.truncate(label.len());
            longer.push(first);
            if self.fits(&longer).is_none() || !may_begin_u_label(&longer, self.demand) {
                continue;
            }
            for second in ENDINGS.chars() {
                longer.truncate(label.len() + 1);
                longer.push(second);
                if self.octets(&longer).is_some() {
                    return Some([first, second].iter().collect());
                }
            }
        }
        None
    }

    /// One way to end the label, where that is easily found, and the octets of the label then.
    pub(super) fn completion(&self) -> Option<(String, usize)> {
        match &self.label {
            Label::Encoded(encoded) => {
                let way = completion(encoded, self.encoded_room().checked_sub(encoded.len())?, self.demand)?;
                let octets = 4 + encoded.len() + way.len();
                Some((way, octets))
            }
            Label::Text(text) => {
                let mut label: Vec<char> = text.chars().collect();
                if let Some(octets) = self.octets(&label) {
                    return Some((String::new(), octets));
                }
                let way = match label.iter().all(char::is_ascii) {
                    true => "a".to_owned(),
                    false => self.ending(&label)?,
                };
                label.extend(way.chars());
                let octets = self.octets(&label)?;
                Some((way, octets))
            }
        }
    }

    /// Memory beyond that of a node, in cells.
    pub(super) fn cells(&self) -> usize {
        let (Label::Text(text) | Label::Encoded(text)) = &self.label;
        text.len() / 8
    }
}

/// `label` with letters and digits that no longer matter made alike: only where they stand counts, and whether any is a
/// capital, unless a character beyond ASCII follows, which may ask for a letter or join it.
fn simplified(label: &str) -> Box<str> {
    let characters: Vec<char> = label.chars().collect();
    if characters.len() < 5 {
        return label.into();
    }
    let ascii_first = characters[0].is_ascii();
    let capital = characters.iter().any(char::is_ascii_uppercase);
    let simple = |(place, &c): (usize, &char)| match c {
        _ if !c.is_ascii() || !characters.get(place + 1).is_some_and(char::is_ascii) => c,
        '0'..='9' if place == 0 || !ascii_first => '0',
        '-' if !ascii_first => '-',
        _ if capital => 'A',
        _ => 'a',
    };
    characters.iter().enumerate().map(simple).collect()
}

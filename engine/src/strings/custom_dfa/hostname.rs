//! Custom DFA of host names (RFC 1123, section 2.1) whose labels that begin with `xn--` are A-labels (RFC 5890).
//!
//! Whether a label is an A-label shows at its end only: it must decode to a U-label. So the state keeps the text
//! of such a label, and only the length of any other label. A prefix of an A-label can be completed wherever
//! [`ROOM`] characters are left, because all of it may become basic characters, with a delimiter and a few letters
//! encoded behind them; with less room, completions are tried one by one.

use crate::strings::custom_dfa::idna::{Demand, is_u_label, may_stand};
use crate::strings::custom_dfa::punycode::{Decoder, DigitRead, digit, encode};
use crate::strings::lengths::Lengths;
use crate::strings::limits::LimitReached;

/// Characters of a label.
pub(in crate::strings) const LABEL: u8 = 63;
/// Characters of a label behind `xn--`.
pub(in crate::strings) const ENCODED: usize = 59;
/// Number of characters that complete anything that has been read behind `xn--`, where at least as many are left.
const ROOM: usize = 8;
/// Maximal number of Punycode digits tried for a completion with less than [`ROOM`] characters left. A prefix for which none is found counts as
/// dead. A completion found at one state is found at every state before it on the path, with fewer tries.
const MAX_TRIES: usize = 50_000;

/// A state within a host name.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(in crate::strings) enum Hostname {
    /// Before a label.
    Start,
    /// In a label that does not begin with `xn--`.
    Plain {
        /// Characters of the label that have been read.
        length: u8,
        /// Whether the last was a hyphen.
        hyphen: bool,
        /// Whether the label is a beginning of `xn--`.
        prefix: bool,
    },
    /// In a label that begins with `xn--`: the characters behind it, in lower case.
    Encoded(Box<str>),
}

impl Hostname {
    pub(in crate::strings) fn accepts(&self) -> bool {
        match self {
            Self::Start => false,
            Self::Plain { hyphen, .. } => !hyphen,
            Self::Encoded(encoded) => is_a_label(encoded, Demand::Any),
        }
    }

    /// The state after `c`; none where no host name continues with it.
    pub(in crate::strings) fn after(&self, c: char) -> Result<Option<Self>, LimitReached> {
        match (self, c.to_ascii_lowercase()) {
            (Self::Start, '.') => Ok(None),
            (_, '.') => Ok(self.accepts().then_some(Self::Start)),
            (_, c) if !matches!(c, 'a'..='z' | '0'..='9' | '-') => Ok(None),
            (Self::Start, '-') => Ok(None),
            (Self::Start, c) => Ok(Some(Self::Plain {
                length: 1,
                hyphen: false,
                prefix: c == 'x',
            })),
            (&Self::Plain { length, prefix, .. }, c) => Ok(Self::longer(length, prefix, c)),
            (Self::Encoded(encoded), c) => {
                let encoded = format!("{encoded}{c}").into_boxed_str();
                let completed =
                    encoded.len() <= ENCODED && completes(&encoded, 0, ENCODED - encoded.len(), Demand::Any)?;
                Ok(completed.then_some(Self::Encoded(encoded)))
            }
        }
    }

    fn longer(length: u8, prefix: bool, c: char) -> Option<Self> {
        let hyphen = c == '-';
        let prefix = prefix && "xn--".as_bytes().get(usize::from(length)) == Some(&(c as u8));
        match length + 1 {
            4 if prefix => Some(Self::Encoded("".into())),
            LABEL if hyphen => None,
            length if length > LABEL => None,
            length => Some(Self::Plain { length, hyphen, prefix }),
        }
    }

    /// Whether texts without two hyphens in a row go on from here as if no label were encoded.
    pub(in crate::strings) fn is_plain_but_for_hyphens(&self) -> bool {
        match self {
            Self::Start => true,
            Self::Plain { length, prefix, .. } => !(*prefix && *length == 3),
            Self::Encoded(_) => false,
        }
    }

    /// The number of characters that the label may still have.
    pub(in crate::strings) fn room(&self) -> usize {
        match self {
            Self::Start => usize::from(LABEL),
            Self::Plain { length, .. } => usize::from(LABEL - length),
            Self::Encoded(encoded) => ENCODED - encoded.len(),
        }
    }

    /// Whether the label can end after `min` to `max` characters more.
    fn label_ends(&self, min: usize, max: usize) -> Result<bool, LimitReached> {
        let least = match self {
            Self::Start => 1,
            Self::Plain { hyphen, .. } => usize::from(*hyphen),
            Self::Encoded(encoded) => return completes(encoded, min, max.min(self.room()), Demand::Any),
        };
        Ok(min.max(least) <= max.min(self.room()))
    }

    /// Whether a name can end after `min` to `max` characters more.
    pub(in crate::strings) fn reaches(&self, min: u64, max: u64) -> Result<bool, LimitReached> {
        if min > max {
            return Ok(false);
        }
        // After the shortest rest of the label and a dot, anything from one character on.
        if max >= self.room() as u64 + 2 {
            return Ok(true);
        }
        let (min, max) = (min.min(usize::MAX as u64) as usize, max as usize);
        Ok((max >= 2 && self.label_ends(0, max - 2)?) || self.label_ends(min, max)?)
    }

    /// The numbers of characters that may follow.
    pub(in crate::strings) fn lengths(&self) -> Result<Option<Lengths>, LimitReached> {
        let mut all = Lengths::none();
        for length in 0..=self.room() {
            if !self.label_ends(length, length)? {
                continue;
            }
            let length = length as u64;
            let more = Lengths::interval(length, length).union(&Lengths::interval(length + 2, u64::MAX));
            let Some(joined) = more.and_then(|more| all.union(&more)) else {
                return Ok(None);
            };
            all = joined;
        }
        Ok(Some(all))
    }
}

pub(in crate::strings) fn is_a_label(encoded: &str, demand: Demand) -> bool {
    let holds = |label: &[char]| is_u_label(label) && demand.holds(label);
    encoded.len() <= ENCODED && Decoder::after(encoded).is_some_and(|decoder| decoder.text().is_some_and(holds))
}

/// Whether `min` to `max` characters more, for which there is room, can make an A-label of `encoded`.
pub(in crate::strings) fn completes(
    encoded: &str,
    min: usize,
    max: usize,
    demand: Demand,
) -> Result<bool, LimitReached> {
    if min > max {
        return Ok(false);
    }
    if max >= ROOM || (min == 0 && is_a_label(encoded, demand)) {
        return Ok(true);
    }
    if (min..=max).any(|more| ends_in_letters(encoded, more, demand)) {
        return Ok(true);
    }
    let mut search = CompletionSearch {
        min,
        max,
        demand,
        tries: 0,
    };
    match encoded.is_empty() {
        true => search.run("", Some(Decoder::new("")), 0),
        false => search.run(encoded, Decoder::after(encoded), 0),
    }
}

/// Whether `more` characters that make all of `encoded` basic, or all but a delimiter at its end, make an A-label, with
/// letters put where hyphens may not stand.
pub(in crate::strings) fn ends_in_letters(encoded: &str, more: usize, demand: Demand) -> bool {
    let fits = |basic: &str| {
        ['ß', 'я', '一'].into_iter().any(|letter| {
            let label = mended(basic, letter, demand);
            let length = encode(&label).map(|encoded| encoded.len());
            length == Some(encoded.len() + more) && is_u_label(&label) && demand.holds(&label)
        })
    };
    let open = encoded.strip_suffix('-').filter(|basic| !basic.is_empty());
    open.is_some_and(&fits)
        || (0..=more.saturating_sub(4)).any(|filler| fits(&format!("{encoded}{}", "a".repeat(filler))))
}

/// Returns one way to end an A-label in at most `room` characters, where that is easily found.
pub(in crate::strings) fn completion(encoded: &str, room: usize, demand: Demand) -> Option<String> {
    if is_a_label(encoded, demand) {
        return Some(String::new());
    }
    let ways = (0..=room).flat_map(|filler| {
        let basic = format!("{encoded}{}", "a".repeat(filler));
        ['ß', 'я', '一'].map(|letter| mended(&basic, letter, demand))
    });
    let mut ends = ways
        .filter(|label| is_u_label(label) && demand.holds(label))
        .filter_map(|label| encode(&label));
    let way = ends.find(|way| way.len() <= encoded.len() + room && way.starts_with(encoded))?;
    Some(way[encoded.len()..].to_owned())
}

/// `basic` with `letter` wherever a hyphen, or a digit at the start, makes it no label, and at the end where there is no such place.
fn mended(basic: &str, letter: char, demand: Demand) -> Vec<char> {
    let mut label: Vec<char> = basic.chars().collect();
    let first = label.first().copied().unwrap_or_default();
    if first == '-' || (demand == Demand::Directed && first.is_ascii_digit()) {
        label.insert(0, letter);
    }
    if label.get(2..4) == Some(&['-', '-']) {
        label.insert(3, letter);
    }
    if label.last() == Some(&'-') || label.len() == basic.len() {
        label.push(letter);
    }
    label
}

/// Every completion, digit by digit.
struct CompletionSearch {
    min: usize,
    max: usize,
    demand: Demand,
    tries: usize,
}

impl CompletionSearch {
    /// Whether there is a completion of `encoded`, which is decoded as far as it may be, and of which `added`
    /// characters were tried. No deeper than [`ROOM`].
    fn run(&mut self, encoded: &str, decoder: Option<Decoder>, added: usize) -> Result<bool, LimitReached> {
        let decoder = decoder.filter(|decoder| decoder.so_far().iter().all(|&c| may_stand(c)));
        let holds = |label: &[char]| is_u_label(label) && self.demand.holds(label);
        if added >= self.min && decoder.as_ref().and_then(Decoder::text).is_some_and(holds) {
            return Ok(true);
        }
        if added == self.max {
            return Ok(false);
        }
        self.tries += 36;
        if self.tries > MAX_TRIES {
            // The texts behind this place are outside of the language, and so is the place.
            return Ok(false);
        }
        if let Some(decoder) = decoder {
            for byte in (b'a'..=b'z').chain(b'0'..=b'9') {
                let mut next = decoder.clone();
                let read = digit(byte).map_or(DigitRead::Refused, |digit| next.read(digit));
                if matches!(read, DigitRead::Refused) || matches!(read, DigitRead::Inserted(c) if !may_stand(c)) {
                    continue;
                }
                let longer = format!("{encoded}{}", char::from(byte));
                if self.run(&longer, Some(next), added + 1)? {
                    return Ok(true);
                }
            }
        }
        // A delimiter makes all before it basic, and the first letter behind it takes three digits.
        if self.max - added < 4 {
            return Ok(false);
        }
        for byte in std::iter::once(b'-').chain(b"a".iter().copied()) {
            let longer = format!("{encoded}{}", char::from(byte));
            let decoder = Decoder::after(&longer).filter(|_| byte == b'-');
            if self.run(&longer, decoder, added + 1)? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

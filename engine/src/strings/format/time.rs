//! Dates and times (RFC 3339).

use super::{Grammar, Made};
use crate::strings::limits::LimitReached;
use crate::strings::node::{Arena, LanguageId, LeapMinute, Node};

/// `full-date` with the days that each month has. The Gregorian calendar is taken back to the year 0, which it makes a
/// leap year.
fn full_date() -> String {
    let leap_year = r"(?:\d\d(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)";
    let months_of_31 = "(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])";
    let months_of_30 = "(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)";
    let february = "02-(?:0[1-9]|1[0-9]|2[0-8])";
    format!(r"\d{{4}}-(?:{months_of_31}|{months_of_30}|{february})|{leap_year}-02-29")
}

pub(super) fn date(grammar: &mut Grammar) -> Made {
    grammar.whole(&full_date())
}

/// `full-time`. A second 60 is one only where UTC has 23:59, which the offset tells; on which days there are leap
/// seconds is decided a few months ahead, so that any day may have one.
pub(super) fn time(grammar: &mut Grammar) -> Made {
    let offset = r"(?:[Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)";
    let ordinary = grammar.whole(&format!(r"(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?{offset}"))?;
    let mut hours = Vec::with_capacity(24);
    for hour in 0..24 {
        hours.push((
            format!("{hour:02}"),
            grammar.arena.intern(Node::LeapSecond {
                hour,
                minute: LeapMinute::Ahead,
            })?,
        ));
    }
    let leap = grammar
        .arena
        .trie(hours.iter().map(|(hour, rest)| (hour.as_str(), *rest)))?;
    Ok(grammar.arena.or(vec![ordinary, leap])?)
}

pub(super) fn date_time(grammar: &mut Grammar) -> Made {
    let date = grammar.whole(&format!("(?:{})[Tt]", full_date()))?;
    let time = time(grammar)?;
    Ok(grammar.arena.concat(date, time)?)
}

/// `duration` of appendix A: units in order and without gaps.
pub(super) fn duration(grammar: &mut Grammar) -> Made {
    let time = r"T(?:\d+H(?:\d+M(?:\d+S)?)?|\d+M(?:\d+S)?|\d+S)";
    let date = r"(?:\d+Y(?:\d+M(?:\d+D)?)?|\d+M(?:\d+D)?|\d+D)";
    grammar.whole(&format!(r"P(?:{date}(?:{time})?|{time}|\d+W)"))
}

const DAY: u16 = 24 * 60;
const DIGITS: [&str; 10] = ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"];

impl Arena {
    /// What follows the hour of a time of day with the second 60, from so far in its minute on.
    ///
    /// Each of the 1,440 times of day has its own two offsets; they are made when a text gets there, and so is each step
    /// on the way.
    pub(in crate::strings) fn leap_second(&mut self, hour: u8, minute: LeapMinute) -> Result<LanguageId, LimitReached> {
        if let Some(&known) = self.leap_seconds.get(&(hour, minute)) {
            return Ok(known);
        }
        let made = self.make_leap_second(hour, minute)?;
        self.leap_seconds.insert((hour, minute), made);
        Ok(made)
    }

    fn make_leap_second(&mut self, hour: u8, minute: LeapMinute) -> Result<LanguageId, LimitReached> {
        let from = |minute: LeapMinute| Node::LeapSecond { hour, minute };
        match minute {
            LeapMinute::Ahead => self.steps(&[":"], |_| from(LeapMinute::Begun)),
            LeapMinute::Begun => self.steps(&DIGITS[..6], |tens| from(LeapMinute::Tens(tens))),
            LeapMinute::Tens(tens) => self.steps(&DIGITS, |digit| from(LeapMinute::Read(10 * tens + digit))),
            LeapMinute::Read(minute) => self.steps(&[":60"], |_| from(LeapMinute::Zone(minute))),
            LeapMinute::Zone(minute) => self.leap_zone(hour, minute),
        }
    }

    /// Texts, each with what follows it, by its place.
    fn steps(&mut self, texts: &[&str], to: impl Fn(u8) -> Node) -> Result<LanguageId, LimitReached> {
        let mut steps = Vec::with_capacity(texts.len());
        for (place, text) in (0..).zip(texts) {
            steps.push((*text, self.intern(to(place))?));
        }
        self.trie(steps)
    }

    /// A fraction, and one of the offsets with which it is 23:59 in UTC.
    fn leap_zone(&mut self, hour: u8, minute: u8) -> Result<LanguageId, LimitReached> {
        let local = u16::from(hour) * 60 + u16::from(minute);
        let (ahead, behind) = ((local + 1) % DAY, DAY - 1 - local);
        let mut offsets = vec![
            format!("+{:02}:{:02}", ahead / 60, ahead % 60),
            format!("-{:02}:{:02}", behind / 60, behind % 60),
        ];
        if local == DAY - 1 {
            offsets.extend(["Z".to_owned(), "z".to_owned()]);
        }
        let offset = self.words(offsets.iter().map(String::as_str).collect())?;
        let digit = self.words(DIGITS.to_vec())?;
        let digits = self.repeat(digit, 1, u64::MAX)?;
        let point = self.literal(".")?;
        let fraction = self.concat(point, digits)?;
        let fraction = self.repeat(fraction, 0, 1)?;
        self.concat(fraction, offset)
    }
}

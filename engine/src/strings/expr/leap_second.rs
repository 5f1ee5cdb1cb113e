//! The language of a time of day with a leap second, behind its hour; expanded lazily, because each time of day has offsets of its own.

use crate::strings::expr::arena::{Arena, NewLanguage};
use crate::strings::expr::expression::{Expr, LeapMinute};

const DAY: u16 = 24 * 60;
const DIGITS: [&str; 10] = ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"];

impl Arena {
    /// Returns the language behind the hour of a time of day with the second 60, from a place in its minute on.
    ///
    /// Each of the 1,440 times of day has its own two offsets; they are made when a text gets there, and so is each step
    /// on the way.
    pub(in crate::strings) fn leap_second(&mut self, hour: u8, minute: LeapMinute) -> NewLanguage {
        if let Some(&known) = self.leap_seconds.get(&(hour, minute)) {
            return Ok(known);
        }
        let made = self.make_leap_second(hour, minute)?;
        self.leap_seconds.insert((hour, minute), made);
        Ok(made)
    }

    fn make_leap_second(&mut self, hour: u8, minute: LeapMinute) -> NewLanguage {
        let from = |minute: LeapMinute| Expr::LeapSecond { hour, minute };
        match minute {
            LeapMinute::Ahead => self.steps(&[":"], |_| from(LeapMinute::Begun)),
            LeapMinute::Begun => self.steps(&DIGITS[..6], |tens| from(LeapMinute::Tens(tens))),
            LeapMinute::Tens(tens) => self.steps(&DIGITS, |digit| from(LeapMinute::Read(10 * tens + digit))),
            LeapMinute::Read(minute) => self.steps(&[":60"], |_| from(LeapMinute::Zone(minute))),
            LeapMinute::Zone(minute) => self.leap_zone(hour, minute),
        }
    }

    /// The union of fixed texts, each followed by the language that `to` gives for its index.
    fn steps(&mut self, texts: &[&str], to: impl Fn(u8) -> Expr) -> NewLanguage {
        let mut steps = Vec::with_capacity(texts.len());
        for (place, text) in (0..).zip(texts) {
            steps.push((*text, self.intern(to(place))?));
        }
        self.trie(steps)
    }

    /// A fraction, and one of the offsets with which it is 23:59 in UTC.
    fn leap_zone(&mut self, hour: u8, minute: u8) -> NewLanguage {
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

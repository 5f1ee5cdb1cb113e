//! Dates and times (RFC 3339).

use crate::strings::expr::expression::{Expr, LeapMinute};
use crate::strings::formats::grammar::{FormatLanguage, Grammar};

/// `full-date` with the days that each month has. The Gregorian calendar is taken back to the year 0, which it makes a
/// leap year.
pub(super) fn full_date() -> String {
    let leap_year = r"(?:\d\d(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)";
    let months_of_31 = "(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])";
    let months_of_30 = "(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)";
    let february = "02-(?:0[1-9]|1[0-9]|2[0-8])";
    format!(r"\d{{4}}-(?:{months_of_31}|{months_of_30}|{february})|{leap_year}-02-29")
}

pub(super) fn date(grammar: &mut Grammar) -> FormatLanguage {
    grammar.whole(&full_date())
}

/// `full-time`. A second 60 is one only where UTC has 23:59, which the offset tells; on which days there are leap
/// seconds is decided a few months ahead, so that any day may have one.
pub(super) fn time(grammar: &mut Grammar) -> FormatLanguage {
    let offset = r"(?:[Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)";
    let ordinary = grammar.whole(&format!(r"(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?{offset}"))?;
    let mut hours = Vec::with_capacity(24);
    for hour in 0..24 {
        hours.push((
            format!("{hour:02}"),
            grammar.arena.intern(Expr::LeapSecond {
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

pub(super) fn date_time(grammar: &mut Grammar) -> FormatLanguage {
    on_a_date(grammar, time)
}

/// [`time`], or a time without offset, as ISO 8601 has local times.
pub(super) fn time_or_local(grammar: &mut Grammar) -> FormatLanguage {
    let with_offset = time(grammar)?;
    let local = grammar.whole(r"(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?")?;
    Ok(grammar.arena.or(vec![with_offset, local])?)
}

/// [`date_time`], or a date and time without offset.
pub(super) fn date_time_or_local(grammar: &mut Grammar) -> FormatLanguage {
    on_a_date(grammar, time_or_local)
}

fn on_a_date(grammar: &mut Grammar, time: fn(&mut Grammar) -> FormatLanguage) -> FormatLanguage {
    let date = grammar.whole(&format!("(?:{})[Tt]", full_date()))?;
    let time = time(grammar)?;
    Ok(grammar.arena.concat(date, time)?)
}

/// `duration` of appendix A: units in order and without gaps.
pub(super) fn duration(grammar: &mut Grammar) -> FormatLanguage {
    let time = r"T(?:\d+H(?:\d+M(?:\d+S)?)?|\d+M(?:\d+S)?|\d+S)";
    let date = r"(?:\d+Y(?:\d+M(?:\d+D)?)?|\d+M(?:\d+D)?|\d+D)";
    grammar.whole(&format!(r"P(?:{date}(?:{time})?|{time}|\d+W)"))
}

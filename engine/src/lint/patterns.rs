//! Warnings about patterns in dialects other than ECMA-262.

use super::places::Place;
use super::report::Report;
use super::warning::WarningKind;
use crate::PatternSyntax;
use crate::strings::{LanguageLimits, PatternError, check_pattern};

/// Length in bytes of the longest pattern that is checked: reading one takes time, and a list of words is no mistake.
const LONGEST: usize = 4_096;

/// Names of POSIX classes.
const POSIX: [&str; 14] = [
    "alnum", "alpha", "ascii", "blank", "cntrl", "digit", "graph", "lower", "print", "punct", "space", "upper", "word",
    "xdigit",
];

/// Warns of syntax in the patterns of a schema that ECMA-262 does not have, or reads otherwise.
pub(super) fn check(report: &mut Report<'_>, place: &Place<'_>) {
    if place.is_hidden() {
        return;
    }
    let json = place.json;
    if let Some(pattern) = place
        .value("pattern")
        .filter(|_| place.has("pattern"))
        .and_then(|at| json.string(at))
        && report.may_read(pattern)
    {
        for (kind, message) in found(pattern, report.options.schema.patterns) {
            report.warn_of(kind, place, "pattern", message);
        }
    }
    let Some(members) = place
        .value("patternProperties")
        .filter(|_| place.has("patternProperties"))
    else {
        return;
    };
    for (pattern, _) in json.members(members) {
        if !report.may_read(pattern) {
            return;
        }
        for (kind, message) in found(pattern, report.options.schema.patterns) {
            report.warn_within(kind, place, "patternProperties", pattern, message);
        }
        if report.is_full() {
            return;
        }
    }
}

fn found(pattern: &str, syntax: PatternSyntax) -> Vec<(WarningKind, String)> {
    let mut found = Vec::new();
    // The meaning of patterns in ECMA-262 does not matter where they are those of another dialect.
    let is_other = matches!(syntax, PatternSyntax::Rust | PatternSyntax::Python);
    if is_other || pattern.len() > LONGEST {
        return found;
    }
    let limits = LanguageLimits::default();
    // A pattern that is refused has an error that says so.
    if check_pattern(pattern, syntax, &limits).is_err() {
        return found;
    }
    if let Err(PatternError::Foreign { what, remedy, .. }) = check_pattern(pattern, PatternSyntax::Ecma, &limits) {
        let message = format!(
            "{what} is read as Go, Python, Rust and PCRE read it; validators that keep to ECMA-262 refuse it: {remedy}"
        );
        found.push((WarningKind::PatternDialect, message));
    }
    let meanings = [
        posix_class(pattern),
        open_repetition(pattern),
        delimiters(pattern),
        class_operation(pattern),
        loose_alternatives(pattern),
        doubled_backslash(pattern),
    ];
    found.extend(
        meanings
            .into_iter()
            .flatten()
            .map(|message| (WarningKind::PatternMeaning, message)),
    );
    found
}

fn posix_class(pattern: &str) -> Option<String> {
    let mut rest = pattern;
    while let Some(at) = rest.find("[:") {
        rest = &rest[at + 2..];
        let (name, _) = rest.split_once(":]")?;
        let name = name.strip_prefix('^').unwrap_or(name);
        if POSIX.contains(&name) {
            let (classes, ranges) = match name {
                "alpha" => (r"`\p{L}`", "`a-zA-Z`"),
                "digit" => (r"`\p{Nd}`", "`0-9`"),
                "alnum" => (r"`\p{L}\p{Nd}`", "`a-zA-Z0-9`"),
                "space" => (r"`\s`", r"` \t\n`"),
                "upper" => (r"`\p{Lu}`", "`A-Z`"),
                "lower" => (r"`\p{Ll}`", "`a-z`"),
                "xdigit" => (r"`\p{AHex}`", "`0-9A-Fa-f`"),
                "punct" => (r"`\p{P}`", "the characters"),
                _ => ("an escape", "the characters"),
            };
            return Some(format!(
                "ECMA-262 has no `[:{name}:]`: it reads the letters between the colons one by one; write {ranges} or {classes} in the class"
            ));
        }
    }
    None
}

/// `{,3}`, which Python and others read as `{0,3}`.
fn open_repetition(pattern: &str) -> Option<String> {
    for (at, _) in pattern.match_indices("{,") {
        let digits = pattern[at + 2..].bytes().take_while(u8::is_ascii_digit).count();
        let is_closed = pattern[at + 2 + digits..].starts_with('}');
        let is_escaped = pattern[..at].ends_with('\\') && !pattern[..at].ends_with(r"\\");
        if digits > 0 && is_closed && !is_escaped && at > 0 {
            let most = &pattern[at + 2..at + 2 + digits];
            return Some(format!(
                "ECMA-262 reads `{{,{most}}}` as these characters themselves: write `{{0,{most}}}`"
            ));
        }
    }
    None
}

/// Whether a part of a pattern ends with `$` as an assertion.
fn ends_with_assertion(part: &str) -> bool {
    let before = part.strip_suffix('$');
    before.is_some_and(|before| (before.len() - before.trim_end_matches('\\').len()).is_multiple_of(2))
}

/// `/^a$/`, as patterns stand in programs.
fn delimiters(pattern: &str) -> Option<String> {
    let inside = pattern.strip_prefix('/')?;
    let (inside, flags) = inside.rsplit_once('/')?;
    let are_flags = flags.len() <= 4 && flags.bytes().all(|byte| b"dgimsuvy".contains(&byte));
    let (begins, ends) = (inside.starts_with('^'), ends_with_assertion(inside));
    // Of several alternatives, others than the first and the last may match.
    let never = match alternatives(pattern).len() {
        1 => begins || ends,
        2 => begins && ends,
        _ => false,
    };
    (are_flags && never)
        .then(|| "the slashes around it are part of the pattern, so that it never matches: leave them out".to_owned())
}

/// `[a-z&&[^b]]`, as Java has it.
fn class_operation(pattern: &str) -> Option<String> {
    let has_one = pattern.match_indices("&&[").any(|(at, _)| pattern[..at].contains('['));
    has_one.then(|| {
        "ECMA-262 has no intersections of classes such as `[a-z&&[^b]]`: write a lookahead, `(?!b)[a-z]`".to_owned()
    })
}

/// `^a|b$`, in which `^` holds for the first alternative and `$` for the last.
fn loose_alternatives(pattern: &str) -> Option<String> {
    let alternatives = alternatives(pattern);
    let (first, last) = (*alternatives.first()?, *alternatives.last()?);
    let starts = |part: &str| part.starts_with('^');
    let ends = ends_with_assertion;
    let is_loose = alternatives.len() > 1 && starts(first) && !ends(first) && ends(last) && !starts(last);
    is_loose.then(|| {
        "`^` holds for the first alternative alone and `$` for the last, so that these may stand anywhere in longer texts: write `^(?:…|…)$`".to_owned()
    })
}

/// The alternatives of a pattern that no group holds.
fn alternatives(pattern: &str) -> Vec<&str> {
    let (mut found, mut from, mut depth, mut in_class) = (Vec::new(), 0, 0_usize, false);
    let mut bytes = pattern.bytes().enumerate();
    while let Some((at, byte)) = bytes.next() {
        match byte {
            b'\\' => {
                bytes.next();
            }
            b'[' => in_class = true,
            b']' => in_class = false,
            b'(' if !in_class => depth += 1,
            b')' if !in_class => depth = depth.saturating_sub(1),
            b'|' if !in_class && depth == 0 => {
                found.push(&pattern[from..at]);
                from = at + 1;
            }
            _ => {}
        }
    }
    found.push(&pattern[from..]);
    found
}

/// `\\\\d+`, where a backslash was escaped for JSON and once more.
fn doubled_backslash(pattern: &str) -> Option<String> {
    let mut rest = pattern;
    while let Some(at) = rest.find('\\') {
        let behind = rest[at + 1..].strip_prefix('\\');
        if let Some(behind) = behind
            && let Some(letter) = behind.chars().next().filter(|letter| matches!(letter, 'd' | 's' | 'w'))
            && behind[1..].starts_with(['+', '*', '{'])
        {
            return Some(format!(
                "it asks for a backslash and then the letter `{letter}`: write `\\{letter}`, which is `\\\\{letter}` within JSON"
            ));
        }
        // An escape is the backslash and a character.
        rest = &rest[at + 1..];
        rest = &rest[rest.chars().next().map_or(0, char::len_utf8)..];
    }
    None
}

//! What reaches a terminal: how wide it is, and texts of others made harmless.

use std::borrow::Cow;

/// Longest JSON Pointer that is shown whole, in characters.
const LONGEST_POINTER: usize = 100;
/// Segments of a longer pointer that are shown at its beginning and at its end.
const SHOWN_SEGMENTS: (usize, usize) = (3, 3);
/// Longest segment that is shown whole, in characters.
const LONGEST_SEGMENT: usize = 30;

/// Columns of the terminal that standard output is, or those that the environment variable `COLUMNS` says. None where there
/// is neither: a file may have lines of any length.
pub fn width() -> Option<usize> {
    let told = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let told = told.filter(|columns| *columns > 0);
    told.or_else(|| comfy_table::Table::new().width().map(usize::from))
}

/// A text in which control characters are shown instead of obeyed, but for line ends and tabs.
pub fn harmless(text: &str) -> Cow<'_, str> {
    let is_harmless = |character: char| !character.is_control() || matches!(character, '\n' | '\t');
    match text.chars().all(is_harmless) {
        true => Cow::Borrowed(text),
        false => Cow::Owned(text.chars().fold(String::new(), |mut shown, character| {
            match is_harmless(character) {
                true => shown.push(character),
                false => shown.extend(character.escape_default()),
            }
            shown
        })),
    }
}

/// Columns within which sentences are wrapped where the terminal is wider, or there is none.
const READABLE: usize = 120;

/// A text of one paragraph in lines as wide as the terminal, broken between words.
pub fn wrapped(text: &str) -> String {
    wrapped_within(text, readable_width()).join("\n")
}

fn wrapped_within(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// Columns that a name takes in a list, with the space around it.
const NAME_COLUMNS: usize = 25;

/// A name and what it stands for, in lines as wide as the terminal.
pub fn listed(name: &str, description: &str) -> String {
    let width = readable_width();
    let lines = wrapped_within(description, width.saturating_sub(NAME_COLUMNS).max(20));
    let mut text = format!("  {name:<22} ");
    for (number, line) in lines.iter().enumerate() {
        if number > 0 {
            // A word that cannot be broken, such as an address, begins further left.
            let indent = width.saturating_sub(line.chars().count()).clamp(4, NAME_COLUMNS);
            text += &" ".repeat(indent);
        } else if line.chars().count() + NAME_COLUMNS > width {
            text = format!("{}\n    ", text.trim_end());
        }
        text += line;
        text.push('\n');
    }
    text
}

fn readable_width() -> usize {
    width().unwrap_or(READABLE).min(READABLE)
}

/// A text in one line, without control characters.
pub fn one_line(text: &str) -> String {
    let line = text.trim_end().replace("\r\n", " ").replace(['\n', '\t'], " ");
    harmless(&line).into_owned()
}

/// A message in which JSON Pointers that are very long lack their middle: those in backquotes, and those after `at`.
pub fn with_short_pointers(message: &str) -> String {
    let parts = message
        .split('`')
        .enumerate()
        .map(|(number, part)| match number % 2 == 1 {
            true if part.starts_with('/') => short_pointer(part),
            true => part.to_owned(),
            false => with_short_places(part),
        });
    parts.collect::<Vec<_>>().join("`")
}

/// A text in which the pointers after ` at ` are short.
fn with_short_places(text: &str) -> String {
    const AT: &str = " at /";
    let parts = text.split(AT).enumerate().map(|(number, part)| match number {
        0 => part.to_owned(),
        _ => {
            let end = part.find([' ', ':', '\n']).unwrap_or(part.len());
            let pointer = short_pointer(&format!("/{}", &part[..end]));
            format!(" at {pointer}{}", &part[end..])
        }
    });
    parts.collect()
}

fn short_pointer(pointer: &str) -> String {
    if pointer.chars().count() <= LONGEST_POINTER {
        return pointer.to_owned();
    }
    let segments: Vec<&str> = pointer.split('/').skip(1).collect();
    let shown = |segment: &&str| match segment.char_indices().nth(LONGEST_SEGMENT) {
        Some((end, _)) => format!("/{}…", &segment[..end]),
        None => format!("/{segment}"),
    };
    let (first, last) = SHOWN_SEGMENTS;
    match segments.len() > first + last {
        true => {
            let left_out = segments.len() - first - last;
            let begin: String = segments[..first].iter().map(shown).collect();
            let end: String = segments[segments.len() - last..].iter().map(shown).collect();
            format!("{begin}/… {left_out} more …{end}")
        }
        false => segments.iter().map(shown).collect(),
    }
}

/// How alike two names have to be for one to be taken for a misspelling of the other, from 0 to 1.
const ALIKE: f64 = 0.75;

/// A question after the name that is most like `name`, to stand at the end of a message; empty where none is like it.
pub fn did_you_mean<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let likeness = |other: &str| strsim::jaro_winkler(&name.to_lowercase(), &other.to_lowercase());
    let nearest = known
        .into_iter()
        .max_by(|one, other| likeness(one).total_cmp(&likeness(other)));
    match nearest.filter(|nearest| likeness(nearest) >= ALIKE) {
        Some(nearest) => format!("; did you mean {nearest:?}?"),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_shown_not_obeyed() {
        assert_eq!(harmless("a\u{1b}[31mb\u{7}\u{9b}c\n"), "a\\u{1b}[31mb\\u{7}\\u{9b}c\n");
        assert_eq!(harmless("Zoë 日本\t1"), "Zoë 日本\t1");
        assert_eq!(one_line("a\r\nb\nc\u{8}\n"), "a b c\\u{8}");
    }

    #[test]
    fn long_pointers_lack_their_middle() {
        let deep = "/properties/a".repeat(100);
        let message = with_short_pointers(&format!("`{deep}/type`: wrong, at `/properties/note`"));
        assert_eq!(
            message,
            "`/properties/a/properties/… 195 more …/properties/a/type`: wrong, at `/properties/note`"
        );
        let place = with_short_pointers(&format!("malformed schema at {deep}: wrong"));
        assert_eq!(
            place,
            "malformed schema at /properties/a/properties/… 194 more …/a/properties/a: wrong"
        );
        let wide = format!("`/{}`", "x".repeat(1000));
        assert!(with_short_pointers(&wide).chars().count() < 40);
    }
}

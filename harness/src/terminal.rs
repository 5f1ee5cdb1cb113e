//! Output to a terminal: its width, and texts of others made harmless.

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
    escaped(text, |character| {
        is_control(character) && !matches!(character, '\n' | '\t')
    })
}

/// A text of others within a line of ours: it cannot end the line and begin another that looks like ours.
pub fn in_line(text: &str) -> Cow<'_, str> {
    escaped(text, is_control)
}

/// Whether a terminal obeys a character instead of showing it, or shows what stands around it elsewhere.
pub fn is_control(character: char) -> bool {
    // Marks, embeddings, overrides and isolates of writing directions, and the separators of lines and paragraphs.
    let turns_text =
        matches!(character, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    character.is_control() || turns_text
}

fn escaped(text: &str, is_harmful: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.chars().any(&is_harmful) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.chars().fold(String::new(), |mut shown, character| {
        match is_harmful(character) {
            true => shown.extend(character.escape_default()),
            false => shown.push(character),
        }
        shown
    }))
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

/// A line that is folded between words where the terminal is narrower, each further line a little to the right. Where there is
/// no terminal it stays one line, for programs that read lines.
pub fn folded(line: &str) -> String {
    match width() {
        Some(width) => folded_within(line, width.min(READABLE)),
        None => line.to_owned(),
    }
}

fn folded_within(line: &str, width: usize) -> String {
    const INDENT: &str = "  ";
    let (mut text, mut column) = (String::new(), 0);
    for (number, word) in line.split(' ').enumerate() {
        let length = word.chars().count();
        if number > 0 && column + 1 + length > width {
            text.push('\n');
            text += INDENT;
            column = INDENT.len();
        } else if number > 0 {
            text.push(' ');
            column += 1;
        }
        text += word;
        column += length;
    }
    text
}

/// Columns that a name takes in a list, with the space around it.
const NAME_COLUMNS: usize = 25;

/// Returns a name and its description, in lines as wide as the terminal.
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

/// The first `most` characters of a text, with an ellipsis where there are more.
pub fn shortened(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
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

/// Smallest similarity of two names, from 0 to 1, at which one is taken for a misspelling of the other.
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
        assert_eq!(harmless("a\u{202e}b\u{2028}"), "a\\u{202e}b\\u{2028}");
        assert_eq!(in_line("a\nb\tc"), "a\\nb\\tc");
    }

    #[test]
    fn lines_are_folded_between_words() {
        let line = "order.json: forbidden at byte 65, expected \"a  b\"";
        assert_eq!(
            folded_within(line, 24),
            "order.json: forbidden at\n  byte 65, expected \"a \n  b\""
        );
        assert_eq!(folded_within(line, 100), line);
        assert_eq!(folded_within("a-long-word b", 3), "a-long-word\n  b");
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

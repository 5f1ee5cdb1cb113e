//! Small English: numbers, articles, enumerations, sentences.

use super::taxonomy::{Bounds, Length};
use crate::ifstruct::Count;
use crate::ifstruct::draw::Draw;

/// Replaces each `{name}` in a template by the value of that name in `values`.
pub(super) fn fill(template: &str, values: &[(&str, &str)]) -> String {
    let mut text = String::with_capacity(template.len() + 32);
    let mut rest = template;
    while let Some(open) = rest.find('{') {
        let (before, behind) = rest.split_at(open);
        text.push_str(before);
        let place = behind.find('}').and_then(|close| {
            let value = values.iter().find(|(name, _)| *name == &behind[1..close])?;
            Some((value.1, &behind[close + 1..]))
        });
        match place {
            Some((value, behind)) => {
                text.push_str(value);
                rest = behind;
            }
            None => {
                text.push('{');
                rest = &behind[1..];
            }
        }
    }
    text.push_str(rest);
    text
}

/// One of `templates`, filled.
pub(super) fn say(draw: &mut Draw, templates: &[&str], values: &[(&str, &str)]) -> String {
    fill(draw.pick(templates), values)
}

/// Makes the first letter a capital.
pub(super) fn capitalise(text: &str) -> String {
    let mut characters = text.chars();
    match characters.next() {
        Some(first) => first.to_uppercase().chain(characters).collect(),
        None => String::new(),
    }
}

/// Writes a field's meaning as a label of its own: no article, a capital first.
pub(super) fn label(about: &str) -> String {
    let bare = ["the ", "a ", "an "]
        .iter()
        .find_map(|article| about.strip_prefix(article));
    capitalise(bare.unwrap_or(about))
}

/// `a` or `an`, as the sound of `word` wants it.
pub(super) fn article(word: &str) -> &'static str {
    let lower = word.to_lowercase();
    let vowel = lower.starts_with(['a', 'e', 'i', 'o', 'u']);
    let sounds_like_consonant = ["uni", "one", "use", "eu"].iter().any(|start| lower.starts_with(start));
    if vowel && !sounds_like_consonant { "an" } else { "a" }
}

/// `word` behind its article.
pub(super) fn with_article(word: &str) -> String {
    format!("{} {word}", article(word))
}

/// `a, b and c`, with `last` before the last one.
pub(super) fn join(items: &[String], last: &str) -> String {
    match items {
        [] => String::new(),
        [one] => one.clone(),
        [init @ .., end] => format!("{} {last} {end}", init.join(", ")),
    }
}

/// A name's words.
pub(super) fn words(name: &str) -> String {
    name.replace('_', " ")
}

/// A number as people write it.
pub(super) fn figure(value: f64) -> String {
    value.to_string()
}

/// A small number in letters.
pub(super) fn spelled(number: u64) -> String {
    const WORDS: [&str; 13] = [
        "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    ];
    usize::try_from(number)
        .ok()
        .and_then(|place| WORDS.get(place))
        .map_or_else(|| number.to_string(), |word| (*word).to_owned())
}

/// Writes the number of items, in one of the ways people say it.
pub(super) fn count(count: Count, draw: &mut Draw) -> String {
    let in_letters = draw.chance(35);
    let number = |number: u64| match in_letters {
        true => spelled(number),
        false => number.to_string(),
    };
    match count {
        Count::Exactly(1) => draw
            .pick(&["exactly one", "exactly 1", "a single", "just one"])
            .to_owned(),
        Count::Exactly(exact) => match draw.chance(55) {
            true => format!("exactly {}", number(exact)),
            false => number(exact),
        },
        Count::Between(low, high) => {
            let (low, high) = (number(low), number(high));
            match draw.below(4) {
                0 if !in_letters => format!("{low}-{high}"),
                1 => format!("between {low} and {high}"),
                2 => format!("anywhere from {low} to {high}"),
                _ => format!("{low} to {high}"),
            }
        }
    }
}

/// Spelling of bounds and lengths in a prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Range {
    /// `≥1, ≤5`
    Symbols,
    /// `min 1, max 5`
    MinMax,
    /// `between 1 and 5`
    Between,
    /// `1 to 5`
    To,
    /// `minimum: 1, maximum: 5`
    Keywords,
    /// `>= 1 and <= 5`
    Comparisons,
    /// `1-5`, where neither is negative
    Dash,
}

impl Range {
    /// Bounds in words, if there are any.
    pub(super) fn bounds(self, bounds: Bounds) -> Option<String> {
        Some(match (bounds.min.map(figure), bounds.max.map(figure)) {
            (None, None) => return None,
            (Some(min), Some(max)) => match self {
                Self::Symbols => format!("≥{min}, ≤{max}"),
                Self::MinMax => format!("min {min}, max {max}"),
                Self::Between => format!("between {min} and {max}"),
                Self::Keywords => format!("minimum: {min}, maximum: {max}"),
                Self::Comparisons => format!(">= {min} and <= {max}"),
                Self::Dash if !min.starts_with('-') && !max.starts_with('-') => format!("{min}-{max}"),
                Self::To | Self::Dash => format!("{min} to {max}"),
            },
            (Some(min), None) => match self {
                Self::Symbols => format!("≥{min}"),
                Self::MinMax => format!("min {min}"),
                Self::Keywords => format!("minimum: {min}"),
                Self::Comparisons => format!(">= {min}"),
                Self::Between => format!("at least {min}"),
                Self::To | Self::Dash => format!("{min} or more"),
            },
            (None, Some(max)) => match self {
                Self::Symbols => format!("≤{max}"),
                Self::MinMax => format!("max {max}"),
                Self::Keywords => format!("maximum: {max}"),
                Self::Comparisons => format!("<= {max}"),
                Self::Between => format!("at most {max}"),
                Self::To | Self::Dash => format!("{max} or less"),
            },
        })
    }
}

/// Writes the length of a list, as it stands before the items' name; `None` where any number will do.
pub(super) fn length(length: Length, dash: &str) -> Option<String> {
    Some(match (length.min, length.max) {
        (None, None) => return None,
        (Some(min), Some(max)) if min == max => format!("exactly {min}"),
        (Some(min), Some(max)) => format!("{min}{dash}{max}"),
        (Some(min), None) => format!("at least {min}"),
        (None, Some(max)) => format!("at most {max}"),
    })
}

/// Whether a list of that length is spoken of in the singular.
pub(super) fn is_single(length: Length) -> bool {
    length.max == Some(1) || (length.min == Some(1) && length.max.is_none())
}

#[cfg(test)]
mod tests {
    use super::{fill, join, label, with_article};

    #[test]
    fn small_english_is_right() {
        assert_eq!(fill("{a} and {b}{c}", &[("a", "1"), ("b", "{a}")]), "1 and {a}{c}");
        assert_eq!(join(&["a", "b", "c"].map(str::to_owned), "or"), "a, b or c");
        assert_eq!(label("the name of the dish"), "Name of the dish");
        assert_eq!(label("how many there are"), "How many there are");
        for (word, article) in [("integer", "an"), ("unit", "a"), ("API endpoint", "an")] {
            assert_eq!(with_article(word), format!("{article} {word}"));
        }
    }
}

//! Property names: composed from word lists in the usual spellings, and now and then a made-up word.

use rand::Rng;
use rand::seq::IndexedRandom;
use rand_chacha::ChaCha8Rng;

use super::words;

/// Spelling of a name: the way in which its words are joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    Snake,
    Camel,
    Kebab,
    Pascal,
    Joined,
    Spaced,
}

impl Style {
    /// A style; documents mostly keep to one.
    pub(super) fn random(rng: &mut ChaCha8Rng) -> Self {
        match rng.random_range(0..100) {
            0..45 => Self::Snake,
            45..80 => Self::Camel,
            80..90 => Self::Kebab,
            90..95 => Self::Pascal,
            95..98 => Self::Joined,
            _ => Self::Spaced,
        }
    }

    fn join(self, words: &[&str]) -> String {
        match self {
            Self::Snake => words.join("_"),
            Self::Kebab => words.join("-"),
            Self::Joined => words.concat(),
            Self::Spaced => words.join(" "),
            Self::Pascal => words.iter().map(|w| capitalised(w)).collect(),
            Self::Camel => {
                let rest: String = words.iter().skip(1).map(|w| capitalised(w)).collect();
                format!("{}{rest}", words.first().unwrap_or(&""))
            }
        }
    }
}

/// `word` with an upper-case first letter.
pub(super) fn capitalised(word: &str) -> String {
    let mut chars = word.chars();
    chars
        .next()
        .map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

/// One entry of `list`; the empty text if there is none.
pub(super) fn pick<'a>(rng: &mut ChaCha8Rng, list: &[&'a str]) -> &'a str {
    list.choose(rng).copied().unwrap_or_default()
}

/// A name, and the noun that its value should suit (empty for a made-up name).
#[derive(Clone, Debug)]
pub(crate) struct Name {
    pub(crate) text: String,
    pub(super) noun: &'static str,
}

/// A property name that is not in `taken`.
pub(crate) fn property(rng: &mut ChaCha8Rng, style: Style, taken: &[String]) -> Name {
    loop {
        let name = any_property(rng, style);
        if !taken.contains(&name.text) {
            return name;
        }
    }
}

fn any_property(rng: &mut ChaCha8Rng, style: Style) -> Name {
    let noun = pick(rng, words::NOUNS);
    let text = match rng.random_range(0..100) {
        0..40 => style.join(&[noun]),
        40..64 => style.join(&[pick(rng, words::MODIFIERS), noun]),
        64..80 => style.join(&[pick(rng, words::NOUNS), noun]),
        80..87 => style.join(&[pick(rng, words::VERBS), noun]),
        87..91 => style.join(&[pick(rng, words::MODIFIERS), pick(rng, words::NOUNS), noun]),
        91..93 => format!("{}{}", style.join(&[noun]), rng.random_range(1..10)),
        _ => {
            return Name {
                text: made_up(rng),
                noun: "",
            };
        }
    };
    Name { text, noun }
}

/// The name of a definition, such as `address` or `BillingAccount`.
pub(super) fn definition(rng: &mut ChaCha8Rng, style: Style) -> String {
    let noun = pick(rng, words::NOUNS);
    if rng.random_bool(0.7) {
        style.join(&[noun])
    } else {
        style.join(&[pick(rng, words::MODIFIERS), noun])
    }
}

/// A made-up word or identifier, for names that no list foresees.
fn made_up(rng: &mut ChaCha8Rng) -> String {
    const ONSETS: &[&str] = &[
        "b", "d", "f", "g", "k", "l", "m", "n", "p", "r", "s", "t", "v", "z", "st", "tr", "qu",
    ];
    const VOWELS: &[&str] = &["a", "e", "i", "o", "u"];
    if rng.random_bool(0.3) {
        let letters = rng.random_range(1..4);
        return (0..letters)
            .map(|_| char::from(rng.random_range(b'a'..=b'z')))
            .collect();
    }
    let mut word = String::new();
    for _ in 0..rng.random_range(2..4) {
        word.push_str(pick(rng, ONSETS));
        word.push_str(pick(rng, VOWELS));
    }
    if rng.random_bool(0.3) {
        word.push_str(pick(rng, &["n", "r", "s", "x"]));
    }
    word
}

/// `count` distinct entries of `list`, fewer if the list is shorter.
pub(super) fn several(rng: &mut ChaCha8Rng, list: &[&'static str], count: usize) -> Vec<&'static str> {
    list.choose_multiple(rng, count).copied().collect()
}

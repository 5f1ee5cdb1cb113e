//! The vocabulary of a writer: bytes, words, usual numbers and strings.

use std::collections::HashMap;
use std::sync::Arc;

use maskwright::{TokenId, Vocabulary, VocabularyError};
use serde_json::Value;

use super::guide::strings_of;

/// The token that ends a document; those below it are the bytes.
pub(super) const END: TokenId = 256;
/// Strings of a schema that get a token each.
const MAX_STRINGS: usize = 20_000;

/// Words of strings and names that the schema leaves free.
const WORDS: [&str; 72] = [
    "amber", "anchor", "apple", "april", "autumn", "basket", "birch", "blue", "bread", "bridge", "candle", "carbon",
    "cedar", "city", "clover", "coast", "copper", "cotton", "daily", "delta", "early", "east", "ember", "field",
    "first", "forest", "garden", "glass", "green", "harbour", "hazel", "honey", "indigo", "island", "ivory", "jasmine",
    "juniper", "kettle", "lake", "lemon", "linen", "little", "maple", "market", "meadow", "morning", "new", "north",
    "ocean", "olive", "orange", "paper", "pearl", "pine", "quiet", "rain", "red", "river", "saffron", "silver",
    "small", "south", "spring", "stone", "summer", "timber", "violet", "walnut", "west", "willow", "window", "winter",
];

/// Numbers that are written where the mask allows them.
const NUMBERS: [&str; 40] = [
    "0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "12", "15", "18", "20", "24", "25", "30", "42", "50", "60",
    "75", "80", "90", "99", "100", "120", "250", "365", "500", "1000", "2024", "0.5", "1.5", "2.25", "3.75", "12.5",
    "19.99", "-1", "-7",
];

/// Usual values of formats.
const FORMATS: [(&str, &[&str]); 18] = [
    (
        "date",
        &["2023-11-05", "2024-02-29", "2024-05-17", "2025-01-01", "2025-09-30"],
    ),
    (
        "date-time",
        &[
            "2023-11-05T08:15:00Z",
            "2024-05-17T14:30:00Z",
            "2025-01-01T00:00:00Z",
            "2025-03-14T09:26:53+01:00",
        ],
    ),
    ("time", &["08:15:00Z", "14:30:00Z", "09:26:53+01:00"]),
    ("duration", &["PT15M", "PT2H", "P1D", "P3DT12H", "P2W"]),
    (
        "email",
        &["anna@example.com", "li.wei@example.org", "support@example.net"],
    ),
    ("idn-email", &["anna@example.com", "jürgen@example.org"]),
    ("hostname", &["example.com", "www.example.org", "api.example.net"]),
    ("idn-hostname", &["example.com", "www.example.org"]),
    ("ipv4", &["192.0.2.17", "198.51.100.4", "203.0.113.80"]),
    ("ipv6", &["2001:db8::1", "2001:db8:0:1::25", "::1"]),
    (
        "uri",
        &[
            "https://example.com",
            "https://example.org/orders/42",
            "https://example.net/docs?page=2",
        ],
    ),
    ("uri-reference", &["https://example.com", "/orders/42", "docs?page=2"]),
    ("iri", &["https://example.com", "https://example.org/orders/42"]),
    ("iri-reference", &["https://example.com", "/orders/42"]),
    ("uri-template", &["https://example.com/orders/{id}"]),
    (
        "uuid",
        &[
            "3f2b8c1e-5d47-4a6b-9e0f-7c1d2a3b4c5d",
            "a81bc81b-dead-4e5d-abff-90865d1e13b1",
        ],
    ),
    ("json-pointer", &["/orders/0", "/name"]),
    ("regex", &["^[a-z]+$", "\\d{3}"]),
];

/// Letters that begin no word, name or value: where they may come, any letters may.
const ANY_LETTERS: &str = "qzxvkjw";

/// The vocabulary, with tables of its words and whole strings.
#[derive(Debug)]
pub(super) struct Tokens {
    pub(super) vocabulary: Arc<Vocabulary>,
    /// The token that writes a string to its end, closing quote included.
    whole: HashMap<String, TokenId>,
    /// Words, and with a space before them.
    pub(super) words: Vec<(TokenId, TokenId)>,
    pub(super) numbers: Vec<TokenId>,
    pub(super) any_letters: TokenId,
}

impl Tokens {
    /// The vocabulary for documents of a schema.
    ///
    /// # Errors
    ///
    /// [`VocabularyError`], where the vocabulary cannot be built.
    pub(super) fn new(schema: &Value) -> Result<Self, VocabularyError> {
        let mut builder = Vocabulary::builder();
        for byte in 0..=u8::MAX {
            builder = builder.text(u32::from(byte), [byte])?;
        }
        builder = builder.special(END, "end")?;
        let mut next = END;
        let mut texts: Vec<String> = Vec::new();
        let mut add = |text: String| {
            next += 1;
            texts.push(text);
            next
        };
        let words = WORDS.map(|word| (add(word.to_owned()), add(format!(" {word}"))));
        let numbers = NUMBERS.iter().filter(|number| number.len() > 1);
        let mut numbers: Vec<TokenId> = numbers.map(|number| add((*number).to_owned())).collect();
        numbers.extend((b'0'..=b'9').map(TokenId::from));
        let any_letters = add(ANY_LETTERS.to_owned());
        let mut whole = HashMap::new();
        let usual = FORMATS.iter().flat_map(|(_, values)| values.iter());
        let usual = usual.map(|value| (*value).to_owned());
        for string in strings_of(schema, MAX_STRINGS).into_iter().chain(usual) {
            // The rest of the string after its opening quote, as the style `generation` writes it.
            let spelled = Value::String(string.clone()).to_string();
            whole.entry(string).or_insert_with(|| add(spelled[1..].to_owned()));
        }
        for (text, id) in texts.into_iter().zip(END + 1..) {
            builder = builder.text(id, text)?;
        }
        Ok(Self {
            vocabulary: Arc::new(builder.eos([END]).build()?),
            whole,
            words: words.to_vec(),
            numbers,
            any_letters,
        })
    }

    /// The token that writes a string to its end.
    pub(super) fn whole(&self, string: &str) -> Option<TokenId> {
        self.whole.get(string).copied()
    }

    /// The tokens of a format's usual values.
    pub(super) fn of_format(&self, format: &str) -> Vec<TokenId> {
        let values = FORMATS.iter().find(|(name, _)| *name == format);
        let values = values.map_or(&[][..], |(_, values)| values);
        values.iter().filter_map(|value| self.whole(value)).collect()
    }
}

/// Returns the weight of a byte within a string: the more usual, the larger.
pub(super) fn weight_in_text(byte: u8) -> f64 {
    match byte {
        b'e' | b't' | b'a' | b'o' | b'i' | b'n' => 8.0,
        b'a'..=b'z' => 3.0,
        b'0'..=b'9' => 2.0,
        b'A'..=b'Z' => 1.5,
        b'-' | b'_' | b' ' | b'.' | b'/' | b'@' | b':' => 0.3,
        0x21..=0x7E => 0.05,
        0x80.. => 0.002,
        _ => 0.001,
    }
}

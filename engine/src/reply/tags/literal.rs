//! [`Literal`]: a fixed text in which the names of special tokens are replaced by these tokens, encoded as bytes.
//!
//! A token that stands for itself is encoded as five bytes that occur in no UTF-8 text: a lead byte, and the id in four digits of six
//! bits. So a reply of text and special tokens is one string of bytes, and every automaton over bytes reads tokens too.

use hashbrown::HashMap;

use crate::{TokenId, TokenKind, Vocabulary};

/// The lead byte of a special token.
pub(super) const SPECIAL: u8 = 0xFF;
/// The lead byte of a token of text that is meant by its id.
pub(super) const BY_ID: u8 = 0xFE;
/// Bytes of a token that stands for itself.
pub(super) const TOKEN_BYTES: usize = 5;

/// Whether a byte begins a token that stands for itself.
pub(super) fn is_lead(byte: u8) -> bool {
    byte >= BY_ID
}

/// The bytes of a token that stands for itself.
pub(super) fn token_bytes(token: TokenId, kind: TokenKind) -> [u8; TOKEN_BYTES] {
    let lead = match kind {
        TokenKind::Special => SPECIAL,
        TokenKind::Text | TokenKind::Unused => BY_ID,
    };
    let digit = |place: u32| 0x80 | (token >> (6 * place) & 0x3F) as u8;
    [lead, digit(3), digit(2), digit(1), digit(0)]
}

/// The token that five bytes stand for.
fn token_of(bytes: &[u8]) -> TokenId {
    let digits = bytes.iter().skip(1);
    digits.fold(0, |token, digit| token << 6 | TokenId::from(digit & 0x3F))
}

/// A part of a string of bytes in which tokens may stand for themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part<'a> {
    /// Text, not empty.
    Text(&'a [u8]),
    /// A token that stands for itself.
    Token(TokenId),
}

/// Splits a string of bytes into runs of text and tokens that stand for themselves. All tokens are complete.
pub(super) fn parts(mut bytes: &[u8]) -> impl Iterator<Item = Part<'_>> {
    std::iter::from_fn(move || {
        let text = bytes.iter().position(|byte| is_lead(*byte)).unwrap_or(bytes.len());
        if text > 0 {
            let (text, behind) = bytes.split_at(text);
            bytes = behind;
            return Some(Part::Text(text));
        }
        let (token, behind) = bytes.split_at_checked(TOKEN_BYTES)?;
        bytes = behind;
        Some(Part::Token(token_of(token)))
    })
}

/// Iterates over the tokens that stand for themselves in a string of bytes, each with its encoding.
pub(super) fn tokens_in(bytes: &[u8]) -> impl Iterator<Item = (TokenId, &[u8])> {
    let leads = (0..bytes.len()).filter(|at| is_lead(bytes[*at]));
    let tokens = leads.filter_map(|at| bytes.get(at..at + TOKEN_BYTES));
    tokens.map(|token| (token_of(token), token))
}

/// A fixed text.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Literal {
    /// The text as it was given; empty for a single token that was given by its id.
    pub(super) text: Box<[u8]>,
    /// The text with the names of special tokens replaced by encoded tokens.
    pub(super) bytes: Box<[u8]>,
}

impl Literal {
    /// A single token.
    pub(super) fn token(token: TokenId, kind: TokenKind) -> Self {
        Self {
            text: Box::default(),
            bytes: token_bytes(token, kind).into(),
        }
    }

    /// Splits the bytes where the text `beginning` has been read: at its end or, where that is within the name of a special token,
    /// behind the token. None where the text does not begin so.
    pub(super) fn split_behind(&self, beginning: &Literal) -> Option<(&[u8], &[u8])> {
        if self.bytes.starts_with(&beginning.bytes) {
            return Some(self.bytes.split_at(beginning.bytes.len()));
        }
        if beginning.text.is_empty() || !self.text.starts_with(&beginning.text) {
            return None;
        }
        // The texts agree up to a token of this text whose name goes on behind the beginning.
        let same = self
            .bytes
            .iter()
            .zip(&beginning.bytes)
            .take_while(|(one, other)| one == other);
        let mut at = same.count();
        // The first difference may be within a token.
        let lead = self.bytes[..at].iter().rposition(|byte| is_lead(*byte));
        if let Some(lead) = lead.filter(|lead| lead + TOKEN_BYTES > at) {
            at = lead;
        }
        (self.bytes.get(at).is_some_and(|byte| is_lead(*byte))).then(|| self.bytes.split_at(at + TOKEN_BYTES))
    }
}

/// The special tokens of a vocabulary by their names.
#[derive(Debug)]
pub(super) struct SpecialNames {
    names: HashMap<Box<[u8]>, TokenId>,
    /// Whether some name begins with a byte.
    begins: [bool; 256],
    /// The lengths of names, the longest first.
    lengths: Vec<usize>,
}

impl SpecialNames {
    pub(super) fn new(vocabulary: &Vocabulary) -> Self {
        let (mut names, mut begins, mut lengths) = (HashMap::new(), [false; 256], Vec::new());
        for token in 0..vocabulary.len() as TokenId {
            let name = vocabulary.token_bytes(token);
            if vocabulary.kind(token) == TokenKind::Special
                && let Some(first) = name.first()
            {
                begins[usize::from(*first)] = true;
                lengths.push(name.len());
                names.entry(name.into()).or_insert(token);
            }
        }
        lengths.sort_unstable_by(|one, other| other.cmp(one));
        lengths.dedup();
        Self { names, begins, lengths }
    }

    /// The special token of a name.
    pub(super) fn token(&self, name: &str) -> Option<TokenId> {
        self.names.get(name.as_bytes()).copied()
    }

    /// Encodes a text: replaces the names of special tokens by tokens, at each position the longest name.
    pub(super) fn literal(&self, text: &str) -> Literal {
        let text = text.as_bytes();
        let (mut bytes, mut at) = (Vec::with_capacity(text.len()), 0);
        while let Some(&byte) = text.get(at) {
            let found = self.begins[usize::from(byte)].then(|| {
                let lengths = self.lengths.iter();
                let names = lengths.filter_map(|length| text.get(at..at + length));
                names
                    .filter_map(|name| Some((name.len(), *self.names.get(name)?)))
                    .next()
            });
            match found.flatten() {
                Some((length, token)) => {
                    bytes.extend(token_bytes(token, TokenKind::Special));
                    at += length;
                }
                None => {
                    bytes.push(byte);
                    at += 1;
                }
            }
        }
        Literal {
            text: text.into(),
            bytes: bytes.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names() -> SpecialNames {
        let builder = Vocabulary::builder().text(0, "a").unwrap();
        let builder = builder.special(1, "<t>").unwrap().special(300, "<t><u>").unwrap();
        SpecialNames::new(&builder.eos([1]).build().unwrap())
    }

    #[test]
    fn names_of_special_tokens_stand_for_them() {
        let literal = names().literal("x<t><t><u><t");
        let found: Vec<Part<'_>> = parts(&literal.bytes).collect();
        let expected = [Part::Text(b"x"), Part::Token(1), Part::Token(300), Part::Text(b"<t")];
        assert_eq!(found, expected);
        assert_eq!(*literal.text, *b"x<t><t><u><t");
        assert_eq!(parts(b"").count(), 0);
    }

    #[test]
    fn a_text_is_split_behind_its_beginning() {
        let names = names();
        let split = |text: &str, beginning: &str| {
            let (text, beginning) = (names.literal(text), names.literal(beginning));
            text.split_behind(&beginning)
                .map(|(before, behind)| (before.to_vec(), behind.to_vec()))
        };
        assert_eq!(split("x=1", "x="), Some((b"x=".to_vec(), b"1".to_vec())));
        assert_eq!(split("x=1", "y"), None);
        let token = token_bytes(1, TokenKind::Special).to_vec();
        assert_eq!(split("<t>1", "<t>"), Some((token.clone(), b"1".to_vec())));
        assert_eq!(
            split("<t>1", "<t"),
            Some((token, b"1".to_vec())),
            "the name is read as a whole"
        );
        let longer = token_bytes(300, TokenKind::Special).to_vec();
        assert_eq!(split("<t><u>1", "<t>"), Some((longer, b"1".to_vec())));
    }
}

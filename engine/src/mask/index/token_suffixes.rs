//! [`TokenSuffixes`]: the distinct suffixes that tokens have behind a closing quote, numbered.

use crate::Escapes;

use super::spelling::{Extent, is_content};
use super::suffix_set::SuffixSet;
use super::trie::Trie;

/// The suffixes of tokens: their parts behind a closing quote, whitespace that makes no difference left out. A suffix's number is
/// its place.
#[derive(Debug)]
pub(crate) struct TokenSuffixes {
    pub(crate) trie: Trie<u8>,
    /// The suffixes, by their numbers.
    pub(crate) texts: Box<[Box<[u8]>]>,
    /// The kind of each suffix. The sets below have the same information; the kind is faster to look up for every listed name.
    kinds: Box<[SuffixKind]>,
    /// The suffixes that are empty.
    pub(crate) nothing: SuffixSet,
    /// The suffixes that may have characters of another string behind a comma.
    pub(crate) reaches_text: SuffixSet,
    /// The strings that each of those suffixes has; none for the others.
    reached: Box<[Box<[Reached]>]>,
    /// The suffixes that end a container.
    pub(crate) closes: SuffixSet,
    /// The suffixes that go on as behind a name.
    pub(crate) is_of_name: SuffixSet,
    /// The suffix that is a colon and no more.
    pub(crate) colon: Option<u32>,
    /// The suffixes that have a whole value behind a colon.
    pub(crate) values: Box<[ValueSuffix]>,
    /// The suffixes with a text behind a colon for which the index does not tell whether it ends a value.
    pub(crate) odd: Box<[(u32, Box<[u8]>)]>,
    /// The nodes of the trie behind a comma and an opening quote, with whitespace before both, and their texts.
    pub(crate) next_names: Box<[(u32, Box<[u8]>)]>,
    /// The suffixes below those nodes that end within the name.
    pub(crate) begun_names: SuffixSet,
    /// The suffixes below those nodes that have a colon behind the name.
    pub(crate) names: Box<[(u32, Box<[u8]>)]>,
    /// For each suffix that begins with a closing bracket, perhaps with whitespace before it, the suffix behind the bracket; none where that
    /// would be too many.
    pub(crate) behind_brackets: Box<[Option<u32>]>,
    /// The suffixes that begin with a closing bracket behind which the rest is no suffix.
    pub(crate) far_brackets: Box<[u32]>,
    /// Whether all that have a value behind a colon have nothing but a comma, perhaps whitespace, and the beginning of a name
    /// behind that.
    pub(crate) end_in_comma: bool,
    /// Whether all that have a value behind a colon have at most a comma, whitespace and an opening quote behind that.
    pub(crate) end_before_name: bool,
}

/// The kind of a suffix: the part of JSON behind a closing quote.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum SuffixKind {
    /// The token ends with the quote.
    Nothing,
    /// The token goes on as behind a name.
    OfName,
    /// The token goes on as behind a value.
    Other,
}

/// The part of another string that a suffix has.
#[derive(Debug)]
struct Reached {
    /// The characters of the string, as far as the suffix has them; none where they cannot be decoded simply.
    characters: Box<[u8]>,
    is_closed: bool,
}

impl Reached {
    /// The strings of a suffix.
    fn of(suffix: &[u8]) -> Box<[Self]> {
        // With the last character of all, the string begins that speaks for those that are none of some others.
        if suffix.iter().any(|byte| matches!(byte, b'\\' | 0xF4)) {
            let (characters, is_closed) = (Box::default(), false);
            return [Self { characters, is_closed }].into();
        }
        let parts: Vec<&[u8]> = suffix.split(|byte| *byte == b'"').collect();
        let strings = parts.iter().enumerate().skip(1).step_by(2);
        let strings = strings.map(|(place, characters)| Self {
            characters: (*characters).into(),
            is_closed: place + 1 < parts.len(),
        });
        // Any string begins with nothing.
        strings
            .filter(|string| string.is_closed || !string.characters.is_empty())
            .collect()
    }

    /// Whether this string of a suffix may become `string`.
    fn may_be(&self, string: &str) -> bool {
        match self.is_closed {
            true => *self.characters == *string.as_bytes(),
            false => string.as_bytes().starts_with(&self.characters),
        }
    }
}

/// A suffix that has a whole value behind a colon.
#[derive(Debug)]
pub(crate) struct ValueSuffix {
    pub(crate) suffix: u32,
    pub(crate) value: Box<[u8]>,
    /// The suffix behind the value.
    pub(crate) behind: u32,
}

/// Whether a suffix has nothing behind a value but a comma and the beginning of a name; and whether it has nothing of that name
/// but the opening quote. Whitespace may stand behind the comma.
fn behind_value(behind: &[u8]) -> (bool, bool) {
    let name = match behind.split_first() {
        None => return (true, true),
        Some((b',', name)) => name.trim_ascii_start(),
        Some(_) => return (false, false),
    };
    match name.split_first() {
        None => (true, true),
        Some((b'"', begun)) => (!begun.contains(&b'"'), begun.is_empty()),
        Some(_) => (false, false),
    }
}

/// Closing brackets at the beginning of one suffix behind each of which the rest is a suffix as well. The rests of a token of brackets alone
/// would otherwise take memory that is quadratic in its length.
const MAX_BRACKETS: usize = 64;

impl TokenSuffixes {
    pub(crate) fn new(mut texts: Vec<Vec<u8>>, escapes: Escapes) -> Self {
        // The text behind a value behind a colon is a suffix as well.
        let behind = |text: &Vec<u8>| match text.split_first() {
            Some((b':', value)) => match Extent::of(value) {
                Extent::Whole(length) => Some(value[length..].to_vec()),
                _ => None,
            },
            _ => None,
        };
        let more: Vec<Vec<u8>> = texts.iter().filter_map(behind).collect();
        texts.extend(more);
        // And so is what stands behind a closing bracket, of not too many.
        for place in 0..texts.len() {
            let mut text = &texts[place][..];
            let mut more = Vec::new();
            while more.len() < MAX_BRACKETS
                && let Some((b'}' | b']', behind)) = text.trim_ascii_start().split_first()
            {
                more.push(behind.to_vec());
                text = behind;
            }
            texts.extend(more);
        }
        texts.sort_unstable();
        texts.dedup();
        let reaches_text = texts.iter().map(|text| {
            let comma = text.iter().position(|byte| *byte == b',').unwrap_or(text.len());
            let quote = text[comma..].iter().position(|byte| *byte == b'"');
            quote.is_some_and(|quote| comma + quote + 1 < text.len())
        });
        let reaches_text = SuffixSet::of(reaches_text);
        let reached = texts
            .iter()
            .enumerate()
            .map(|(suffix, text)| match reaches_text[suffix] {
                true => Reached::of(text),
                false => Box::default(),
            });
        let reached = reached.collect();
        let trie = Trie::new(texts.iter().map(|text| &text[..]));
        let mut next_names: Vec<(u32, Box<[u8]>)> = Vec::new();
        let mut begun_names = vec![false; texts.len()];
        let mut names = Vec::new();
        for (suffix, text) in texts.iter().enumerate() {
            // A layout may have whitespace before a comma, too.
            let behind_comma = text.trim_ascii_start().strip_prefix(b",");
            let Some(name) = behind_comma.map(<[u8]>::trim_ascii_start) else {
                continue;
            };
            if !name.starts_with(b"\"") {
                continue;
            }
            let before = text.len() - name.len();
            let node = trie.find(text[..=before].iter().copied());
            next_names.extend(node.map(|node| (node, text[..=before].into())));
            if text.len() == before + 1 {
                continue;
            }
            let end = match Extent::of(name) {
                Extent::Whole(length) => Some(length),
                Extent::Open | Extent::Odd => None,
            };
            begun_names[suffix] = end.is_none() && is_content(&name[1..], escapes);
            let behind = end.map(|end| name[end..].trim_ascii_start());
            if behind.is_some_and(|behind| matches!(behind.first(), None | Some(b':'))) {
                names.push((suffix as u32, text[..].into()));
            }
        }
        next_names.sort_unstable();
        next_names.dedup();
        let behind_bracket = |text: &Vec<u8>| match text.trim_ascii_start().split_first() {
            Some((b'}' | b']', behind)) => trie.places(behind.iter().copied()).next().map(|behind| behind as u32),
            _ => None,
        };
        let behind_brackets: Box<[Option<u32>]> = texts.iter().map(behind_bracket).collect();
        let (mut values, mut odd) = (Vec::new(), Vec::new());
        let (mut end_in_comma, mut end_before_name) = (true, true);
        for (suffix, text) in (0..).zip(&texts) {
            let Some((b':', value)) = text.split_first() else {
                continue;
            };
            match Extent::of(value) {
                Extent::Open => {}
                Extent::Whole(length) => {
                    let (ends_in_comma, ends_before_name) = behind_value(&value[length..]);
                    end_in_comma &= ends_in_comma;
                    end_before_name &= ends_before_name;
                    let behind = trie.places(value[length..].iter().copied()).next();
                    match behind {
                        Some(behind) => values.push(ValueSuffix {
                            suffix,
                            value: value[..length].into(),
                            behind: behind as u32,
                        }),
                        None => odd.push((suffix, text[..].into())),
                    }
                }
                Extent::Odd => {
                    end_in_comma &= !value.iter().any(|byte| matches!(byte, b'}' | b']' | b'"'));
                    odd.push((suffix, text[..].into()));
                }
            }
        }
        let is_of_name = |text: &Vec<u8>| text.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b':');
        let kind = |text| match is_of_name(text) {
            true => SuffixKind::OfName,
            false if text.is_empty() => SuffixKind::Nothing,
            false => SuffixKind::Other,
        };
        let colon = texts.iter().position(|text| text == b":");
        let is_far = |suffix: &usize| {
            let begun = texts[*suffix].trim_ascii_start().first();
            behind_brackets[*suffix].is_none() && matches!(begun, Some(b'}' | b']'))
        };
        let far_brackets = (0..texts.len()).filter(is_far).map(|suffix| suffix as u32).collect();
        Self {
            kinds: texts.iter().map(kind).collect(),
            is_of_name: SuffixSet::of(texts.iter().map(is_of_name)),
            colon: colon.map(|place| place as u32),
            closes: SuffixSet::of(texts.iter().map(|text| text.contains(&b'}') || text.contains(&b']'))),
            reaches_text,
            reached,
            nothing: SuffixSet::of(texts.iter().map(Vec::is_empty)),
            values: values.into(),
            end_before_name,
            odd: odd.into(),
            next_names: next_names.into(),
            begun_names: SuffixSet::of(begun_names.into_iter()),
            names: names.into(),
            far_brackets,
            behind_brackets,
            end_in_comma,
            trie,
            texts: texts.into_iter().map(Vec::into_boxed_slice).collect(),
        }
    }

    /// Whether a suffix that reaches another string may make it the same as `string`, which stands before the suffix.
    pub(crate) fn may_repeat(&self, suffix: u32, string: &str) -> bool {
        self.reached[suffix as usize]
            .iter()
            .any(|reached| reached.may_be(string))
    }

    /// Returns the kind of a suffix.
    pub(crate) fn kind(&self, suffix: u32) -> SuffixKind {
        self.kinds[suffix as usize]
    }

    /// The number of a suffix.
    pub(crate) fn number(&self, text: &[u8]) -> Option<u32> {
        self.trie.places(text.iter().copied()).next().map(|place| place as u32)
    }
}

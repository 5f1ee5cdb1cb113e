//! Sets of Unicode scalar values as sorted ranges.
//!
//! The alphabet is numbered without the surrogates: U+D7FF is followed by U+E000. Complements and neighbourhood of
//! ranges then need no special case, and the size of a range is its number of characters.

/// Number of the last character, U+10FFFF.
pub(super) const LAST: u32 = 0x10_FFFF - SURROGATES;
const FIRST_SURROGATE: u32 = 0xD800;
const SURROGATES: u32 = 0x800;

/// A range of characters, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct CharRange {
    pub(super) first: u32,
    pub(super) last: u32,
}

impl CharRange {
    /// Every character.
    pub(super) const ALL: Self = Self::new(0, LAST);

    /// The characters numbered from `first` to `last`.
    pub(super) const fn new(first: u32, last: u32) -> Self {
        Self { first, last }
    }

    /// The first character.
    pub(crate) fn first(self) -> char {
        character(self.first)
    }

    /// The last character.
    pub(crate) fn last(self) -> char {
        character(self.last)
    }

    /// Whether `c` lies in the range.
    #[cfg(test)]
    pub(crate) fn contains(self, c: char) -> bool {
        (self.first..=self.last).contains(&index(c))
    }

    /// The number of characters, at least 1.
    pub(crate) fn count(self) -> u64 {
        u64::from(self.last - self.first) + 1
    }
}

/// The number of `c` in the alphabet.
pub(super) fn index(c: char) -> u32 {
    let scalar = u32::from(c);
    if scalar < FIRST_SURROGATE {
        scalar
    } else {
        scalar - SURROGATES
    }
}

/// The character numbered `index`; U+FFFD for a number outside of the alphabet.
pub(super) fn character(index: u32) -> char {
    let scalar = if index < FIRST_SURROGATE {
        index
    } else {
        index + SURROGATES
    };
    char::from_u32(scalar).unwrap_or(char::REPLACEMENT_CHARACTER)
}

/// Characters as ranges: sorted, disjoint, and no two adjacent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct CharSet(Vec<CharRange>);

impl CharSet {
    /// Every character.
    pub(super) fn all() -> Self {
        Self(vec![CharRange::ALL])
    }

    /// The characters from `first` to `last`.
    pub(super) fn range(first: char, last: char) -> Self {
        Self::from_ranges([(first, last)])
    }

    /// The union of ranges, given by their ends, in any order.
    pub(super) fn from_ranges(ranges: impl IntoIterator<Item = (char, char)>) -> Self {
        let ranges = ranges
            .into_iter()
            .map(|(first, last)| CharRange::new(index(first), index(last)));
        Self::normalised(ranges.collect())
    }

    /// The union of ranges in any order.
    pub(super) fn from_char_ranges(ranges: impl IntoIterator<Item = CharRange>) -> Self {
        Self::normalised(ranges.into_iter().collect())
    }

    /// The characters of `text`.
    pub(super) fn of(text: &str) -> Self {
        Self::from_ranges(text.chars().map(|c| (c, c)))
    }

    fn normalised(mut ranges: Vec<CharRange>) -> Self {
        ranges.sort_unstable();
        let mut merged: Vec<CharRange> = Vec::with_capacity(ranges.len());
        for range in ranges {
            match merged.last_mut() {
                Some(previous) if range.first <= previous.last.saturating_add(1) => {
                    previous.last = previous.last.max(range.last);
                }
                _ => merged.push(range),
            }
        }
        Self(merged)
    }

    /// The characters of the set from `first` to `last`.
    pub(super) fn within(&self, first: char, last: char) -> impl Iterator<Item = char> {
        let from = self.0.partition_point(|range| range.last() < first);
        let ranges = self.0[from..].iter().take_while(move |range| range.first() <= last);
        ranges.flat_map(move |range| range.first().max(first)..=range.last().min(last))
    }

    pub(super) fn union(&self, other: &Self) -> Self {
        Self::normalised(self.0.iter().chain(&other.0).copied().collect())
    }

    pub(super) fn intersection(&self, other: &Self) -> Self {
        let (mut left, mut right) = (0, 0);
        let mut common = Vec::new();
        while let (Some(a), Some(b)) = (self.0.get(left), other.0.get(right)) {
            let (first, last) = (a.first.max(b.first), a.last.min(b.last));
            if first <= last {
                common.push(CharRange::new(first, last));
            }
            if a.last < b.last {
                left += 1;
            } else {
                right += 1;
            }
        }
        Self(common)
    }

    pub(super) fn complement(&self) -> Self {
        let mut gaps = Vec::with_capacity(self.0.len() + 1);
        let mut next = 0;
        for range in &self.0 {
            if range.first > next {
                gaps.push(CharRange::new(next, range.first - 1));
            }
            next = range.last + 1;
        }
        if next <= LAST {
            gaps.push(CharRange::new(next, LAST));
        }
        Self(gaps)
    }

    pub(super) fn contains(&self, c: char) -> bool {
        let c = index(c);
        let place = self.0.partition_point(|range| range.last < c);
        self.0.get(place).is_some_and(|range| range.first <= c)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn ranges(&self) -> &[CharRange] {
        &self.0
    }
}

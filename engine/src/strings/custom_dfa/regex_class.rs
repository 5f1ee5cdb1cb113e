//! Classes of regular expressions, and escapes that give a character by its number.

use crate::strings::charset::LAST;

const LAST_CODE_POINT: u32 = 0x10_FFFF;

/// The state within a class: the part read so far, reduced to the facts that decide its continuations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum ClassState {
    /// Nothing that a range could begin with.
    Nothing,
    /// A character, or none for a set of them.
    Atom(Option<u32>),
    /// The first half of a surrogate pair, as an escape.
    High(u32),
    /// The beginning of a range and a hyphen.
    Dash(Option<u32>),
    /// The beginning of a range, a hyphen, and the first half of a surrogate pair.
    DashHigh { low: u32, high: u32 },
}

impl ClassState {
    /// Whether the class may end here.
    pub(super) fn closes(self) -> bool {
        !matches!(self, Self::DashHigh { low, high } if high < low)
    }

    /// Whether a backslash may follow.
    pub(super) fn escapes(self) -> bool {
        self != Self::Dash(None)
    }

    /// Returns the state behind a hyphen that is not escaped.
    pub(super) fn dash(self) -> Option<Self> {
        match self {
            Self::Atom(low) => Some(Self::Dash(low)),
            Self::High(low) => Some(Self::Dash(Some(low))),
            _ => self.atom(Some(u32::from('-'))),
        }
    }

    /// Returns the state behind a character, or a set of them.
    pub(super) fn atom(self, value: Option<u32>) -> Option<Self> {
        match self {
            Self::Nothing | Self::Atom(_) | Self::High(_) => Some(Self::Atom(value)),
            Self::Dash(low) => (low? <= value?).then_some(Self::Nothing),
            Self::DashHigh { .. } => self.closes().then_some(Self::Atom(value)),
        }
    }

    /// Returns the state behind `\uXXXX`, which may be half of a surrogate pair.
    pub(super) fn unit(self, value: u32) -> Option<Self> {
        match (self, value) {
            (Self::High(high), 0xDC00..=0xDFFF) => Some(Self::Atom(Some(pair(high, value)))),
            (Self::DashHigh { low, high }, 0xDC00..=0xDFFF) => (low <= pair(high, value)).then_some(Self::Nothing),
            (Self::Dash(Some(low)), 0xD800..=0xDBFF) => {
                let lives = low <= pair(value, 0xDFFF);
                lives.then_some(Self::DashHigh { low, high: value })
            }
            (Self::Nothing | Self::Atom(_) | Self::High(_), 0xD800..=0xDBFF) => Some(Self::High(value)),
            (Self::DashHigh { .. }, 0xD800..=0xDBFF) => self.closes().then_some(Self::High(value)),
            _ => self.atom(Some(value)),
        }
    }

    /// Characters that end the class.
    pub(super) fn cheapest(self) -> u64 {
        // Or the other half of the pair first.
        if self.closes() { 1 } else { 7 }
    }
}

fn pair(high: u32, low: u32) -> u32 {
    0x1_0000 + ((high - 0xD800) << 10) + (low - 0xDC00)
}

/// Hexadecimal digits of an escape.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Hex {
    form: HexForm,
    value: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum HexForm {
    /// `\xXX`, with so many digits to come.
    Byte(u8),
    /// `\uXXXX`.
    Unit(u8),
    /// `\u{X…}`, with a digit or without one yet.
    Braced { digits: bool },
}

impl Hex {
    /// Returns the state behind `\x`.
    pub(super) fn byte() -> Self {
        Self {
            form: HexForm::Byte(2),
            value: 0,
        }
    }

    /// Returns the state behind `\u`.
    pub(super) fn unit() -> Self {
        Self {
            form: HexForm::Unit(4),
            value: 0,
        }
    }

    /// Returns the state behind `\u{`.
    pub(super) fn braced() -> Self {
        let form = HexForm::Braced { digits: false };
        Self { form, value: 0 }
    }

    /// Forgets the value where no more can be told by it than which character the escape stands for.
    pub(super) fn forget(&mut self) {
        if !matches!(self.form, HexForm::Braced { .. }) {
            self.value = 0;
        }
    }

    /// Whether the escape is of the form of half a surrogate pair.
    pub(super) fn is_unit(self) -> bool {
        matches!(self.form, HexForm::Unit(_))
    }

    /// Returns the state behind one more digit.
    pub(super) fn after(self, c: char) -> Option<Self> {
        let value = self.value * 16 + c.to_digit(16)?;
        let form = match self.form {
            HexForm::Byte(left) => HexForm::Byte(left - 1),
            HexForm::Unit(left) => HexForm::Unit(left - 1),
            HexForm::Braced { .. } => HexForm::Braced { digits: true },
        };
        (value <= LAST_CODE_POINT).then_some(Self { form, value })
    }

    /// The value, where there is no digit to come.
    pub(super) fn complete(self) -> Option<u32> {
        matches!(self.form, HexForm::Byte(0) | HexForm::Unit(0)).then_some(self.value)
    }

    /// The value, where a brace may close.
    pub(super) fn closed(self) -> Option<u32> {
        matches!(self.form, HexForm::Braced { digits: true }).then_some(self.value)
    }

    /// Returns the fewest characters that end the escape.
    pub(super) fn least(self) -> u64 {
        match self.form {
            HexForm::Byte(left) | HexForm::Unit(left) => u64::from(left),
            HexForm::Braced { digits } => 1 + u64::from(!digits),
        }
    }

    /// Returns the fewest characters that end the escape and the class, in which `before` stands before the escape; none if
    /// nothing ends them.
    pub(super) fn cheapest(self, before: ClassState) -> Option<u64> {
        let last = |digits: u32| (self.value << (4 * digits)) + ((1u32 << (4 * digits)) - 1);
        let first = |digits: u32| self.value << (4 * digits);
        match self.form {
            HexForm::Byte(left) => {
                let after = before.atom(Some(last(u32::from(left))))?;
                Some(u64::from(left) + after.cheapest())
            }
            HexForm::Unit(left) => {
                let left = u32::from(left);
                // The greatest of each kind: the greater, the more ranges it can end.
                let values = [last(left), last(left).min(0xDFFF), last(left).min(0xDBFF)];
                let values = values.into_iter().filter(|&value| value >= first(left));
                let ends = values.filter_map(|value| Some(u64::from(left) + before.unit(value)?.cheapest()));
                ends.min()
            }
            HexForm::Braced { digits } => {
                let more = u32::from(!digits)..=6;
                let ends = more.filter(|&more| u64::from(self.value) << (4 * more) <= u64::from(LAST_CODE_POINT));
                let mut ends = ends.filter_map(|more| {
                    let value = last(more).min(LAST_CODE_POINT);
                    Some(u64::from(more) + 1 + before.atom(Some(value))?.cheapest())
                });
                ends.next()
            }
        }
    }
}

const _: () = assert!(LAST < LAST_CODE_POINT);

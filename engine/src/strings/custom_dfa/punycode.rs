//! Punycode (RFC 3492), one digit at a time.

const BASE: u32 = 36;
const T_MIN: u32 = 1;
const T_MAX: u32 = 26;
const SKEW: u32 = 38;
const DAMP: u32 = 700;
const INITIAL_BIAS: u32 = 72;
const INITIAL_N: u32 = 128;

fn threshold(k: u32, bias: u32) -> u32 {
    k.saturating_sub(bias).clamp(T_MIN, T_MAX)
}

fn adapted(delta: u32, count: u32, first: bool) -> u32 {
    let mut delta = if first { delta / DAMP } else { delta / 2 };
    delta += delta / count;
    let mut k = 0;
    while delta > (BASE - T_MIN) * T_MAX / 2 {
        delta /= BASE - T_MIN;
        k += BASE;
    }
    k + (BASE - T_MIN + 1) * delta / (delta + SKEW)
}

/// The value of a digit in lower case.
pub(super) fn digit(byte: u8) -> Option<u32> {
    match byte {
        b'a'..=b'z' => Some(u32::from(byte - b'a')),
        b'0'..=b'9' => Some(u32::from(byte - b'0') + 26),
        _ => None,
    }
}

fn digit_byte(value: u32) -> u8 {
    // Digits are below 36.
    if value < 26 {
        b'a' + value as u8
    } else {
        b'0' + (value - 26) as u8
    }
}

/// The state of a decoder of Punycode, within an encoded text.
#[derive(Clone, Debug)]
pub(super) struct Decoder {
    text: Vec<char>,
    n: u32,
    i: u32,
    bias: u32,
    /// The number that is being read: its start, the weight of its next digit, the place of that digit.
    number: Option<(u32, u32, u32)>,
    inserted: usize,
}

/// The effect of a digit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DigitRead {
    /// The number goes on.
    Open,
    /// A character was inserted.
    Inserted(char),
    /// No text is encoded so.
    Refused,
}

impl Decoder {
    /// Returns the state behind the delimiter, or at the start where there is none.
    pub(super) fn new(basic: &str) -> Self {
        Self {
            text: basic.chars().collect(),
            n: INITIAL_N,
            i: 0,
            bias: INITIAL_BIAS,
            number: None,
            inserted: 0,
        }
    }

    /// Returns the state behind all of `encoded`, which is in lower case; none if no text is encoded so.
    pub(super) fn after(encoded: &str) -> Option<Self> {
        let (basic, digits) = split(encoded)?;
        let mut decoder = Self::new(basic);
        for byte in digits.bytes() {
            if decoder.read(digit(byte)?) == DigitRead::Refused {
                return None;
            }
        }
        Some(decoder)
    }

    /// Reads a digit.
    pub(super) fn read(&mut self, digit: u32) -> DigitRead {
        let (start, weight, k) = self.number.unwrap_or((self.i, 1, BASE));
        let t = threshold(k, self.bias);
        let Some(i) = digit.checked_mul(weight).and_then(|more| self.i.checked_add(more)) else {
            return DigitRead::Refused;
        };
        self.i = i;
        let count = self.text.len() as u32 + 1;
        if self.n.checked_add(i / count).is_none_or(|n| n > u32::from(char::MAX)) {
            return DigitRead::Refused;
        }
        if digit >= t {
            let Some(weight) = weight.checked_mul(BASE - t) else {
                return DigitRead::Refused;
            };
            self.number = Some((start, weight, k + BASE));
            return DigitRead::Open;
        }
        self.number = None;
        self.bias = adapted(i - start, count, self.inserted == 0);
        self.n += i / count;
        let Some(c) = char::from_u32(self.n) else {
            return DigitRead::Refused;
        };
        let place = i % count;
        self.text.insert(place as usize, c);
        self.inserted += 1;
        self.i = place + 1;
        DigitRead::Inserted(c)
    }

    /// The text, where no number is open and something was encoded at all.
    pub(super) fn text(&self) -> Option<&[char]> {
        (self.number.is_none() && self.inserted > 0).then_some(&self.text)
    }

    /// The text so far.
    pub(super) fn so_far(&self) -> &[char] {
        &self.text
    }
}

/// The basic characters and the digits of `encoded`; none for a delimiter with nothing before it.
fn split(encoded: &str) -> Option<(&str, &str)> {
    match encoded.rsplit_once('-') {
        None => Some(("", encoded)),
        Some(("", _)) => None,
        parts => parts,
    }
}

/// Characters of the longest text that is encoded: twice those of a label at least.
const LONGEST: usize = 128;

/// `text` encoded; none where it is too long for a label anyway.
pub(super) fn encode(text: &[char]) -> Option<String> {
    let mut encoded: String = text.iter().filter(|c| c.is_ascii()).collect();
    if !encoded.is_empty() {
        encoded.push('-');
    }
    numbers(text.iter().copied(), |delta, bias| {
        digits(delta, bias, |value| encoded.push(char::from(digit_byte(value))));
    })?;
    Some(encoded)
}

/// Returns the length of `text` once encoded, in characters; none where the text is too long for a label anyway.
pub(super) fn encoded_length(text: impl Iterator<Item = char> + Clone) -> Option<usize> {
    let basic = text.clone().filter(char::is_ascii).count();
    let mut length = basic + usize::from(basic > 0);
    numbers(text, |delta, bias| digits(delta, bias, |_| length += 1))?;
    Some(length)
}

/// The numbers that encode the characters of `text` beyond ASCII, in the order of their code points and then of their
/// places, each with its bias.
fn numbers(text: impl Iterator<Item = char>, mut number: impl FnMut(u32, u32)) -> Option<()> {
    let mut characters = [0u32; LONGEST];
    let mut beyond = 0;
    // The places of characters that have been encoded.
    let mut done = 0u128;
    for (place, c) in text.enumerate() {
        if place == LONGEST {
            return None;
        }
        if c.is_ascii() {
            done |= 1 << place;
        } else {
            characters[beyond] = u32::from(c) * LONGEST as u32 + place as u32;
            beyond += 1;
        }
    }
    let characters = &mut characters[..beyond];
    characters.sort_unstable();
    let basic = done.count_ones();
    let (mut n, mut i, mut bias) = (INITIAL_N, 0, INITIAL_BIAS);
    for (handled, character) in (basic..).zip(characters) {
        let (c, place) = (*character / LONGEST as u32, *character % LONGEST as u32);
        let before = (done & ((1 << place) - 1)).count_ones();
        let delta = (c - n) * (handled + 1) + before - i;
        number(delta, bias);
        bias = adapted(delta, handled + 1, handled == basic);
        done |= 1 << place;
        (n, i) = (c, before + 1);
    }
    Some(())
}

fn digits(delta: u32, bias: u32, mut digit: impl FnMut(u32)) {
    let (mut rest, mut k) = (delta, BASE);
    loop {
        let t = threshold(k, bias);
        if rest < t {
            return digit(rest);
        }
        digit(t + (rest - t) % (BASE - t));
        rest = (rest - t) / (BASE - t);
        k += BASE;
    }
}

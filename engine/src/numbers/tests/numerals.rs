//! The walk over numerals, against the documented set of numbers that a beginning can become, on sets small enough to check
//! number by number.

use super::walks::check_next_digits;
use super::{Random, Rule, SCALE, decimal, scaled};
use crate::Limits;
use crate::NumberStyle;
use crate::decimal::Decimal;
use crate::numbers::{NumberSets, NumeralAutomaton, Precision};

/// Bounds are quarters up to 20, steps are multiples of a quarter with the least common multiple 12. So an interval has
/// a member iff one of its quarters is one or one number between each two; and beyond 20 every interval of width 100
/// has the same to offer.
fn bounds() -> Vec<Decimal> {
    [
        "-20", "-12", "-10", "-2.5", "-1", "-0.25", "0", "0.5", "1", "2", "7.75", "10", "12", "12.5", "15", "20",
    ]
    .map(decimal)
    .to_vec()
}

fn steps() -> Vec<Decimal> {
    ["1", "1", "0.5", "2", "3", "1.5", "0.25", "4", "0.75"]
        .map(decimal)
        .to_vec()
}

const ONE: i128 = 10i128.pow(SCALE);

/// A prefix of a number's text, taken apart.
struct Prefix<'a> {
    negative: bool,
    whole: &'a str,
    fraction: Option<&'a str>,
    /// Sign, where one was written, and digits.
    exponent: Option<(Option<u8>, &'a str)>,
}

impl<'a> Prefix<'a> {
    /// `None` where no number begins so.
    fn of(text: &'a str) -> Option<Self> {
        let (number, exponent) = match text.find(['e', 'E']) {
            Some(at) => (&text[..at], Some(&text[at + 1..])),
            None => (text, None),
        };
        let (negative, number) = number.strip_prefix('-').map_or((false, number), |rest| (true, rest));
        let (whole, fraction) = number
            .split_once('.')
            .map_or((number, None), |(whole, fraction)| (whole, Some(fraction)));
        let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        let exponent = exponent.map(|text| match text.as_bytes().first() {
            Some(&sign @ (b'+' | b'-')) => (Some(sign), &text[1..]),
            _ => (None, text),
        });
        let begun = fraction.is_some() || exponent.is_some();
        let well_formed = digits(whole)
            && !(whole.len() > 1 && whole.starts_with('0'))
            && !(begun && whole.is_empty())
            && fraction.is_none_or(digits)
            && !(exponent.is_some() && fraction == Some(""))
            && exponent.is_none_or(|(_, text)| digits(text));
        well_formed.then_some(Self {
            negative,
            whole,
            fraction,
            exponent,
        })
    }

    fn is_number(&self) -> bool {
        !self.whole.is_empty()
            && self.fraction != Some("")
            && self.exponent.is_none_or(|(_, digits)| !digits.is_empty())
    }

    fn digits(&self) -> i128 {
        format!("0{}{}", self.whole, self.fraction.unwrap_or(""))
            .parse()
            .unwrap()
    }

    fn scale(&self) -> i32 {
        self.fraction.unwrap_or("").len() as i32
    }
}

struct Oracle {
    rule: Rule<i128>,
    style: NumberStyle,
}

impl Oracle {
    fn member(&self, negative: bool, magnitude: i128) -> bool {
        self.rule.holds_scaled(if negative { -magnitude } else { magnitude })
    }

    /// Whether a number of `[low, high)`, or of its mirror image, is a member; one that is not an integer if asked.
    fn any(&self, negative: bool, low: i128, high: i128, fractional: bool) -> bool {
        let quarter = ONE / 4;
        let counts = |value: i128| self.member(negative, value) && !(fractional && value % ONE == 0);
        let mut at = low;
        while at < high {
            let next = ((at / quarter + 1) * quarter).min(high);
            // Between quarters, anything that is none: a number off the grid of steps, in the middle or close to it.
            let middle = (at + next) / 2 + i128::from((at + next) / 2 % quarter == 0);
            if counts(at) || counts(middle) {
                return true;
            }
            at = next;
        }
        false
    }

    /// `digits × 10^exponent` and the next number of that length.
    fn interval(digits: i128, exponent: i32) -> (i128, i128) {
        let power = 10i128.pow((exponent + SCALE as i32).try_into().unwrap());
        (digits * power, (digits + 1) * power)
    }

    fn viable(&self, text: &str) -> bool {
        let Some(prefix) = Prefix::of(text) else { return false };
        let plain = self.style == NumberStyle::Plain;
        if plain && prefix.exponent.is_some() {
            return false;
        }
        let negative = prefix.negative;
        let zero = self.member(negative, 0);
        let far = 200 * ONE;
        if prefix.whole.is_empty() {
            // All numbers of the sign, zero only where it may have the sign.
            return self.any(negative, i128::from(plain && negative), far, false)
                || !negative && self.any(true, 1, far, false);
        }
        if let Some((sign, digits)) = prefix.exponent {
            return self.viable_exponent(&prefix, sign, digits);
        }
        let digits = prefix.digits();
        match (plain, prefix.fraction) {
            (true, None) if digits == 0 => zero && !negative || self.any(negative, 0, ONE, true),
            (true, None) => (0..=2).any(|more| {
                let (low, high) = Self::interval(digits, more);
                self.any(negative, low, high, false)
            }),
            (true, Some(fraction)) => {
                let whole = prefix.whole.parse::<i128>().unwrap() * ONE;
                let (low, high) = Self::interval(digits, -(fraction.len() as i32));
                let zeros_may_follow = !(negative && whole == 0) && self.member(negative, whole);
                let may_end_in_zeros = fraction.len() <= 2 && self.member(negative, low);
                (zeros_may_follow || self.any(negative, whole, whole + ONE, true))
                    && (may_end_in_zeros || self.any(negative, low + 1, high, false))
            }
            (false, _) if digits == 0 => zero || self.any(negative, 0, far, false),
            // From below a quarter to a width of a hundred.
            (false, _) => (-9..=2).any(|exponent| {
                let (low, high) = Self::interval(digits, exponent);
                self.any(negative, low, high, false)
            }),
        }
    }

    /// Digits here are below 10^6, with at most four after the point. From 10^7 on all is decided by the steps, and by
    /// them alike (multiples of 4 and 25 anyway); and below a quarter nothing changes. So exponents past 12 are like 12.
    fn viable_exponent(&self, prefix: &Prefix<'_>, sign: Option<u8>, digits: &str) -> bool {
        let signs: &[i32] = match (sign, digits) {
            (Some(b'-'), _) => &[-1],
            (None, "") => &[1, -1],
            _ => &[1],
        };
        let written: i32 = format!("0{digits}").parse().unwrap();
        signs.iter().any(|sign| {
            (0..=2).any(|more| {
                let power = 10i32.pow(more);
                (0..power).any(|tail| self.member_at(prefix, sign * (written * power + tail)))
            })
        })
    }

    fn member_at(&self, prefix: &Prefix<'_>, exponent: i32) -> bool {
        let digits = prefix.digits();
        if digits == 0 {
            return self.member(prefix.negative, 0);
        }
        let exponent = exponent.clamp(-12, 12) - prefix.scale();
        let lowest = -(SCALE as i32);
        // Too small to be told from others below a quarter that are no multiples.
        let magnitude = if exponent < lowest {
            1
        } else {
            Self::interval(digits, exponent).0
        };
        self.member(prefix.negative, magnitude)
    }

    fn complete(&self, text: &str) -> bool {
        let Some(prefix) = Prefix::of(text).filter(Prefix::is_number) else {
            return false;
        };
        if self.style == NumberStyle::Rfc8259 {
            let exponent = prefix.exponent.map_or(0, |(sign, digits)| {
                let magnitude: i32 = digits.parse().unwrap();
                if sign == Some(b'-') { -magnitude } else { magnitude }
            });
            return self.member_at(&prefix, exponent);
        }
        let signed_zero = prefix.negative && prefix.digits() == 0 && prefix.fraction.is_none();
        !signed_zero && self.viable(text) && self.member_at(&prefix, 0)
    }
}

/// Compares the walk with the oracle on all numerals up to a length, and gives the number of numerals compared.
fn compare(rule: &Rule, style: NumberStyle, alphabet: &str, length: usize) -> usize {
    let mut sets = NumberSets::within(&Limits::default());
    let set = rule.set(&mut sets);
    let mut automaton = NumeralAutomaton::new(style, sets);
    let start = automaton.start(set, Precision::Usual).unwrap();
    let oracle = Oracle {
        rule: rule.scaled(),
        style,
    };
    let (mut compared, mut level) = (0, vec![(String::new(), start)]);
    for _ in 0..length {
        let mut longer = Vec::new();
        for (text, state) in &level {
            for byte in alphabet.chars() {
                let text = format!("{text}{byte}");
                let next = automaton.step(*state, byte as u8);
                compared += 1;
                assert_eq!(
                    next.is_some(),
                    oracle.viable(&text),
                    "{style:?}: is {text} viable in {rule:?}"
                );
                let Some(next) = next else { continue };
                assert_eq!(
                    automaton.can_end(next),
                    oracle.complete(&text),
                    "{style:?}: can {text} end in {rule:?}"
                );
                if automaton.can_end(next) {
                    assert!(automaton.sets().contains(set, &decimal(&text), false));
                }
                longer.push((text, next));
            }
        }
        level = longer;
    }
    compared
}

#[test]
fn plain_texts_of_random_sets() {
    let (bounds, steps, mut random) = (bounds(), steps(), Random(3));
    let mut compared = 0;
    for _ in 0..300 {
        let rule = Rule::random(&mut random, &bounds, &steps, 2);
        compared += compare(&rule, NumberStyle::Plain, "-.012579e", 5);
    }
    assert!(compared > 100_000, "{compared}");
}

#[test]
fn rfc8259_texts_of_random_sets() {
    let (bounds, steps, mut random) = (bounds(), steps(), Random(4));
    let mut compared = 0;
    for _ in 0..120 {
        let rule = Rule::random(&mut random, &bounds, &steps, 2);
        compared += compare(&rule, NumberStyle::Rfc8259, "-+.01257e", 5);
    }
    assert!(compared > 100_000, "{compared}");
}

#[test]
fn long_texts_of_narrow_sets() {
    let (bounds, steps, mut random) = (bounds(), steps(), Random(5));
    for _ in 0..40 {
        let rule = Rule::And(vec![
            Rule::Multiple(random.pick(&steps).clone()),
            Rule::Not(Box::new(Rule::Multiple(random.pick(&steps).clone()))),
            Rule::random(&mut random, &bounds, &steps, 1),
        ]);
        compare(&rule, NumberStyle::Plain, "-.0125", 7);
        compare(&rule, NumberStyle::Rfc8259, "-.015e", 6);
    }
}

#[test]
fn constants_at_the_ends_of_multiples_are_texts() {
    for (lone, step) in [("10.5", "1"), ("10.5", "2"), ("12.75", "0.5"), ("1.25", "1")] {
        for end in [
            Rule::AtMost(decimal(lone)),
            Rule::AtLeast(decimal(lone)),
            Rule::Below(decimal("13")),
        ] {
            let either = Rule::Or(vec![Rule::Multiple(decimal(step)), Rule::Exactly(decimal(lone))]);
            for rules in [[either.clone(), end.clone()], [end.clone(), either]] {
                let rule = Rule::And(rules.into());
                compare(&rule, NumberStyle::Plain, ".01257", 5);
                compare(&rule, NumberStyle::Rfc8259, "-.0125e", 4);
            }
        }
    }
}

/// Sets that mind how a number is written: some numbers without fraction and exponent, others with one.
#[test]
fn numerals_of_sets_that_depend_on_spelling() {
    let (bounds, steps, mut random) = (bounds(), steps(), Random(8));
    let mut compared = 0;
    for round in 0..120 {
        let (style, alphabet) = match round % 2 {
            0 => (NumberStyle::Plain, "-.01259"),
            _ => (NumberStyle::Rfc8259, "-.0125e"),
        };
        let rules = [(); 2].map(|()| Rule::random(&mut random, &bounds, &steps, 1));
        let mut sets = NumberSets::within(&Limits::default());
        let integers = sets.integer_literals();
        let fractions = sets.not(integers);
        let [literals, others] = [0, 1].map(|place| rules[place].set(&mut sets));
        let (literals, others) = (
            sets.and(integers, literals).unwrap(),
            sets.and(fractions, others).unwrap(),
        );
        let set = sets.or(literals, others).unwrap();
        let oracles = SpellingOracle::new(rules.clone(), style);
        let mut automaton = NumeralAutomaton::new(style, sets);
        let mut level = vec![(String::new(), automaton.start(set, Precision::Usual).unwrap())];
        for _ in 0..5 {
            let mut longer = Vec::new();
            for (text, state) in &level {
                check_next_digits(&mut automaton, *state);
                for byte in alphabet.chars() {
                    let text = format!("{text}{byte}");
                    let next = automaton.step(*state, byte as u8);
                    compared += 1;
                    let viable = oracles.viable(&text);
                    assert_eq!(next.is_some(), viable, "{style:?}: is {text} viable in {rules:?}");
                    let Some(next) = next else { continue };
                    let complete = oracles.complete(&text);
                    assert_eq!(
                        automaton.can_end(next),
                        complete,
                        "{style:?}: can {text} end in {rules:?}"
                    );
                    if complete {
                        let is_literal = !text.contains(['.', 'e']);
                        assert!(automaton.sets().contains(set, &decimal(&text), is_literal), "{text}");
                    }
                    longer.push((text, next));
                }
            }
            level = longer;
        }
    }
    assert!(compared > 100_000, "{compared}");
}

/// An oracle of numerals where literals of integers follow one rule and other numerals another.
struct SpellingOracle {
    literals: Oracle,
    others: Oracle,
}

impl SpellingOracle {
    fn new([literals, others]: [Rule; 2], style: NumberStyle) -> Self {
        let integers = Rule::And(vec![literals, Rule::Multiple(decimal("1"))]);
        let oracle = |rule: Rule, style| {
            let rule = rule.scaled();
            Oracle { rule, style }
        };
        Self {
            // A plain text of a set of integers is a literal.
            literals: oracle(integers, NumberStyle::Plain),
            others: oracle(others, style),
        }
    }

    fn signed_zero(&self, text: &str) -> bool {
        let written = self.others.style == NumberStyle::Rfc8259 && (text == "-" || text == "-0");
        written && self.literals.member(true, 0)
    }

    fn viable(&self, text: &str) -> bool {
        let as_literal = !text.contains(['.', 'e']) && (self.literals.viable(text) || self.signed_zero(text));
        as_literal || self.others.viable(text)
    }

    fn complete(&self, text: &str) -> bool {
        match Prefix::of(text).filter(Prefix::is_number) {
            None => false,
            Some(prefix) if prefix.fraction.is_none() && prefix.exponent.is_none() => {
                self.literals.complete(text) || text == "-0" && self.signed_zero(text)
            }
            Some(_) if self.others.style == NumberStyle::Rfc8259 => self.others.complete(text),
            Some(prefix) => self.viable(text) && self.others.member_at(&prefix, 0),
        }
    }
}

#[test]
fn scaled_numbers_of_the_oracle() {
    assert_eq!(scaled(&decimal("-2.5")), -25 * ONE / 10);
    let oracle = Oracle {
        rule: Rule::Exactly(decimal("52.5")).scaled(),
        style: NumberStyle::Rfc8259,
    };
    assert!(oracle.viable("525") && oracle.viable("525e-") && !oracle.viable("525e+") && oracle.complete("525e-01"));
    assert!(!oracle.viable("5.26") && oracle.viable("0.0525e") && !oracle.viable("-5"));
}

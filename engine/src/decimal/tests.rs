//! Decimals against arithmetic on plain integers, and at the ends of their range.

use std::cmp::Ordering;
use std::collections::HashSet;

use super::*;

fn decimal(text: &str) -> Decimal {
    Decimal::parse(text.as_bytes()).unwrap_or_else(|error| panic!("{text}: {error}"))
}

#[test]
fn spellings_of_one_number_are_equal() {
    let spellings = [
        "100",
        "1e2",
        "1E+02",
        "100.000",
        "0.1e3",
        "10000e-2",
        "1e0000000000000000000000000000002",
    ];
    let distinct: HashSet<Decimal> = spellings.into_iter().map(decimal).collect();
    assert_eq!(distinct.len(), 1);
    for zero in ["0", "-0", "0.0e-5", "-0.00", "0e99999999999999999999999"] {
        assert_eq!(decimal(zero), Decimal::zero(), "{zero}");
    }
}

#[test]
fn texts_outside_the_grammar_are_refused_where_they_break() {
    let broken = [
        ("", 0),
        ("-", 1),
        ("01", 1),
        ("-00", 2),
        ("1.", 2),
        (".5", 0),
        ("1e", 2),
        ("1e+", 3),
        ("+1", 0),
    ];
    for (text, offset) in broken
        .into_iter()
        .chain([("1 ", 1), ("1.2.3", 3), ("0x1", 1), ("1e5.0", 3), ("NaN", 0)])
    {
        assert_eq!(
            Decimal::parse(text.as_bytes()),
            Err(DecimalError::Syntax(offset)),
            "{text}"
        );
    }
}

#[test]
fn order_is_that_of_scaled_integers() {
    // Every number of up to three digits, scaled by powers from 10^-3 to 10^3, compared as multiples of 10^-3.
    let mut numbers = Vec::new();
    for significand in (-120i64..=120).step_by(7) {
        for exponent in -3i64..=3 {
            let scaled = significand * 10i64.pow((exponent + 3) as u32);
            numbers.push((decimal(&format!("{significand}e{exponent}")), scaled));
        }
    }
    for (left, left_scaled) in &numbers {
        assert_eq!(left.is_integer(), left_scaled % 1000 == 0);
        for (right, right_scaled) in &numbers {
            assert_eq!(left.cmp(right), left_scaled.cmp(right_scaled), "{left} {right}");
            assert_eq!(left == right, left_scaled == right_scaled);
        }
    }
}

#[test]
fn huge_exponents_are_compared_without_writing_them_out() {
    let ascending = [
        "-1e999999999999",
        "-1e-999999999999",
        "0",
        "1e-999999999999",
        "1e-999999999",
        "1",
        "1e400",
        "9.99e999999998",
        "1e999999999",
        "1e999999999999",
    ];
    for pair in ascending.windows(2) {
        assert_eq!(decimal(pair[0]).cmp(&decimal(pair[1])), Ordering::Less, "{pair:?}");
    }
    assert!(decimal("1e999999999999").is_integer());
    let past = Decimal::parse(b"1e9999999999999999999");
    assert!(matches!(past, Err(DecimalError::Limit(_))), "{past:?}");
}

#[test]
fn long_significands() {
    let nines = "9".repeat(10_000);
    assert_eq!(decimal(&nines).magnitude(), 10_000);
    assert!(decimal(&nines) < decimal("1e10000"));
    assert!(decimal(&format!("0.{nines}")) < decimal("1"));
    let zeros = format!("1{}", "0".repeat(1_000_000));
    assert_eq!(decimal(&zeros), decimal("1e1000000"));
    let long = Decimal::parse("7".repeat(65_537).as_bytes());
    assert!(matches!(long, Err(DecimalError::Limit(_))));
}

#[test]
fn canonical_form_of_computed_numbers() {
    for zeros in 0..60u64 {
        for significand in [1u64, 7, 1024, 3125, 99_999_999_999] {
            let value = Decimal::new(false, BigUint::from(significand) * power(10, zeros), -3);
            assert_eq!(value, decimal(&format!("{significand}e{}", zeros as i64 - 3)));
        }
    }
    for power in 1..200u64 {
        assert_eq!(count_digits(&super::power(10, power)), power + 1);
        assert_eq!(count_digits(&(super::power(10, power) - BigUint::one())), power);
    }
}

#[test]
fn display_is_a_text_of_the_number() {
    for text in [
        "0",
        "-5",
        "1200",
        "0.05",
        "-12.5",
        "1e21",
        "7e-30",
        "3e-5",
        "123456789.125",
        "10e19",
    ] {
        let value = decimal(text);
        assert_eq!(decimal(&value.to_string()), value, "{text} as {value}");
    }
    assert_eq!(decimal("-12.50").to_string(), "-12.5");
    assert_eq!(decimal("5e2").to_string(), "500");
}

//! Exponents against brute force.

use super::ExponentSet;

fn allowed(set: &ExponentSet, text: &[u8]) -> (bool, bool) {
    let negative = text[0] == b'-';
    let magnitudes = set.magnitudes(negative);
    let digits = text.strip_prefix(b"-").unwrap_or(text);
    let zeros = digits.iter().take_while(|&&digit| digit == b'0').count();
    let Some((&first, rest)) = digits[zeros..].split_first() else {
        return (!magnitudes.is_empty(), zeros > 0 && magnitudes.has_zero());
    };
    let start = magnitudes.after(first - b'0');
    let end = rest
        .iter()
        .fold(start, |remainder, digit| remainder.after(digit - b'0'));
    (!end.is_empty(), end.ends())
}

#[test]
fn prefixes_of_exponents() {
    let sets: [&[(i64, i64)]; 7] = [
        &[(i64::MIN, i64::MAX)],
        &[(3, i64::MAX)],
        &[(i64::MIN, -12), (0, 0), (17, 123)],
        &[(-5, 5)],
        &[(99, 100), (102, 102), (1000, i64::MAX)],
        &[(i64::MIN, 250)],
        &[(-1, -1)],
    ];
    for intervals in sets {
        let set = ExponentSet {
            intervals: intervals.to_vec(),
            ..ExponentSet::default()
        };
        let member = |value: i64| intervals.iter().any(|&(low, high)| low <= value && value <= high);
        // Every interval that a prefix leads to has a member with at most three digits more.
        for sign in ["", "-"] {
            for prefix in 0..1000i64 {
                let signed = |value: i64| if sign.is_empty() { value } else { -value };
                let longer =
                    |zeros: u32| (0..10i64.pow(zeros)).any(|tail| member(signed(prefix * 10i64.pow(zeros) + tail)));
                let viable = (0..4).any(longer);
                let text = format!("{sign}{prefix}");
                assert_eq!(
                    allowed(&set, text.as_bytes()),
                    (viable, member(signed(prefix))),
                    "{text} in {intervals:?}"
                );
                let padded = format!("{sign}00{prefix}");
                assert_eq!(
                    allowed(&set, padded.as_bytes()),
                    (viable, member(signed(prefix))),
                    "{padded} in {intervals:?}"
                );
            }
        }
    }
}

#[test]
fn exponents_far_past_every_machine_integer() {
    let mut set = ExponentSet::default();
    set.push(4_000_000_000_000_000_000, i64::MAX);
    assert_eq!(allowed(&set, "9".repeat(1000).as_bytes()), (true, true));
    assert_eq!(allowed(&set, b"3999999999999999999"), (true, false));
    assert_eq!(allowed(&set, b"4000000000000000000"), (true, true));
    assert_eq!(allowed(&set, b"-1"), (false, false));
}

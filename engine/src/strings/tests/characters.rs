//! Sets of characters that may come, as seen from expressions.

use crate::strings::charset::{CharRange, LAST};
use crate::strings::expr::coarse_char_set::CoarseCharSet;
use crate::strings::{LanguageLimits, Languages};

/// Whatever leads on in the table of an expression's derivatives, and in those of what it leads to, may come first, and
/// is among all that may come before it is read.
#[test]
fn no_character_is_missed() -> Result<(), Box<dyn std::error::Error>> {
    let mut languages = Languages::new(&LanguageLimits::default());
    let patterns = [
        r"^a?b*c+$",
        r"^(?:é|[x-z])?[0-9]{0,3}$",
        r"^(?!ab)[a-c]+(?<!c)$",
        r"^\w+\b-?$",
        r"foo$",
        r"^(?=.{3}$)[^a]*$",
    ];
    let mut open = vec![languages.any()];
    for pattern in patterns {
        open.push(languages.pattern(pattern)?);
    }
    for format in ["date-time", "time", "email", "uri", "ipv6"] {
        open.extend(languages.format(format)?);
    }
    let mut at = 0;
    while at < open.len().min(2_000) {
        let language = open[at];
        at += 1;
        let (firsts, used) = (
            languages.coarse_first_characters(language),
            languages.arena.used(language),
        );
        for (range, target) in languages.transitions(language)?.iter() {
            for character in [range.first(), range.last()] {
                assert_eq!(firsts.none_up_to(character.into()), None, "{language:?} {character:?}");
                assert_eq!(used.none_up_to(character.into()), None, "{language:?} {character:?}");
            }
            let later = languages.arena.used(*target);
            assert_eq!(used.or(later), used, "{language:?} {target:?}");
            if !open.contains(target) {
                open.push(*target);
            }
        }
    }
    assert!(at > 500, "{at} states");
    Ok(())
}

#[test]
fn stretches_without_a_first_character_are_found() {
    let firsts = CoarseCharSet::of([CharRange::new(48, 57), CharRange::new(100, 100)].into_iter());
    let last = u32::from(char::MAX);
    let expected = [
        (0, Some(47)),
        (48, None),
        (57, None),
        (58, Some(99)),
        (100, None),
        (101, Some(last)),
    ];
    for (character, up_to) in expected {
        assert_eq!(firsts.none_up_to(character), up_to, "{character}");
    }
    assert_eq!(firsts.none_up_to(0x80), Some(last));
    assert!(firsts.are_ascii() && !CoarseCharSet::ALL.are_ascii());
    assert_eq!(
        CoarseCharSet::of([CharRange::new(0, 300)].into_iter()),
        CoarseCharSet::ALL
    );
    let wide = CoarseCharSet::of([CharRange::new(127, 127), CharRange::new(200, 300)].into_iter());
    assert_eq!(
        (wide.none_up_to(0), wide.none_up_to(127), wide.none_up_to(0x80)),
        (Some(126), None, None)
    );
    let digits = [CharRange::new(48, 57), CharRange::new(0x80, LAST)];
    let one = CoarseCharSet::of([CharRange::new(49, 49)].into_iter());
    assert!(one.are_in(&digits) && one.are_in(&digits[..1]) && !one.are_in(&digits[1..]));
    assert!(CoarseCharSet::NONE.are_in(&[]) && !firsts.are_in(&digits) && !wide.are_in(&digits));
    let other = CoarseCharSet { ascii: 0, others: true };
    assert!(other.are_in(&digits) && !other.are_in(&[CharRange::new(0, 300)]));
    assert_eq!(other.none_up_to(5), Some(0x7F));
}

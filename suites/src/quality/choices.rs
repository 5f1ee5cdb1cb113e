//! The letters of choices: `(A)`, `(B)` and so on.

/// The first `count` letters, at most 26.
pub(super) fn letters(count: u8) -> impl Iterator<Item = char> {
    ('A'..='Z').take(usize::from(count))
}

/// The letter in a choice such as `(B)`, where it is exactly that and one of the first `count`.
pub(super) fn letter(choice: &str, count: u8) -> Option<char> {
    let inside = choice.strip_prefix('(')?.strip_suffix(')')?;
    letters(count).find(|letter| inside.len() == 1 && inside.starts_with(*letter))
}

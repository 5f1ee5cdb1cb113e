//! [`is_accepted`]: judges whether the arguments of a call are among the accepted values, by BFCL's rules.

use serde_json::{Map, Number, Value};

/// The accepted value that marks an argument as optional.
const MAY_BE_ABSENT: &str = "";

/// Whether every argument is among its accepted values, and no required argument is missing. `accepted` has a list for each argument.
///
/// - An argument without a list is wrong. An argument may be left out where its list has an empty string.
/// - Texts are equal where they are so without spaces and `, . / - _ * ^`, in lower case, with `"` for `'`.
/// - Numbers are equal by value, whether whole or not; true and false are no numbers. (BFCL refuses 1.0 for an integer.)
/// - Lists are equal item by item, in order.
/// - Objects are judged as arguments are, member by member.
pub(super) fn is_accepted(arguments: &Map<String, Value>, accepted: &Map<String, Value>) -> bool {
    let is_given_right = |(name, value): (&String, &Value)| {
        let accepted = accepted.get(name).map(list);
        accepted.is_some_and(|accepted| accepted.iter().any(|one| is_equal(value, one)))
    };
    let may_lack = |(name, values): (&String, &Value)| {
        arguments.contains_key(name) || list(values).iter().any(|value| *value == MAY_BE_ABSENT)
    };
    arguments.iter().all(is_given_right) && accepted.iter().all(may_lack)
}

/// Returns the accepted values; a value that is no list is the only one.
fn list(values: &Value) -> &[Value] {
    match values {
        Value::Array(values) => values,
        value => std::slice::from_ref(value),
    }
}

/// Whether a value equals an accepted one. Recursion is bounded by the depth limit under which both were read.
fn is_equal(value: &Value, accepted: &Value) -> bool {
    match (value, accepted) {
        (Value::String(value), Value::String(accepted)) => normalised(value) == normalised(accepted),
        (Value::Number(value), Value::Number(accepted)) => are_same(value, accepted),
        (Value::Array(items), Value::Array(accepted)) => {
            items.len() == accepted.len()
                && items
                    .iter()
                    .zip(accepted)
                    .all(|(item, accepted)| is_equal(item, accepted))
        }
        (Value::Object(members), Value::Object(accepted)) => is_accepted(members, accepted),
        (value, accepted) => value == accepted,
    }
}

/// Returns a text without the differences that BFCL ignores: spaces, some punctuation, case and kind of quotes.
fn normalised(text: &str) -> String {
    let kept = text.chars().filter(|character| !" ,./-_*^".contains(*character));
    kept.flat_map(char::to_lowercase)
        .map(|character| if character == '\'' { '"' } else { character })
        .collect()
}

fn are_same(one: &Number, other: &Number) -> bool {
    match (one.as_i128(), other.as_i128()) {
        (Some(one), Some(other)) => one == other,
        _ => one == other || one.as_f64().is_some_and(|one| Some(one) == other.as_f64()),
    }
}

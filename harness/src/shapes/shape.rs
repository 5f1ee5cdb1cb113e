//! [`Shape`]: extent of a document.

use maskwright_suites::validate::Validator;
use serde::Serialize;
use serde_json::Value;

/// Extent of a document: its size, values and depth, and whether it is empty or as short as possible.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Shape {
    /// Bytes of the document's text without whitespace around its tokens.
    pub bytes: usize,
    /// Values: texts, numbers, booleans, nulls, and empty arrays and objects.
    pub values: usize,
    /// Depth: the number of arrays and objects within one another.
    pub depth: usize,
    /// Whether the document is an object or array without anything in it.
    pub empty: bool,
    /// Whether no member of any object can be left out: only required members are there.
    pub only_required: bool,
}

/// Largest number of members of a document that are left out one by one on trial; a document with more counts as having members that are not
/// required.
const MAX_MEMBERS: usize = 200;

impl Shape {
    /// The shape of a document that is valid by `judge`. `None` where the text is no JSON.
    pub fn of(text: &str, judge: &Validator) -> Option<Self> {
        let value: Value = serde_json::from_str(text).ok()?;
        let (values, depth) = extent(&value);
        Some(Self {
            bytes: value.to_string().len(),
            values,
            depth,
            empty: is_empty(&value),
            only_required: !can_leave_out(&value, judge),
        })
    }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.is_empty(),
        _ => false,
    }
}

/// Values, and arrays and objects within one another.
fn extent(value: &Value) -> (usize, usize) {
    let of_children = |children: &mut dyn Iterator<Item = &Value>| {
        children.map(extent).fold((0, 0), |(values, depth), (more, below)| {
            (values + more, depth.max(below))
        })
    };
    let (values, depth) = match value {
        Value::Array(items) => of_children(&mut items.iter()),
        Value::Object(members) => of_children(&mut members.values()),
        _ => return (1, 0),
    };
    (values.max(usize::from(is_empty(value))), depth + 1)
}

/// Whether some member of some object can be left out of a valid document.
fn can_leave_out(document: &Value, judge: &Validator) -> bool {
    let mut pointers = Vec::new();
    members(document, &mut String::new(), &mut pointers);
    if pointers.len() > MAX_MEMBERS {
        return true;
    }
    pointers.iter().any(|(object, name)| {
        let mut without = document.clone();
        let Some(Value::Object(members)) = without.pointer_mut(object) else {
            return false;
        };
        members.shift_remove(name);
        judge.judge_value(&without).valid
    })
}

/// Every member: the pointer to its object, and its name.
fn members(value: &Value, pointer: &mut String, found: &mut Vec<(String, String)>) {
    let length = pointer.len();
    match value {
        Value::Object(object) => {
            for (name, member) in object {
                found.push((pointer.clone(), name.clone()));
                pointer.push('/');
                pointer.push_str(&name.replace('~', "~0").replace('/', "~1"));
                members(member, pointer, found);
                pointer.truncate(length);
            }
        }
        Value::Array(items) => {
            for (number, item) in items.iter().enumerate() {
                pointer.push_str(&format!("/{number}"));
                members(item, pointer, found);
                pointer.truncate(length);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(schema: &str, text: &str) -> Shape {
        Shape::of(text, &Validator::new(schema).unwrap()).unwrap()
    }

    #[test]
    fn shapes_are_those_counted_by_hand() {
        let expected = Shape {
            bytes: r#"{"a":[1,"x",{"b":null}],"c":{}}"#.len(),
            values: 4,
            depth: 3,
            empty: false,
            only_required: false,
        };
        assert_eq!(shape("{}", r#"{"a": [1, "x", {"b": null}], "c": {}}"#), expected);
        let empty = shape("{}", "{ }");
        assert!(empty.empty && empty.only_required && empty.depth == 1 && empty.values == 1 && empty.bytes == 2);
        let scalar = shape("{}", "7");
        assert!(!scalar.empty && scalar.only_required && scalar.depth == 0);
        assert_eq!(Shape::of("{", &Validator::new("{}").unwrap()), None);
    }

    #[test]
    fn a_member_is_required_if_it_cannot_be_left_out() {
        let schema =
            r#"{"type": "object", "properties": {"a": {"type": "object", "required": ["b"]}}, "required": ["a"]}"#;
        for (text, only_required) in [
            (r#"{"a": {"b": 1}}"#, true),
            (r#"{"a": {"b": 1, "c": 2}}"#, false),
            (r#"{"a": {"b": {"d": 3}}}"#, false),
            (r#"{"a": {"b": 1}, "z/~": 1}"#, false),
            (r#"{"a": {"b": [{"c": 1}]}}"#, false),
        ] {
            assert_eq!(shape(schema, text).only_required, only_required, "{text}");
        }
        // What another member asks for is required.
        let schema = r#"{"required": ["a"], "dependentRequired": {"a": ["b"]}}"#;
        assert!(shape(schema, r#"{"a": 1, "b": 2}"#).only_required);
    }
}

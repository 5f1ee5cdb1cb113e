//! Tokens of a prompt that describe fields: names, types, limits, presence.

use std::sync::LazyLock;

use regex::Regex;

/// The type of a field, as it was read.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Type {
    Scalar(Scalar),
    Enum(Vec<String>),
    /// A list of scalars.
    List(Scalar, Limits),
    Object,
    /// A list of objects.
    Objects(Limits),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Scalar {
    String,
    Integer,
    Number,
    Boolean,
}

/// The least and the most, with the digits they were written in.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Limits {
    pub min: Option<String>,
    pub max: Option<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
    Name(String),
    Type(Type),
    Bounds(Limits),
    Length(Limits),
    Optional,
    Required,
    Null,
}

/// A regular expression of this module, compiled once.
macro_rules! regex {
    ($pattern:expr) => {{
        static REGEX: std::sync::LazyLock<regex::Regex> =
            std::sync::LazyLock::new(|| $crate::ifstruct::recover::lexer::compiled($pattern));
        &*REGEX
    }};
}
pub(super) use regex;

/// Compiles an expression that stands in this module, as tests read every one of them.
#[expect(
    clippy::expect_used,
    reason = "the expressions are constants, and tests compile each"
)]
pub(super) fn compiled(pattern: &str) -> Regex {
    Regex::new(pattern).expect("a constant that is a regular expression")
}

const VALUE: &str = r#"(?:"[^"\s]+"|`[^`\s]+`)"#;

/// Everything in `text` that says something, in order.
pub(super) fn lex(text: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let at_word = tokens_may_start(text, rest) && may_say_something(rest);
        match at_word.then(|| token(rest)).flatten() {
            Some((token, length)) => {
                tokens.push(token);
                rest = &rest[length..];
            }
            None => {
                let next = rest.chars().next().map_or(1, char::len_utf8);
                rest = &rest[next..];
            }
        }
    }
    tokens
}

/// Whether `rest` begins where no word is being read.
fn tokens_may_start(text: &str, rest: &str) -> bool {
    let before = text[..text.len() - rest.len()].chars().next_back();
    !before.is_some_and(|character| {
        character.is_alphanumeric() || character == '_' || character == '.' || character == '\''
    })
}

/// Whether any of the patterns could match here; most words are done with by this.
fn may_say_something(rest: &str) -> bool {
    const WORDS: [&str; 50] = [
        "exactly", "only", "one", "either", "pick", "enum", "list", "array", "piece", "pieces", "short", "text",
        "texts", "string", "strings", "str", "whole", "integer", "integers", "int", "ints", "decimal", "number",
        "numbers", "float", "floats", "boolean", "booleans", "bool", "bools", "true", "object", "objects", "min",
        "minimum", "max", "maximum", "between", "from", "at", "optional", "may", "not", "leave", "left", "skip", "can",
        "required", "nullable", "null",
    ];
    if !rest.starts_with(|first: char| first.is_alphabetic()) {
        return rest.starts_with(['"', '`', '≥', '≤', '<', '>', '-']) || rest.starts_with(char::is_numeric);
    }
    let end = rest.find(|character: char| !(character.is_alphanumeric() || character == '_'));
    let (word, behind) = rest.split_at(end.unwrap_or(rest.len()));
    word.contains('_') || behind.starts_with(['|', '/']) || WORDS.iter().any(|known| known.eq_ignore_ascii_case(word))
}

fn token(rest: &str) -> Option<(Token, usize)> {
    enumeration(rest)
        .or_else(|| list(rest))
        .or_else(|| scalar(rest))
        .or_else(|| limits(rest))
        .or_else(|| presence(rest))
        .or_else(|| name(rest))
}

fn unquoted(text: &str) -> String {
    text.trim_matches(['"', '`']).to_owned()
}

fn enumeration(rest: &str) -> Option<(Token, usize)> {
    static QUOTED: LazyLock<Regex> = LazyLock::new(|| {
        compiled(&format!(
            r"^(?:(?:exactly |only )?(?:one of|either|pick from) )?({VALUE}(?:, {VALUE})* or {VALUE}|{VALUE}(?:(?: \| |\|| / ){VALUE})+)"
        ))
    });
    static LISTED: LazyLock<Regex> = LazyLock::new(|| compiled(&format!(r"^one of ({VALUE}(?:, {VALUE})+)")));
    let values = |found: &str| -> Vec<String> {
        let value = regex!(r#""[^"\s]+"|`[^`\s]+`"#);
        value.find_iter(found).map(|value| unquoted(value.as_str())).collect()
    };
    for regex in [&*QUOTED, &*LISTED] {
        if let Some(found) = regex.captures(rest) {
            return Some((Token::Type(Type::Enum(values(&found[1]))), found[0].len()));
        }
    }
    if let Some(found) = regex!(r"^enum \(([^()]+)\)").captures(rest) {
        let values = found[1].split(", ").map(str::to_owned).collect();
        return Some((Token::Type(Type::Enum(values)), found[0].len()));
    }
    let bare = regex!(r"^(?:(?:exactly |only )?(?:one of|either|pick from) )(\w+(?:, \w+)* or \w+)");
    if let Some(found) = bare.captures(rest) {
        let values = found[1].replace(" or ", ", ").split(", ").map(str::to_owned).collect();
        return Some((Token::Type(Type::Enum(values)), found[0].len()));
    }
    let compact = regex!(r"^(?:one of )?(\w+(?:[|/]\w+)+)");
    let found = compact.captures(rest).filter(|found| !found[1].starts_with("true/"))?;
    let values = found[1].split(['|', '/']).map(str::to_owned).collect();
    Some((Token::Type(Type::Enum(values)), found[0].len()))
}

fn list(rest: &str) -> Option<(Token, usize)> {
    let of = regex!(r"(?i)^(?:list|array) of (?:(exactly|at least|at most) (\d+) |(\d+)(?:-| to )(\d+) )?(.+)");
    let found = of.captures(rest)?;
    let number = |group: usize| found.get(group).map(|number| number.as_str().to_owned());
    let length = match found.get(1).map(|word| word.as_str()) {
        Some("exactly") => Limits {
            min: number(2),
            max: number(2),
        },
        Some("at least") => Limits {
            min: number(2),
            max: None,
        },
        Some(_) => Limits {
            min: None,
            max: number(2),
        },
        None => Limits {
            min: number(3),
            max: number(4),
        },
    };
    let items = &found[5];
    let start = found[0].len() - items.len();
    match scalar(items) {
        Some((Token::Type(Type::Scalar(scalar)), length_of_items)) => {
            Some((Token::Type(Type::List(scalar, length)), start + length_of_items))
        }
        _ => Some((Token::Type(Type::Objects(length)), start)),
    }
}

fn scalar(rest: &str) -> Option<(Token, usize)> {
    let kinds = [
        (
            regex!(r"(?i)^(?:pieces? of text|short texts?|texts?|strings?|str)\b"),
            Scalar::String,
        ),
        (regex!(r"(?i)^(?:whole numbers?|integers?|ints?)\b"), Scalar::Integer),
        (regex!(r"(?i)^(?:decimal numbers?|numbers?|floats?)\b"), Scalar::Number),
        (
            regex!(r"(?i)^(?:booleans?|bools?|true/false(?: values?)?)\b"),
            Scalar::Boolean,
        ),
    ];
    for (regex, scalar) in kinds {
        if let Some(found) = regex.find(rest) {
            return Some((Token::Type(Type::Scalar(scalar)), found.len()));
        }
    }
    let object = regex!(r"(?i)^objects?\b").find(rest)?;
    Some((Token::Type(Type::Object), object.len()))
}

fn limits(rest: &str) -> Option<(Token, usize)> {
    const N: &str = r"(-?\d+(?:\.\d+)?)";
    static FORMS: LazyLock<Vec<(Regex, bool, bool)>> = LazyLock::new(|| {
        // Whether the first number is the least, and the last one the most.
        let forms: [(&str, bool, bool); 14] = [
            ("≥N, ≤N", true, true),
            ("≥N", true, false),
            ("≤N", false, true),
            (">= N and <= N", true, true),
            (">= N", true, false),
            ("<= N", false, true),
            ("min(?:imum:)? N, max(?:imum:)? N", true, true),
            ("min(?:imum:)? N", true, false),
            ("max(?:imum:)? N", false, true),
            ("(?:between |from )?N(?: and | to |-)N", true, true),
            ("(?:at least N|N or more)", true, false),
            ("(?:at most N|N or less)", false, true),
            ("exactly N", true, true),
            ("N(?: items?| entries)", true, true),
        ];
        let compile = |(form, min, max): (&str, bool, bool)| {
            (
                compiled(&format!("(?i)^{}( items?| entries)?", form.replace('N', N))),
                min,
                max,
            )
        };
        forms.map(compile).into()
    });
    for (regex, min, max) in &*FORMS {
        let Some(found) = regex.captures(rest) else { continue };
        let numbers: Vec<String> = found
            .iter()
            .skip(1)
            .flatten()
            .map(|group| group.as_str().to_owned())
            .filter(|group| !group.starts_with(' '))
            .collect();
        let limits = Limits {
            min: numbers.first().filter(|_| *min).cloned(),
            max: numbers.last().filter(|_| *max).cloned(),
        };
        let counts =
            ["item", "items", "entries"].iter().any(|word| found[0].ends_with(word)) || found[0].starts_with("exactly");
        let token = if counts {
            Token::Length(limits)
        } else {
            Token::Bounds(limits)
        };
        return Some((token, found[0].len()));
    }
    None
}

fn presence(rest: &str) -> Option<(Token, usize)> {
    let optional = regex!(
        r"(?i)^(?:optional|may be omitted|not required|leave (?:it|that one) out|left out|skip it|can skip it)\b"
    );
    if let Some(found) = optional.find(rest) {
        return Some((Token::Optional, found.len()));
    }
    if let Some(found) = regex!(r"(?i)^(?:required)\b").find(rest) {
        return Some((Token::Required, found.len()));
    }
    let found = regex!(r"(?i)^(?:nullable|null)\b").find(rest)?;
    Some((Token::Null, found.len()))
}

fn name(rest: &str) -> Option<(Token, usize)> {
    let quoted = regex!(r#"^(?:`([a-z][\w.\[\]]*)`|"([a-z]\w*)")"#);
    if let Some(found) = quoted.captures(rest) {
        let name = found.get(1).or_else(|| found.get(2))?.as_str();
        return Some((Token::Name(name.to_owned()), found[0].len()));
    }
    let found = regex!(r"^[a-z][a-z0-9]*(?:_[a-z0-9]+)+").find(rest)?;
    Some((Token::Name(found.as_str().to_owned()), found.len()))
}

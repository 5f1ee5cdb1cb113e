//! [`State`]: a place in a document at which masks are measured.

use maskwright::{Compiler, Masker, TokenId, Vocabulary};
use serde_json::{Map, Value, json};

/// A place in a document under a schema, and how the document goes on.
pub struct State {
    /// A short description of the place.
    pub name: &'static str,
    /// The schema's text.
    pub schema: String,
    /// The document so far. Texts are spelt and keys ordered so that every framework can follow.
    before: String,
    /// Text whose first token comes next.
    after: &'static str,
}

/// The states whose schemas are compiled for the time to the first mask.
pub const SCHEMAS_TO_COMPILE: [&str; 5] = [
    "object start",
    "pattern string",
    "enum of 5,000",
    "any-order keys, 50 properties",
    "anyOf of 50 objects",
];

/// The states, the simple ones first.
pub fn states() -> Vec<State> {
    vec![
        state("object start", person(), "", "{\""),
        state("free string", person(), "{\"name\": \"The quick brown", " fox"),
        state(
            "bounded string",
            json!({"type": "object", "properties": {"title": {"type": "string", "minLength": 3, "maxLength": 100}}}),
            "{\"title\": \"The quick brown",
            " fox",
        ),
        state(
            "pattern string",
            json!({"type": "object", "properties": {"code": {"type": "string", "pattern": "^[A-Z]{2}-[0-9]{4}(-[a-z]+)*$"}}}),
            "{\"code\": \"AB-1234-",
            "blue",
        ),
        state(
            "enum of 5,000",
            json!({"type": "object", "properties": {"word": {"enum": invented_words(5_000)}}}),
            "{\"word\": \"",
            "ka",
        ),
        state(
            "number with bounds",
            json!({"type": "object", "properties": {"n": {"type": "number", "minimum": -10.5, "maximum": 99.25}}}),
            "{\"n\": ",
            "42",
        ),
        state(
            "any-order keys, 50 properties",
            json!({"type": "object", "properties": string_properties(&NAMES), "required": &NAMES[..10]}),
            "{\"id\": \"x\", \"name\": \"y\", \"",
            "title",
        ),
        state(
            "anyOf of 50 objects",
            json!({"anyOf": alternatives()}),
            "{\"id\": 7, \"",
            "title",
        ),
        state(
            "uniqueItems",
            json!({"type": "array", "items": {"type": "string"}, "uniqueItems": true}),
            "[\"alpha\", \"beta\", \"gamma\", \"al",
            "ps",
        ),
        state(
            "closing several levels",
            levels(4),
            "{\"in\": {\"in\": {\"in\": {\"list\": [1, 2",
            "]}}",
        ),
    ]
}

fn state(name: &'static str, schema: Value, before: &str, after: &'static str) -> State {
    State {
        name,
        schema: schema.to_string(),
        before: before.to_owned(),
        after,
    }
}

/// A schema as applications write them.
fn person() -> Value {
    json!({
        "type": "object",
        "properties": {
            "name": {"type": "string"},
            "age": {"type": "integer", "minimum": 0},
            "email": {"type": "string"},
            "address": {
                "type": "object",
                "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
                "required": ["street", "city"],
                "additionalProperties": false,
            },
            "tags": {"type": "array", "items": {"type": "string"}},
        },
        "required": ["name", "age"],
        "additionalProperties": false,
    })
}

/// Names of properties as they are met in schemas.
const NAMES: [&str; 50] = [
    "id",
    "name",
    "title",
    "status",
    "type",
    "description",
    "url",
    "email",
    "phone",
    "address",
    "city",
    "country",
    "region",
    "zip",
    "street",
    "latitude",
    "longitude",
    "created_at",
    "updated_at",
    "deleted_at",
    "owner",
    "author",
    "editor",
    "tags",
    "labels",
    "priority",
    "severity",
    "category",
    "version",
    "release",
    "language",
    "locale",
    "timezone",
    "currency",
    "price",
    "amount",
    "quantity",
    "discount",
    "tax",
    "total",
    "notes",
    "comment",
    "source",
    "target",
    "path",
    "format",
    "width",
    "height",
    "depth",
    "weight",
];

fn string_properties(names: &[&str]) -> Value {
    let properties: Map<String, Value> = names
        .iter()
        .map(|name| ((*name).to_owned(), json!({"type": "string"})))
        .collect();
    Value::Object(properties)
}

/// Objects that share their first property and are told apart by the second.
fn alternatives() -> Vec<Value> {
    let own = NAMES.iter().cycle().skip(1).take(50).enumerate();
    own.map(|(index, name)| {
        let own = if *name == "id" { "ident" } else { name };
        json!({
            "type": "object",
            "properties": {"id": {"type": "integer"}, own: {"type": "string"}, format!("extra{index}"): {"type": "boolean"}},
            "required": ["id", own],
            "additionalProperties": false,
        })
    })
    .collect()
}

/// Different words, the same every time, that begin with a consonant and a vowel.
fn invented_words(count: usize) -> Vec<String> {
    const CONSONANTS: [&str; 16] = [
        "k", "s", "t", "n", "m", "r", "l", "b", "d", "g", "p", "st", "tr", "v", "z", "f",
    ];
    const VOWELS: [&str; 5] = ["a", "e", "i", "o", "u"];
    let syllable = |index: usize| [CONSONANTS[index % 16], VOWELS[index / 16 % 5]].concat();
    // 80 syllables; 37 has no factor in common with 80², so that no number of two digits to base 80 comes twice.
    (0..count)
        .map(|index| index * 37 % 6_400)
        .map(|number| [syllable(number % 80), syllable(number / 80), "n".repeat(number % 2)].concat())
        .collect()
}

/// Objects in objects, a list in the innermost.
fn levels(count: usize) -> Value {
    let list = json!({"type": "array", "items": {"type": "integer"}});
    let innermost = json!({"type": "object", "properties": {"list": list}, "additionalProperties": false});
    (1..count).fold(
        innermost,
        |inner, _| json!({"type": "object", "properties": {"in": inner}, "additionalProperties": false}),
    )
}

/// A state, in a vocabulary's tokens.
pub struct Visit {
    before: Vec<TokenId>,
    after: TokenId,
}

impl Visit {
    /// The tokens of a state.
    ///
    /// # Panics
    ///
    /// If the vocabulary has no tokenizer.
    pub fn new(state: &State, vocabulary: &Vocabulary) -> Self {
        let tokenizer = vocabulary.tokenizer().expect("a vocabulary with its tokenizer");
        Self {
            before: tokenizer.tokenize(state.before.as_bytes()),
            after: tokenizer.tokenize(state.after.as_bytes())[0],
        }
    }

    /// The measured work: computes the mask of this state, and accepts a token.
    ///
    /// # Panics
    ///
    /// If the framework fails or refuses the token.
    pub fn step(&self, masker: &mut dyn Masker) {
        masker.mask().expect("a mask");
        masker.advance(self.after).expect("the token is allowed");
    }

    /// A masker at the state of which no mask was asked.
    ///
    /// # Errors
    ///
    /// A message, where the framework refuses the schema or the document.
    pub fn fresh(&self, compiler: &dyn Compiler, schema: &str) -> Result<Box<dyn Masker>, String> {
        let mut masker = compiler.compile(schema).map_err(|error| error.to_string())?;
        walk(masker.as_mut(), &self.before)?;
        Ok(masker)
    }

    /// A masker at the state after whose mask, and the one before it, was computed and its token accepted and taken back.
    ///
    /// # Errors
    ///
    /// As [`Visit::fresh`], and where the next token is not allowed.
    pub fn visited(&self, compiler: &dyn Compiler, schema: &str) -> Result<Visited, String> {
        let (last, first) = match self.before.split_last() {
            Some((last, first)) => (Some(*last), first),
            None => (None, &[][..]),
        };
        let mut masker = compiler.compile(schema).map_err(|error| error.to_string())?;
        walk(masker.as_mut(), first)?;
        walk(masker.as_mut(), last.as_slice())?;
        masker.mask().map_err(|error| error.to_string())?;
        walk(masker.as_mut(), &[self.after])?;
        let taken_back = 1 + usize::from(last.is_some());
        masker.rollback(taken_back).map_err(|error| error.to_string())?;
        Ok(Visited { masker, last })
    }
}

/// A masker that has been at a state, and now stands one token before it: where it arrives anew, it holds no mask.
pub struct Visited {
    masker: Box<dyn Masker>,
    last: Option<TokenId>,
}

impl Visited {
    /// A copy, at the state.
    ///
    /// # Panics
    ///
    /// If the framework fails, or refuses what it accepted before.
    pub fn arrive(&self) -> Box<dyn Masker> {
        let mut masker = self.masker.fork().expect("a masker can be copied");
        if let Some(last) = self.last {
            masker.advance(last).expect("it was accepted before");
        }
        masker
    }
}

fn walk(masker: &mut dyn Masker, tokens: &[TokenId]) -> Result<(), String> {
    for &token in tokens {
        masker.advance(token).map_err(|error| error.to_string())?;
    }
    Ok(())
}

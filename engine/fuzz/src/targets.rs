//! The bodies of the fuzz targets. Each takes bytes and tells what it found.

use std::fmt;
use std::sync::{Arc, LazyLock};

use maskwright::{
    CompileErrorKind, Compiler, ExactCompiler, Formats, MaskError, Masker, TokenId, TokenMask, Vocabulary,
};
use maskwright_suites::strict_json;
use maskwright_suites::validate::Validator;
use serde_json::Value;

use crate::subject::{STYLES, accepts, allowed_by_bytes, compile, compiler, of_texts, vocabulary};
use crate::{Choices, document, schema, shrink, spelling};

/// What one input showed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Shown {
    /// There was something to compare, and it was as it should be: so many times.
    Agreement(usize),
    /// The schema has no valid document, says the engine, and none was found.
    Unsatisfiable,
    /// A reference that leads to the very value it stands at, without end, is refused.
    Circular,
    /// The engine reached a limit of its own and said so.
    Limit,
    /// Nothing came to an end within this target's patience.
    Nothing,
}

/// The engine at odds with something else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Discrepancy {
    /// What is at odds.
    pub what: String,
    /// The schema, as small as it was made.
    pub schema: String,
    /// The document or the beginning of one.
    pub text: String,
}

impl fmt::Display for Discrepancy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\nschema: {}\ntext:   {:?}", self.what, self.schema, self.text)
    }
}

/// The result of a body.
pub type Found = Result<Shown, Box<Discrepancy>>;

fn discrepancy(what: impl Into<String>, schema: &str, text: impl Into<String>) -> Box<Discrepancy> {
    Box::new(Discrepancy {
        what: what.into(),
        schema: schema.to_owned(),
        text: text.into(),
    })
}

/// All of JSON, by its position in [`STYLES`](crate::subject::STYLES).
const ANY: usize = 0;
/// What serde_json writes.
const PLAIN: usize = 2;

/// A compiled schema, or why there is none.
enum Compiled {
    Masker(Box<dyn Masker>),
    Refused(Shown),
}

fn compiled(schema: &str, style: usize) -> Result<Compiled, Box<Discrepancy>> {
    let refused = match compile(schema, style) {
        Ok(masker) => return Ok(Compiled::Masker(masker)),
        Err(error) => error,
    };
    match refused.kind() {
        CompileErrorKind::Unsatisfiable => Ok(Compiled::Refused(Shown::Unsatisfiable)),
        CompileErrorKind::LimitExceeded => Ok(Compiled::Refused(Shown::Limit)),
        CompileErrorKind::Malformed if refused.message().contains("leads back to the value it describes") => {
            Ok(Compiled::Refused(Shown::Circular))
        }
        _ => Err(discrepancy(format!("refused: {refused}"), schema, "")),
    }
}

/// A random schema and documents: accepted if and only if valid, in any spelling, cut into any tokens.
///
/// # Errors
///
/// What is at odds, as small as it was made.
pub fn agreement(bytes: &[u8]) -> Found {
    const DOCUMENTS: usize = 16;
    let mut choices = Choices::new(bytes);
    let schema = schema::random(&mut choices);
    let mut maskers = Vec::new();
    for style in [ANY, PLAIN] {
        match compiled(&spelling::spelled(&mut choices, &schema), style)? {
            Compiled::Masker(masker) => maskers.push(masker),
            Compiled::Refused(Shown::Unsatisfiable) => {}
            Compiled::Refused(why) => return Ok(why),
        }
    }
    let judge = match Validator::from_value(&schema) {
        Ok(judge) => judge,
        Err(error) => {
            return Err(discrepancy(
                format!("only the judge refuses it: {error}"),
                &schema.to_string(),
                "",
            ));
        }
    };
    let mut document = document::after(&mut choices, &schema, &schema, 5);
    for _ in 0..DOCUMENTS {
        let texts = [
            spelling::spelled(&mut choices, &document),
            pretty(&mut choices, &document),
        ];
        for (style, text) in texts.into_iter().enumerate() {
            let Some(read) = spelling::read(&text) else { continue };
            let valid = judge.judge_value(&read).valid;
            let accepted = match maskers.get(style) {
                None => Ok(false),
                Some(masker) => accepts(&**masker, &vocabulary(), text.as_bytes(), &mut choices),
            };
            match accepted {
                Err(MaskError::LimitExceeded(_)) => return Ok(Shown::Limit),
                Err(error) => return Err(discrepancy(error.to_string(), &schema.to_string(), text)),
                Ok(accepted) if accepted != valid => return Err(smallest(&schema, &document, &text, valid)),
                Ok(_) => {}
            }
        }
        document = match choices.below(3) {
            0 => document::changed(&mut choices, &document),
            _ => document::after(&mut choices, &schema, &schema, 5),
        };
    }
    Ok(match maskers.len() {
        0 => Shown::Unsatisfiable,
        2 => Shown::Agreement(DOCUMENTS),
        _ => return Err(discrepancy("unsatisfiable in one style only", &schema.to_string(), "")),
    })
}

/// `document` as serde_json writes it, on one line or indented.
fn pretty(choices: &mut Choices<'_>, document: &Value) -> String {
    match choices.below(2) {
        0 => document.to_string(),
        _ => format!("{document:#}"),
    }
}

/// A small schema and document that are judged in two ways, or these where that depends on how they are spelled.
fn smallest(schema: &Value, document: &Value, text: &str, valid: bool) -> Box<Discrepancy> {
    let differ =
        |schema: &Value, document: &Value| verdicts(schema, document).is_some_and(|(engine, judge)| engine != judge);
    let wrong = |engine: bool| format!("{} by the engine, {} by the judge", words(engine), words(!engine));
    if !differ(schema, document) {
        return discrepancy(wrong(!valid), &schema.to_string(), text);
    }
    let schema = shrink::shrunk(schema, |schema| differ(schema, document));
    let document = shrink::shrunk(document, |document| differ(&schema, document));
    let schema = shrink::shrunk(&schema, |schema| differ(schema, &document));
    let engine = verdicts(&schema, &document).is_some_and(|(engine, _)| engine);
    discrepancy(wrong(engine), &schema.to_string(), document.to_string())
}

fn words(valid: bool) -> &'static str {
    if valid { "valid" } else { "invalid" }
}

/// What the engine and the judge say.
fn verdicts(schema: &Value, document: &Value) -> Option<(bool, bool)> {
    let text = document.to_string();
    let engine = match compiled(&schema.to_string(), ANY).ok()? {
        Compiled::Masker(masker) => accepts(&*masker, &vocabulary(), text.as_bytes(), &mut Choices::new(&[])).ok()?,
        Compiled::Refused(Shown::Unsatisfiable) => false,
        Compiled::Refused(_) => return None,
    };
    let judge = Validator::from_value(schema).ok()?;
    Some((engine, judge.judge_value(document).valid))
}

/// Random tokens among those allowed. There is always one that is more than whitespace, or the document may end; masks say
/// what [`Masker::advance`] says; what ends is valid.
///
/// # Errors
///
/// What is at odds.
pub fn walk(bytes: &[u8]) -> Found {
    let mut choices = Choices::new(bytes);
    let schema = schema::random(&mut choices);
    let text = schema.to_string();
    let start = match compiled(&text, choices.below(3))? {
        Compiled::Masker(masker) => masker,
        Compiled::Refused(why) => return Ok(why),
    };
    let judge = Validator::from_value(&schema);
    let judge = judge.map_err(|error| discrepancy(format!("only the judge refuses it: {error}"), &text, ""))?;
    let mut ended = 0;
    for _ in 0..3 {
        let walked = match one_walk(&*start, &mut choices) {
            Err(Stop::Limit) => return Ok(Shown::Limit),
            Err(Stop::Wrong(what, so_far)) => return Err(discrepancy(what, &text, so_far)),
            Ok(walked) => walked,
        };
        for walked in &walked {
            if let Some(problem) = problem(walked, &judge) {
                return Err(discrepancy(problem, &text, String::from_utf8_lossy(walked)));
            }
        }
        ended += walked.len();
    }
    Ok(if ended > 0 {
        Shown::Agreement(ended)
    } else {
        Shown::Nothing
    })
}

/// What is wrong with a text that the engine takes for a document.
fn problem(text: &[u8], judge: &Validator) -> Option<String> {
    let Ok(text) = std::str::from_utf8(text) else {
        return Some("what ends is no UTF-8".to_owned());
    };
    match strict_json::parse(text, 256) {
        Err(error) => return Some(format!("what ends is no JSON: {error}")),
        Ok(document) if !document.duplicates.is_empty() => return Some("what ends has a name twice".to_owned()),
        Ok(_) => (),
    }
    let verdict = judge.judge_value(&spelling::read(text)?);
    (!verdict.valid).then(|| format!("what ends is not valid: {:?}", verdict.problems))
}

/// Why a walk ends before its time.
enum Stop {
    Limit,
    Wrong(String, String),
}

/// The document that a walk comes to, if it ends soon enough, and those that the engine itself would complete it to.
fn one_walk(start: &dyn Masker, choices: &mut Choices<'_>) -> Result<Vec<Vec<u8>>, Stop> {
    const TOKENS: usize = 120;
    let mut documents = Vec::new();
    let vocabulary = vocabulary();
    let mut text = Vec::new();
    let shown = |text: &[u8]| String::from_utf8_lossy(text).into_owned();
    let stop = |text: &[u8], error: MaskError| match error {
        MaskError::LimitExceeded(_) => Stop::Limit,
        other => Stop::Wrong(other.to_string(), shown(text)),
    };
    let mut masker = start.fork().map_err(|error| stop(&text, error))?;
    for position in 0..TOKENS {
        let mask = masker.mask().map_err(|error| stop(&text, error))?.clone();
        let complete = masker.is_complete().map_err(|error| stop(&text, error))?;
        if let Some(wrong) = mask_problem(&mask, complete, &vocabulary) {
            return Err(Stop::Wrong(wrong, shown(&text)));
        }
        if choices.below(12) == 11 {
            let wrong = advance_problem(&mut *masker, &mask, choices).map_err(|error| stop(&text, error))?;
            if let Some(wrong) = wrong {
                return Err(Stop::Wrong(wrong, shown(&text)));
            }
        }
        if let Some(wrong) = forced_problem(&*masker, &mask, &vocabulary).map_err(|error| stop(&text, error))? {
            return Err(Stop::Wrong(wrong, shown(&text)));
        }
        if choices.below(6) == 5 {
            let wrong = speculation_problem(&*masker, &mask, choices).map_err(|error| stop(&text, error))?;
            if let Some(wrong) = wrong {
                return Err(Stop::Wrong(wrong, shown(&text)));
            }
        }
        if choices.below(4) == 3 {
            match completed(&*masker, &text, &vocabulary).map_err(|error| stop(&text, error))? {
                Ok(document) if document.is_empty() => {}
                Ok(document) => documents.push(document),
                Err(wrong) => return Err(Stop::Wrong(wrong, shown(&text))),
            }
        }
        let must_end = mask.iter().all(|token| vocabulary.is_eos(token));
        if complete && (must_end || position > TOKENS / 4 || choices.chance(50)) {
            documents.push(text);
            return Ok(documents);
        }
        let token = next_token(&mask, &vocabulary, choices, position > TOKENS / 4);
        if let Err(error) = masker.advance(token) {
            return Err(stop(
                &text,
                MaskError::Internal(format!("an allowed token is refused: {error}")),
            ));
        }
        text.extend_from_slice(vocabulary.token_bytes(token));
    }
    Ok(documents)
}

/// The document that [`Masker::completion`] makes of `text`; empty where it cannot tell.
fn completed(masker: &dyn Masker, text: &[u8], vocabulary: &Vocabulary) -> Result<Result<Vec<u8>, String>, MaskError> {
    let mut fork = masker.fork()?;
    let mut tokens = Vec::new();
    if !fork.completion(&mut tokens)? {
        return Ok(Ok(Vec::new()));
    }
    for &token in &tokens {
        match fork.advance(token) {
            Err(MaskError::TokenRefused { .. }) => return Ok(Err("the completion is refused".to_owned())),
            other => other?,
        }
    }
    if !fork.is_complete()? {
        return Ok(Err("the completion does not complete".to_owned()));
    }
    Ok(Ok([text, &vocabulary.text_bytes(&tokens)].concat()))
}

/// Where forced tokens are not the only ones that may come.
fn forced_problem(masker: &dyn Masker, mask: &TokenMask, vocabulary: &Vocabulary) -> Result<Option<String>, MaskError> {
    let mut fork = masker.fork()?;
    let mut tokens = Vec::new();
    fork.forced_tokens(&mut tokens)?;
    let forced = vocabulary.text_bytes(&tokens);
    let other = |token: &TokenId| {
        let bytes = vocabulary.token_bytes(*token);
        !forced.is_empty() && (vocabulary.is_eos(*token) || !(bytes.starts_with(&forced) || forced.starts_with(bytes)))
    };
    if let Some(token) = mask.iter().find(other) {
        let shown = String::from_utf8_lossy(&forced);
        return Ok(Some(format!("{shown:?} is forced, but token {token} may come")));
    }
    for token in tokens {
        if fork.advance(token).is_err() {
            return Ok(Some(format!("token {token} is forced and refused")));
        }
    }
    Ok(None)
}

/// Where a masker that was told what may come differs from one that was not.
fn speculation_problem(
    masker: &dyn Masker,
    mask: &TokenMask,
    choices: &mut Choices<'_>,
) -> Result<Option<String>, MaskError> {
    let (mut plain, mut told) = (masker.fork()?, masker.fork()?);
    let allowed: Vec<TokenId> = mask.iter().collect();
    let any = |choices: &mut Choices<'_>| choices.below(mask.len() + 2) as TokenId;
    for _ in 0..choices.below(4) {
        for _ in 0..choices.below(8) {
            told.speculate(any(choices));
            told.speculate(allowed[choices.below(allowed.len())]);
        }
        let token = match choices.below(4) {
            0 => any(choices),
            _ => allowed[choices.below(allowed.len())],
        };
        let taken = plain.advance(token).is_ok();
        if told.advance(token).is_ok() != taken {
            return Ok(Some(format!(
                "token {token} is taken if it was speculated on, or if it was not"
            )));
        }
        let (mut forced, mut speculated) = (Vec::new(), Vec::new());
        plain.forced_tokens(&mut forced)?;
        told.forced_tokens(&mut speculated)?;
        if forced != speculated {
            return Ok(Some(format!(
                "after token {token}, {forced:?} or {speculated:?} is forced"
            )));
        }
        let accepted = choices.below(forced.len() + 1);
        for &token in &forced[..accepted] {
            plain.advance(token)?;
            told.advance(token)?;
        }
        let back = usize::from(taken && choices.below(3) == 2);
        plain.rollback(back)?;
        told.rollback(back)?;
        if plain.mask()? != told.mask()? || plain.position() != told.position() {
            return Ok(Some(format!(
                "the mask after token {token} depends on what was speculated on"
            )));
        }
    }
    Ok(None)
}

/// What is wrong with a mask by itself.
fn mask_problem(mask: &TokenMask, complete: bool, vocabulary: &Vocabulary) -> Option<String> {
    if vocabulary.eos_tokens().iter().any(|&end| mask.allows(end) != complete) {
        return Some("the end is in the mask and not allowed, or the other way round".to_owned());
    }
    let has_extension = |token: TokenId| !vocabulary.token_bytes(token).iter().all(u8::is_ascii_whitespace);
    let alive = complete
        || mask
            .iter()
            .any(|token| !vocabulary.is_eos(token) && has_extension(token));
    (!alive).then(|| "a dead end: nothing but whitespace may follow".to_owned())
}

/// Where [`Masker::advance`] and the mask differ, or going back does not lead back.
fn advance_problem(
    masker: &mut dyn Masker,
    mask: &TokenMask,
    choices: &mut Choices<'_>,
) -> Result<Option<String>, MaskError> {
    for token in 0..mask.len() as TokenId + 2 {
        let mut fork = masker.fork()?;
        let taken = fork.advance(token).is_ok();
        if taken != mask.allows(token) {
            return Ok(Some(format!("token {token} is allowed or taken, but not both")));
        }
        if fork.position() != masker.position() + usize::from(taken) {
            return Ok(Some(format!("token {token} counts wrongly")));
        }
        if taken && choices.below(16) == 15 {
            let _ = fork.mask()?;
            fork.rollback(1)?;
        }
        if (taken || !mask.allows(token))
            && choices.below(16) == 15
            && fork.position() == masker.position()
            && fork.mask()? != mask
        {
            return Ok(Some(format!("after token {token} is taken back, the mask is another")));
        }
    }
    Ok(None)
}

/// One of the allowed tokens; towards the end, one that closes something where there is one.
fn next_token(mask: &TokenMask, vocabulary: &Vocabulary, choices: &mut Choices<'_>, closing: bool) -> TokenId {
    let allowed: Vec<TokenId> = mask.iter().filter(|&token| !vocabulary.is_eos(token)).collect();
    if closing && choices.chance(85) {
        for closers in ["}]", "\"", ":", "0123456789", "n{["] {
            let closes = |token: &TokenId| match vocabulary.token_bytes(*token) {
                [byte] => closers.as_bytes().contains(byte),
                _ => false,
            };
            if let Some(token) = allowed.iter().copied().find(closes) {
                return token;
            }
        }
    }
    let texts: Vec<TokenId> = allowed
        .iter()
        .copied()
        .filter(|token| !vocabulary.token_bytes(*token).iter().all(u8::is_ascii_whitespace))
        .collect();
    let from = if texts.is_empty() || choices.chance(4) {
        &allowed
    } else {
        &texts
    };
    from[choices.below(from.len())]
}

/// Any bytes as a schema's text, or the text of a schema with something changed. Compiling gives a masker whose first mask
/// is not empty, or a typed error; it never panics.
///
/// # Errors
///
/// A mask that is empty.
pub fn schema_text(bytes: &[u8]) -> Found {
    static COMPILERS: LazyLock<[ExactCompiler; 2]> = LazyLock::new(|| {
        [Formats::Annotation, Formats::Asserted].map(|formats| compiler(vocabulary(), formats, STYLES[ANY]))
    });
    let mut choices = Choices::new(bytes);
    let which = choices.below(2);
    let text = match choices.below(3) {
        0 => String::from_utf8_lossy(choices.rest()).into_owned(),
        _ => mistyped(&mut choices),
    };
    let mut masker = match COMPILERS[which].compile(&text) {
        Ok(masker) => masker,
        Err(error) if error.to_string().is_empty() => return Err(discrepancy("an error says nothing", &text, "")),
        Err(error) if error.kind() == CompileErrorKind::Internal => {
            return Err(discrepancy(error.to_string(), &text, ""));
        }
        Err(_) => return Ok(Shown::Nothing),
    };
    match masker.mask() {
        Err(MaskError::LimitExceeded(_)) => Ok(Shown::Limit),
        Err(error) => Err(discrepancy(error.to_string(), &text, "")),
        Ok(mask) => match mask_problem(mask, false, &vocabulary()) {
            Some(problem) => Err(discrepancy(problem, &text, "")),
            None => Ok(Shown::Agreement(1)),
        },
    }
}

/// The text of a random schema with pieces of JSON and of schemas put in, taken out or doubled.
fn mistyped(choices: &mut Choices<'_>) -> String {
    const PIECES: [&str; 24] = [
        "\"",
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "\\",
        "\\u",
        "\\ud800",
        "-",
        "1e999999999",
        "0.",
        "null",
        "\"$ref\":",
        "\"#/$defs/p\"",
        "\"\"",
        "\"$id\":\"x\",",
        "\"$dynamicRef\":\"#d\",",
        "true",
        "[[[[",
        "(?=a)",
        "\"format\":\"date\",",
        "é",
    ];
    let schema = schema::random(choices);
    let mut text: Vec<char> = spelling::spelled(choices, &schema).chars().collect();
    for _ in 0..choices.below(4) {
        let at = choices.below(text.len() + 1);
        let end = (at + choices.below(8)).min(text.len());
        let piece: Vec<char> = match choices.below(3) {
            0 => Vec::new(),
            1 => choices.one(&PIECES).chars().collect(),
            _ => text[at..end].repeat(2),
        };
        text.splice(at..end, piece);
    }
    text.into_iter().collect()
}

/// Masks over a random vocabulary of odd tokens are what single bytes say, along a random walk.
///
/// # Errors
///
/// A token that is allowed and should not be, or the other way round.
pub fn vocabulary_masks(bytes: &[u8]) -> Found {
    let mut choices = Choices::new(bytes);
    let vocabulary = Arc::new(odd_vocabulary(&mut choices));
    let schema = schema::random(&mut choices).to_string();
    let style = choices.below(3);
    let by_bytes = match compiled(&schema, style)? {
        Compiled::Masker(masker) => masker,
        Compiled::Refused(why) => return Ok(why),
    };
    let by_tokens = compiler(vocabulary.clone(), Formats::Annotation, STYLES[style]).compile(&schema);
    let by_tokens = by_tokens.map_err(|error| discrepancy(format!("refused: {error}"), &schema, ""))?;
    match masks_along_a_walk(by_tokens, by_bytes, &vocabulary, &mut choices) {
        Ok(steps) => Ok(Shown::Agreement(steps)),
        Err(Stop::Limit) => Ok(Shown::Limit),
        Err(Stop::Wrong(what, text)) => Err(discrepancy(what, &schema, text)),
    }
}

fn masks_along_a_walk(
    mut by_tokens: Box<dyn Masker>,
    mut by_bytes: Box<dyn Masker>,
    vocabulary: &Vocabulary,
    choices: &mut Choices<'_>,
) -> Result<usize, Stop> {
    const STEPS: usize = 12;
    let mut text = Vec::new();
    for step in 0..STEPS {
        let shown = String::from_utf8_lossy(&text).into_owned();
        let stop = |error: MaskError| match error {
            MaskError::LimitExceeded(_) => Stop::Limit,
            other => Stop::Wrong(other.to_string(), shown.clone()),
        };
        let mask = by_tokens.mask().map_err(stop)?.clone();
        for token in 0..vocabulary.len() as TokenId {
            let expected = allowed_by_bytes(&*by_bytes, vocabulary, token).map_err(stop)?;
            if mask.allows(token) != expected {
                let token = String::from_utf8_lossy(vocabulary.token_bytes(token)).into_owned();
                let what = format!(
                    "token {token:?} is {} in the mask",
                    if expected { "not" } else { "wrongly" }
                );
                return Err(Stop::Wrong(what, shown));
            }
        }
        let allowed: Vec<TokenId> = mask.iter().filter(|&token| !vocabulary.is_eos(token)).collect();
        let Some(at) = choices.position(&allowed) else {
            return Ok(step + 1);
        };
        by_tokens.advance(allowed[at]).map_err(stop)?;
        for &byte in vocabulary.token_bytes(allowed[at]) {
            by_bytes.advance(TokenId::from(byte)).map_err(stop)?;
            text.push(byte);
        }
    }
    Ok(STEPS)
}

/// Tokens cut out of random documents at random places, and bytes of any kind; some twice, some empty, some long.
fn odd_vocabulary(choices: &mut Choices<'_>) -> Vocabulary {
    let mut texts: Vec<Vec<u8>> = Vec::new();
    for _ in 0..4 {
        let value = document::any(choices, 3);
        let text = spelling::spelled(choices, &value).into_bytes();
        for _ in 0..10 {
            let start = choices.below(text.len());
            let end = (start + 1 + choices.below(7)).min(text.len());
            texts.push(text[start..end].to_vec());
        }
    }
    for _ in 0..choices.below(8) {
        texts.push((0..choices.below(4)).map(|_| choices.below(256) as u8).collect());
    }
    for _ in 0..choices.below(3) {
        let byte = b" a\"0["[choices.below(5)];
        texts.push(vec![byte; 1_020 + choices.below(10)]);
    }
    for byte in b"{}[]\",:01ab \\" {
        if choices.chance(70) {
            texts.push(vec![*byte]);
        }
    }
    of_texts(texts)
}

//! Fuzz target: walks over random allowed tokens lead to valid documents.

use maskwright::{MaskError, Masker, TokenId, TokenMask, Vocabulary};
use maskwright_suites::strict_json;
use maskwright_suites::validate::Validator;

use super::{Compiled, Language, Outcome, TargetResult, WalkError, compiled, discrepancy, mask_problem};
use crate::engine::{STYLES, vocabulary};
use crate::{Choices, schema, spelling};

/// Walks over random allowed tokens. At each state a token is allowed that is more than whitespace, or the document may end; masks agree
/// with [`Masker::advance`]; documents that end are valid.
///
/// # Errors
///
/// A disagreement, described as a finding of the target.
pub fn walk(bytes: &[u8]) -> TargetResult {
    let mut choices = Choices::new(bytes);
    let schema = schema::random(&mut choices);
    let text = schema.to_string();
    let start = match compiled(&text, choices.below(STYLES.len()))? {
        Compiled::Masker(masker) => masker,
        Compiled::Refused(why) => return Ok(why),
    };
    let judge = Validator::from_value(&schema);
    let judge = judge.map_err(|error| discrepancy(format!("only the judge refuses it: {error}"), &text, ""))?;
    let mut ended = 0;
    for _ in 0..3 {
        let walked = match one_walk(&*start, Language::Json, &mut choices) {
            Err(WalkError::Limit) => return Ok(Outcome::Limit),
            Err(WalkError::Wrong(what, so_far)) => return Err(discrepancy(what, &text, so_far)),
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
        Outcome::Agreement(ended)
    } else {
        Outcome::Nothing
    })
}

/// Describes the defect of a text that the engine takes for a document; `None` if the judge agrees.
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

/// The document that a walk comes to, if it ends soon enough, and those that the engine itself would complete it to.
pub(super) fn one_walk(
    start: &dyn Masker,
    language: Language,
    choices: &mut Choices<'_>,
) -> Result<Vec<Vec<u8>>, WalkError> {
    const TOKENS: usize = 120;
    let mut documents = Vec::new();
    let vocabulary = vocabulary();
    let mut text = Vec::new();
    let shown = |text: &[u8]| String::from_utf8_lossy(text).into_owned();
    let stop = |text: &[u8], error: MaskError| match error {
        MaskError::LimitExceeded(_) => WalkError::Limit,
        other => WalkError::Wrong(other.to_string(), shown(text)),
    };
    let mut masker = start.fork().map_err(|error| stop(&text, error))?;
    for position in 0..TOKENS {
        let mask = masker.mask().map_err(|error| stop(&text, error))?.clone();
        let complete = masker.is_complete().map_err(|error| stop(&text, error))?;
        if let Some(wrong) = mask_problem(&mask, complete, &vocabulary, language) {
            return Err(WalkError::Wrong(wrong, shown(&text)));
        }
        if choices.below(12) == 11 {
            let wrong = advance_problem(&mut *masker, &mask, choices).map_err(|error| stop(&text, error))?;
            if let Some(wrong) = wrong {
                return Err(WalkError::Wrong(wrong, shown(&text)));
            }
        }
        if let Some(wrong) = forced_problem(&*masker, &mask, &vocabulary).map_err(|error| stop(&text, error))? {
            return Err(WalkError::Wrong(wrong, shown(&text)));
        }
        if choices.below(6) == 5 {
            let wrong = speculation_problem(&*masker, &mask, choices).map_err(|error| stop(&text, error))?;
            if let Some(wrong) = wrong {
                return Err(WalkError::Wrong(wrong, shown(&text)));
            }
        }
        if choices.below(4) == 3 {
            match completed(&*masker, &text, &vocabulary).map_err(|error| stop(&text, error))? {
                Ok(document) if document.is_empty() => {}
                Ok(document) => documents.push(document),
                Err(wrong) => return Err(WalkError::Wrong(wrong, shown(&text))),
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
    let rest = vocabulary.text_bytes(&tokens);
    if fork.completion_length()? != Some(tokens.len()) || fork.completion_bytes()? != Some(rest.len()) {
        return Ok(Err(
            "the completion has another length than it is said to have".to_owned()
        ));
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
    Ok(Ok([text, &rest].concat()))
}

/// Returns a description of the problem where forced tokens are not the only ones that may come.
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

/// Returns a description of the difference between a masker that was told of tokens that may come and one that was not.
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

/// Returns a description of the problem where [`Masker::advance`] and the mask differ, or going back does not lead back.
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

/// Draws one of the allowed tokens; towards the end, one that closes something where there is one.
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

//! Reads the requirements around the fields.

use super::lexer::regex;
use super::recovered::{Fence, Recovered};

/// The sentences of a text.
pub(super) fn sentences(text: &str) -> Vec<String> {
    let mut sentences = Vec::new();
    for line in text.lines() {
        let mut rest = line;
        while let Some(end) = regex!(r"[.!?]+(?:\s+|$)").find(rest) {
            sentences.push(rest[..end.end()].trim().to_owned());
            rest = &rest[end.end()..];
        }
        sentences.push(rest.trim().to_owned());
    }
    sentences.retain(|sentence| !sentence.is_empty());
    sentences
}

/// Reads `sentence` into `recovered`; whether it was about anything but fields.
pub(super) fn read(sentence: &str, recovered: &mut Recovered) -> bool {
    let text = sentence.to_lowercase();
    if let Some(format) = regex!(r"\b(?:json|yaml)\b")
        .find_iter(
            &text
                .replace("json schema", "")
                .replace("```json", "")
                .replace("```yaml", "")
                .replace("`json`", "")
                .replace("`yaml`", ""),
        )
        .last()
    {
        recovered.format = Some(format.as_str().to_owned());
    }
    let wrapper = wrapper(&text, recovered);
    let fence = fence(&text, recovered);
    let banned = regex!(
        r"no (?:additional text or )?commentary|any (?:explanation|commentary)|no explanations?|nothing else|nothing but the data|write anything around|without commentary|nor commentary|no other text|additional text"
    );
    let commentary = banned.is_match(&text);
    recovered.no_commentary |= commentary;
    let extras = regex!(
        r"no (?:extra|additional)|extra (?:ones|fields|keys)|additional (?:fields|keys|properties)|(?:add|invent|any) other fields|no others|not listed|without adding related|not asked for|introduce further|other than those named|exactly these keys|beyond the fields|only these fields"
    )
    .is_match(&text.replace("no additional text", ""));
    recovered.no_extras |= extras;
    if (fence || commentary || extras) && allows(&text) {
        recovered.unclear.push(sentence.to_owned());
    }
    wrapper || fence || commentary || extras
}

/// Whether a sentence allows or doubts rather than asks; one that denies anything, such as that something is allowed, asks.
fn allows(text: &str) -> bool {
    let denies = regex!(r"\b(?:no|not|nor|never|none|nothing|neither|without)\b|n't\b").is_match(text);
    let allows = regex!(
        r"\b(?:feel free|you (?:may|might|could)|(?:is|are|would be|'s) (?:also )?(?:fine|okay|ok|allowed|welcome|acceptable)|if you (?:like|want|wish|prefer)|up to you|optionally|as you (?:like|see fit))\b"
    );
    !denies && allows.is_match(text)
}

fn wrapper(text: &str, recovered: &mut Recovered) -> bool {
    let keyed = regex!(
        r#"(?:top[- ]level|root|sole|only|single|one|under the|with the)(?: only)? key\b[^"`]*[`"]\w+[`"]|\bkey (?:of it )?is [`"]|object, key is"#
    );
    if keyed.is_match(text) {
        let key = regex!(r#"[`"](\w+)[`"]"#).captures_iter(text).last();
        recovered.wrapper = key.map(|key| key[1].to_owned());
        recovered.unwrapped = false;
        return true;
    }
    let bare = regex!(
        r"bare (?:list|array)|plain list|list itself|directly the list|no wrapp|n'?t wrap|no envelope|list under any key|stand on its own|no enclosing object"
    );
    if bare.is_match(text) {
        recovered.wrapper = None;
        recovered.unwrapped = true;
        return true;
    }
    false
}

fn fence(text: &str, recovered: &mut Recovered) -> bool {
    if !regex!(r"code[- ]?(?:block|fence)|\bfences?\b|```|markdown fences|triple backticks").is_match(text) {
        return false;
    }
    let refused = regex!(
        r"no (?:code )?(?:block|fence)|not use (?:a )?code|not be enclosed|not put|n'?t put it in a|n't fence|n't need a|without (?:a )?(?:code|markdown)|without one|skip the code|leave out code|neither code|use code fences;"
    );
    let named = regex!(r"```(json|yaml)").captures(text);
    recovered.fence = match (refused.is_match(text), named) {
        (true, _) => Fence::Forbidden,
        (false, Some(named)) => Fence::Named(named[1].to_owned()),
        (false, None) if matches!(recovered.fence, Fence::Named(_) | Fence::Forbidden) => recovered.fence.clone(),
        (false, None) => Fence::Any,
    };
    true
}

/// Reads how many items there must be, from a sentence that is about no field.
pub(super) fn count(sentence: &str, recovered: &mut Recovered) {
    let text = sentence.to_lowercase();
    if regex!(r"exactly one\b|exactly 1\b|\ba single\b|\bjust one\b").is_match(&text) {
        recovered.count = Some((1, 1));
        return;
    }
    let number = |text: &str| -> Option<u64> {
        let words = [
            "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
        ];
        let place = words.iter().position(|word| *word == text);
        place.map(|place| place as u64).or_else(|| text.parse().ok())
    };
    let range = regex!(
        r"\b(\d+|one|two|three|four|five|six|seven|eight|nine|ten)(?: to | and |-)(\d+|one|two|three|four|five|six|seven|eight|nine|ten)\b"
    );
    if let Some(found) = range.captures_iter(&text).last() {
        recovered.count = number(&found[1]).zip(number(&found[2]));
        return;
    }
    let exact = regex!(r"\b(\d+|two|three|four|five|six|seven|eight|nine|ten)\b");
    if let Some(found) = exact.captures_iter(&text).last() {
        recovered.count = number(&found[1]).map(|count| (count, count));
    }
}

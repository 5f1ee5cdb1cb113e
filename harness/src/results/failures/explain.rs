//! [`explain`]: the byte at which a text leaves its schema, and the keywords to blame, by this engine.

use std::collections::HashMap;

use maskwright::explain::{Cause, Explainer, Forbidden};
use maskwright::{ExactOptions, Formats};

use super::{Failure, keyword_of};

/// Largest size of a schema and text together, in bytes, that is explained: the work grows with it.
const MAX_SCHEMA: usize = 200_000;

/// Counts of the failures that could be explained, and of those that were examined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Explained {
    /// Failures whose text and schema are known and not too long.
    pub candidates: usize,
    /// Failures that were examined.
    pub tried: usize,
}

/// Adds byte, keyword and explanation to failures whose text and schema are known: to the `most` with the least to read, since
/// each takes up to a tenth of a second.
pub fn explain(failures: &mut [Failure], most: usize) -> Explained {
    let size = |failure: &Failure| Some(failure.schema.as_ref()?.len() + failure.text.as_ref()?.len());
    let mut candidates: Vec<(usize, usize)> = failures
        .iter()
        .enumerate()
        .filter(|(_, failure)| failure.is_explainable)
        .filter_map(|(number, failure)| Some((size(failure)?, number)))
        .filter(|(size, _)| *size <= MAX_SCHEMA)
        .collect();
    candidates.sort_unstable();
    let mut explainers: HashMap<String, Option<Explainer>> = HashMap::new();
    for (_, number) in candidates.iter().take(most) {
        let failure = &mut failures[*number];
        let (Some(schema), Some(text)) = (&failure.schema, &failure.text) else {
            continue;
        };
        let explainer = explainers.entry(schema.clone()).or_insert_with(|| {
            let options = ExactOptions::judging().formats(Formats::Asserted);
            Explainer::new(schema, &options).ok()
        });
        let found = explainer
            .as_mut()
            .and_then(|explainer| explainer.forbidden(text.as_bytes()).ok())
            .flatten();
        if let Some(forbidden) = found {
            take_in(failure, &forbidden);
        }
    }
    Explained {
        candidates: candidates.len(),
        tried: candidates.len().min(most),
    }
}

fn take_in(failure: &mut Failure, forbidden: &Forbidden) {
    failure.byte = Some(forbidden.offset);
    failure.explanation = Some(format!("forbidden at {forbidden}"));
    if let Cause::Keywords { conflict, leading, .. } = &forbidden.cause {
        let first = leading.first().or(conflict.keywords.first());
        let keyword = first.map(|location| keyword_of(&location.pointer));
        if let Some(keyword) = keyword.filter(|keyword| !keyword.is_empty()) {
            failure.keyword = keyword;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_byte_and_the_keyword_are_found() {
        let failure = |text: &str, is_explainable| Failure {
            schema: Some(r#"{"properties": {"price": {"type": "integer"}}}"#.to_owned()),
            text: Some(text.to_owned()),
            is_explainable,
            ..Failure::default()
        };
        let mut failures = [
            failure(r#"{"price": "a lot, and more"}"#, true),
            failure(r#"{"price": "x"}"#, true),
            failure(r#"{"price": ""}"#, false),
        ];
        let explained = explain(&mut failures, 1);
        assert_eq!((explained.candidates, explained.tried), (2, 1));
        // The shorter one is looked at.
        assert_eq!((failures[1].byte, failures[1].keyword.as_str()), (Some(10), "type"));
        assert!(
            failures[1]
                .explanation
                .as_ref()
                .unwrap()
                .contains("/properties/price/type")
        );
        assert_eq!((failures[0].byte, failures[2].byte), (None, None));
    }
}

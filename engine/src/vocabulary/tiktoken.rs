//! Reads vocabularies from tiktoken rank files.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::VocabularyBuilder;
use crate::{TokenId, VocabularyError};

pub(super) fn read(ranks: &[u8]) -> Result<VocabularyBuilder, VocabularyError> {
    let mut builder = VocabularyBuilder::default();
    for (index, line) in ranks.split(|&byte| byte == b'\n').enumerate() {
        let line = line.trim_ascii();
        if line.is_empty() {
            continue;
        }
        let at = |message: String| VocabularyError::TiktokenLine {
            line: index + 1,
            message,
        };
        let mut fields = line.split(u8::is_ascii_whitespace);
        let (Some(token), Some(rank), None) = (fields.next(), fields.next(), fields.next()) else {
            return Err(at("expected base64, a space and a rank".to_owned()));
        };
        let bytes = STANDARD
            .decode(token)
            .map_err(|error| at(format!("not base64: {error}")))?;
        let rank: TokenId = std::str::from_utf8(rank)
            .ok()
            .and_then(|text| text.parse().ok())
            .ok_or_else(|| at("the rank is not a number".to_owned()))?;
        builder = builder.text(rank, bytes)?;
    }
    Ok(builder)
}

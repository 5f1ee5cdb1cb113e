//! Models of SentencePiece (`tokenizer.model`), as far as they say which bytes a token stands for.
//!
//! The file is a protocol buffer, `ModelProto` of sentencepiece_model.proto. Of its fields the pieces count, in the order of
//! their ids, and the end of sequence that the trainer's settings name.

use super::VocabularyBuilder;
use crate::{TokenId, VocabularyError};

/// Numbers of fields in sentencepiece_model.proto.
const PIECES: u64 = 1;
const TRAINER: u64 = 2;
const PIECE_TEXT: u64 = 1;
const PIECE_KIND: u64 = 3;
const TRAINER_EOS_ID: u64 = 42;

/// The id that ends a sequence where the trainer's settings do not say.
const DEFAULT_EOS: u64 = 2;

/// Kinds of pieces.
const NORMAL: u64 = 1;
const USER_DEFINED: u64 = 4;
const UNUSED: u64 = 5;
const BYTE: u64 = 6;

pub(super) fn read(model: &[u8]) -> Result<VocabularyBuilder, VocabularyError> {
    let mut builder = VocabularyBuilder::default();
    let (mut pieces, mut eos): (TokenId, u64) = (0, DEFAULT_EOS);
    let mut fields = Fields::new(model, 0);
    while let Some(field) = fields.next()? {
        match (field.number, field.value) {
            (PIECES, Value::Bytes(piece, offset)) => {
                builder = add(builder, pieces, piece, offset)?;
                pieces += 1;
            }
            (TRAINER, Value::Bytes(trainer, offset)) => {
                let mut fields = Fields::new(trainer, offset);
                while let Some(field) = fields.next()? {
                    if let (TRAINER_EOS_ID, Value::Number(id)) = (field.number, field.value) {
                        eos = id;
                    }
                }
            }
            _ => {}
        }
    }
    if pieces == 0 {
        return Err(malformed(0, "there are no pieces"));
    }
    // A model without an end of sequence has -1.
    let eos = TokenId::try_from(eos).ok().filter(|id| *id < pieces);
    Ok(builder.eos(eos))
}

/// Adds the piece of an id.
fn add(
    builder: VocabularyBuilder,
    id: TokenId,
    piece: &[u8],
    offset: usize,
) -> Result<VocabularyBuilder, VocabularyError> {
    let (mut text, mut kind) = ("", NORMAL);
    let mut fields = Fields::new(piece, offset);
    while let Some(field) = fields.next()? {
        match (field.number, field.value) {
            (PIECE_TEXT, Value::Bytes(bytes, offset)) => {
                text = std::str::from_utf8(bytes).map_err(|_| malformed(offset, "a piece is not UTF-8"))?;
            }
            (PIECE_KIND, Value::Number(number)) => kind = number,
            _ => {}
        }
    }
    match kind {
        NORMAL | USER_DEFINED => builder.text(id, text.replace('\u{2581}', " ")),
        BYTE => {
            let digits = text.strip_prefix("<0x").and_then(|text| text.strip_suffix('>'));
            let byte = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
            builder.text(
                id,
                [byte.ok_or_else(|| malformed(offset, "a piece of a byte is not <0xXX>"))?],
            )
        }
        UNUSED => Ok(builder),
        // Control pieces and the unknown one.
        _ => builder.special(id, text),
    }
}

/// A field of a message.
struct Field<'a> {
    number: u64,
    value: Value<'a>,
}

enum Value<'a> {
    Number(u64),
    /// Bytes, and where in the file they begin.
    Bytes(&'a [u8], usize),
    /// Four or eight bytes, which no field that counts has.
    Fixed,
}

/// The fields of a message of a protocol buffer, one after the other.
struct Fields<'a> {
    bytes: &'a [u8],
    at: usize,
    /// Offset in the file at which the message begins, in bytes.
    offset: usize,
}

impl<'a> Fields<'a> {
    fn new(bytes: &'a [u8], offset: usize) -> Self {
        Self { bytes, at: 0, offset }
    }

    fn next(&mut self) -> Result<Option<Field<'a>>, VocabularyError> {
        if self.at == self.bytes.len() {
            return Ok(None);
        }
        let tag = self.number()?;
        let value = match tag & 7 {
            0 => Value::Number(self.number()?),
            1 => self.fixed(8)?,
            2 => {
                let length = usize::try_from(self.number()?).unwrap_or(usize::MAX);
                let offset = self.offset + self.at;
                Value::Bytes(self.take(length)?, offset)
            }
            5 => self.fixed(4)?,
            _ => return Err(malformed(self.offset + self.at, "a field of an unknown kind")),
        };
        let number = tag >> 3;
        Ok(Some(Field { number, value }))
    }

    /// A number of up to ten bytes with seven bits each.
    fn number(&mut self) -> Result<u64, VocabularyError> {
        let mut number = 0;
        for shift in (0..70).step_by(7) {
            let byte = self.take(1)?[0];
            number |= u64::from(byte & 0x7F).checked_shl(shift).unwrap_or_default();
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err(malformed(self.offset + self.at, "a number of more than ten bytes"))
    }

    fn fixed(&mut self, length: usize) -> Result<Value<'a>, VocabularyError> {
        self.take(length)?;
        Ok(Value::Fixed)
    }

    fn take(&mut self, length: usize) -> Result<&'a [u8], VocabularyError> {
        let end = self.at.checked_add(length).filter(|end| *end <= self.bytes.len());
        let end = end.ok_or_else(|| malformed(self.offset + self.at, "the file ends within a field"))?;
        let taken = &self.bytes[self.at..end];
        self.at = end;
        Ok(taken)
    }
}

fn malformed(offset: usize, message: &'static str) -> VocabularyError {
    VocabularyError::SentencePiece { offset, message }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TokenKind;

    /// A field of bytes.
    fn field(number: u8, bytes: &[u8]) -> Vec<u8> {
        [&[number << 3 | 2, bytes.len() as u8], bytes].concat()
    }

    fn piece(text: &str, kind: u8) -> Vec<u8> {
        // Pieces have a score, of four bytes.
        let fields = [
            field(1, text.as_bytes()),
            vec![2 << 3 | 5, 0, 0, 0, 0],
            vec![3 << 3, kind],
        ];
        field(1, &fields.concat())
    }

    #[test]
    fn pieces_are_text_bytes_or_special() {
        let model = [
            piece("<unk>", 2),
            piece("</s>", 3),
            piece("<0x0A>", 6),
            piece("\u{2581}the\u{2581}", 1),
            piece("reserved", 5),
            piece("<mask>", 4),
            field(2, &[0xD0, 0x02, 1]),
        ];
        let vocabulary = read(&model.concat()).unwrap().build().unwrap();
        let kinds: Vec<TokenKind> = (0..6).map(|id| vocabulary.kind(id)).collect();
        use TokenKind::{Special, Text, Unused};
        assert_eq!(kinds, [Special, Special, Text, Text, Unused, Text]);
        assert_eq!(
            (vocabulary.token_bytes(2), vocabulary.token_bytes(3)),
            (&b"\n"[..], &b" the "[..])
        );
        assert_eq!(vocabulary.eos_tokens(), [1]);
    }

    #[test]
    fn what_is_no_model_is_refused() {
        let model = piece("a", 1);
        assert!(read(b"").is_err() && read(b"{}").is_err() && read(&[0xFF; 40]).is_err());
        for end in 1..model.len() {
            assert!(read(&model[..end]).is_err(), "cut off after {end} bytes");
        }
        let error = read(&piece("<0xGG>", 6)).unwrap_err();
        assert!(error.to_string().contains("<0xXX>"), "{error}");
    }
}

//! [`Metadata`]: the keys of a GGUF file with their values, read with checks and errors that name the key.

use std::collections::HashMap;
use std::ops::Range;

use crate::error::ModelError;

/// The type of a value, or of a list's items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ItemType {
    U8,
    I8,
    U16,
    I16,
    U32,
    I32,
    F32,
    Bool,
    Text,
    List,
    U64,
    I64,
    F64,
}

impl ItemType {
    /// The type of that number (`gguf_metadata_value_type`).
    pub(crate) fn from_number(number: u32) -> Option<Self> {
        const BY_NUMBER: [ItemType; 13] = [
            ItemType::U8,
            ItemType::I8,
            ItemType::U16,
            ItemType::I16,
            ItemType::U32,
            ItemType::I32,
            ItemType::F32,
            ItemType::Bool,
            ItemType::Text,
            ItemType::List,
            ItemType::U64,
            ItemType::I64,
            ItemType::F64,
        ];
        BY_NUMBER.get(number as usize).copied()
    }

    /// Bytes of an item, where all have as many.
    pub(crate) fn bytes(self) -> Option<usize> {
        match self {
            Self::U8 | Self::I8 | Self::Bool => Some(1),
            Self::U16 | Self::I16 => Some(2),
            Self::U32 | Self::I32 | Self::F32 => Some(4),
            Self::U64 | Self::I64 | Self::F64 => Some(8),
            Self::Text | Self::List => None,
        }
    }

    /// The number in `bytes`, where the type is one of numbers. Whole numbers over 2^53 are rounded.
    fn number(self, bytes: &[u8]) -> Option<f64> {
        macro_rules! read {
            ($number:ty) => {
                <$number>::from_le_bytes(bytes.try_into().ok()?) as f64
            };
        }
        Some(match self {
            Self::U8 => read!(u8),
            Self::I8 => read!(i8),
            Self::U16 => read!(u16),
            Self::I16 => read!(i16),
            Self::U32 => read!(u32),
            Self::I32 => read!(i32),
            Self::F32 => read!(f32),
            Self::U64 => read!(u64),
            Self::I64 => read!(i64),
            Self::F64 => read!(f64),
            Self::Bool | Self::Text | Self::List => return None,
        })
    }
}

/// The type of a value, the number of items where it is a list, and its bytes in the file.
type Place = (ItemType, Option<usize>, Range<usize>);

/// The keys of a GGUF file with the places of their values.
#[derive(Debug)]
pub(crate) struct Metadata<'a> {
    file: String,
    bytes: &'a [u8],
    places: HashMap<&'a str, Place>,
}

impl<'a> Metadata<'a> {
    /// No keys yet, of the file with these `bytes` that errors call `file`.
    pub(crate) fn new(file: &str, bytes: &'a [u8]) -> Self {
        Self {
            file: file.to_owned(),
            bytes,
            places: HashMap::new(),
        }
    }

    /// Adds a key with the place of its value; false where it is there already.
    pub(crate) fn insert(&mut self, key: &'a str, place: Place) -> bool {
        self.places.insert(key, place).is_none()
    }

    /// The error of a key that is missing or has a wrong value.
    pub(crate) fn error(&self, key: &str, message: impl Into<String>) -> ModelError {
        ModelError::Config {
            file: self.file.clone(),
            field: key.to_owned(),
            message: message.into(),
        }
    }

    /// The error of a file that is well formed, but of a kind that cannot be run.
    pub(crate) fn unsupported(&self, what: impl Into<String>, hint: impl Into<String>) -> ModelError {
        ModelError::Unsupported {
            file: self.file.clone(),
            what: what.into(),
            hint: hint.into(),
        }
    }

    /// Returns `value`, that of `key`; an error if it is absent.
    pub(crate) fn required<T>(&self, key: &str, value: Option<T>) -> Result<T, ModelError> {
        value.ok_or_else(|| self.error(key, "missing"))
    }

    /// The bytes of a value of one of the types that `fits` names `wanted`; `None` where there is no such key.
    fn single(
        &self,
        key: &str,
        wanted: &str,
        fits: impl Fn(ItemType) -> bool,
    ) -> Result<Option<(ItemType, &'a [u8])>, ModelError> {
        match self.places.get(key) {
            None => Ok(None),
            Some((item, None, place)) if fits(*item) => Ok(Some((*item, &self.bytes[place.clone()]))),
            Some(_) => Err(self.error(key, format!("expected {wanted}"))),
        }
    }

    /// A text.
    pub(crate) fn text(&self, key: &str) -> Result<Option<&'a str>, ModelError> {
        let Some((_, bytes)) = self.single(key, "a text", |item| item == ItemType::Text)? else {
            return Ok(None);
        };
        let text = std::str::from_utf8(&bytes[8..]);
        text.map(Some).map_err(|_| self.error(key, "the text is not UTF-8"))
    }

    /// A switch.
    pub(crate) fn flag(&self, key: &str) -> Result<Option<bool>, ModelError> {
        let value = self.single(key, "true or false", |item| item == ItemType::Bool)?;
        Ok(value.map(|(_, bytes)| bytes != [0]))
    }

    /// A finite number.
    pub(crate) fn number(&self, key: &str) -> Result<Option<f64>, ModelError> {
        let value = self.single(key, "a number", |item| item.bytes().is_some() && item != ItemType::Bool)?;
        match value.map(|(item, bytes)| item.number(bytes)) {
            None => Ok(None),
            Some(Some(number)) if number.is_finite() => Ok(Some(number)),
            Some(_) => Err(self.error(key, "expected a finite number")),
        }
    }

    /// A whole number from 0 to `limit`.
    pub(crate) fn whole_number(&self, key: &str, limit: usize) -> Result<Option<usize>, ModelError> {
        let number = self.number(key)?;
        number.map(|number| self.whole(key, number, limit)).transpose()
    }

    /// `number`, which stands under `key`, as a whole number from 0 to `limit`.
    fn whole(&self, key: &str, number: f64, limit: usize) -> Result<usize, ModelError> {
        match number >= 0.0 && number <= limit as f64 && number.fract() == 0.0 {
            true => Ok(number as usize),
            false => Err(self.error(key, format!("{number} is not a whole number up to {limit}"))),
        }
    }

    /// A whole number from 1 to `limit`.
    pub(crate) fn size(&self, key: &str, limit: usize) -> Result<Option<usize>, ModelError> {
        match self.whole_number(key, limit)? {
            Some(0) => Err(self.error(key, "0 where a positive number was expected")),
            size => Ok(size),
        }
    }

    /// A whole number for each layer from 0 to `limit`: those of a list, or one number for all `layers`.
    pub(crate) fn by_layer(&self, key: &str, layers: usize, limit: usize) -> Result<Option<Vec<usize>>, ModelError> {
        if self.places.get(key).is_none_or(|(_, count, _)| count.is_none()) {
            let number = self.whole_number(key, limit)?;
            return Ok(number.map(|number| vec![number; layers]));
        }
        let numbers = self.numbers(key)?.unwrap_or_default();
        if numbers.len() != layers {
            return Err(self.error(key, format!("{} numbers for {layers} layers", numbers.len())));
        }
        let numbers = numbers.into_iter().map(|number| self.whole(key, number, limit));
        numbers.collect::<Result<_, _>>().map(Some)
    }

    /// The switches of a list, where there is a list.
    pub(crate) fn flags(&self, key: &str) -> Option<Vec<bool>> {
        match self.places.get(key) {
            Some((ItemType::Bool, Some(_), place)) => {
                Some(self.bytes[place.clone()].iter().map(|byte| *byte != 0).collect())
            }
            _ => None,
        }
    }

    /// The numbers of a list.
    pub(crate) fn numbers(&self, key: &str) -> Result<Option<Vec<f64>>, ModelError> {
        let Some((item, count, place)) = self.places.get(key) else {
            return Ok(None);
        };
        let numbers = match (item.bytes(), count) {
            (Some(bytes), Some(_)) => {
                let items = self.bytes[place.clone()].chunks_exact(bytes);
                items.map(|bytes| item.number(bytes)).collect::<Option<Vec<f64>>>()
            }
            _ => None,
        };
        let numbers = numbers.ok_or_else(|| self.error(key, "expected a list of numbers"))?;
        Ok(Some(numbers))
    }

    /// The texts of a list.
    pub(crate) fn texts(&self, key: &str) -> Result<Option<Vec<&'a str>>, ModelError> {
        let (count, mut left) = match self.places.get(key) {
            None => return Ok(None),
            Some((ItemType::Text, Some(count), place)) => (*count, &self.bytes[place.clone()]),
            Some(_) => return Err(self.error(key, "expected a list of texts")),
        };
        let mut texts = Vec::with_capacity(count);
        while let Some((len, rest)) = left.split_first_chunk() {
            // The lengths were checked when the header was read.
            let (text, rest) = rest.split_at(u64::from_le_bytes(*len) as usize);
            let text =
                std::str::from_utf8(text).map_err(|_| self.error(key, format!("item {} is not UTF-8", texts.len())))?;
            texts.push(text);
            left = rest;
        }
        Ok(Some(texts))
    }
}

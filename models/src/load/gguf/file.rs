//! [`GgufFile`]: the header of a GGUF file, checked, and the bytes that it leads to.

use std::collections::HashMap;
use std::ops::Range;

use crate::error::ModelError;
use crate::load::gguf::block_format::BlockFormat;
use crate::load::gguf::metadata::{ItemType, Metadata};

/// The first bytes of every GGUF file.
const MAGIC: &[u8] = b"GGUF";
/// The most dimensions of a tensor.
const MAX_DIMENSIONS: u32 = 4;
/// The most keys, over a thousand times what published files have.
const MAX_KEYS: u64 = 1 << 20;
/// The most tensors, over a hundred times what published files have.
const MAX_TENSORS: u64 = 1 << 20;
/// The longest key or name of a tensor, in bytes.
const MAX_NAME: u64 = 1 << 16;
/// The largest alignment of tensor data, in bytes.
const MAX_ALIGNMENT: usize = 1 << 20;

/// Whether `bytes` start as GGUF files do.
pub(crate) fn is_gguf(bytes: &[u8]) -> bool {
    bytes.starts_with(MAGIC)
}

/// A tensor's shape and place.
#[derive(Clone, Debug)]
pub(crate) struct TensorPlace {
    /// The last dimension is that of numbers side by side.
    pub(crate) shape: Vec<usize>,
    pub(crate) format: BlockFormat,
    /// Its bytes in the file.
    pub(crate) bytes: Range<usize>,
}

/// The contents of a GGUF file's header; all offsets lie within the file.
#[derive(Debug)]
pub(crate) struct GgufFile<'a> {
    pub(crate) metadata: Metadata<'a>,
    pub(crate) tensors: HashMap<&'a str, TensorPlace>,
    /// Offset in bytes at which the tensor data starts, behind the header and its padding.
    pub(crate) data_start: usize,
}

impl<'a> GgufFile<'a> {
    /// Reads the header of `bytes`, the file that errors call `file`.
    ///
    /// # Errors
    ///
    /// [`ModelError::DamagedWeights`], with the place in bytes; [`ModelError::Config`] and [`ModelError::Unsupported`], with the key
    /// or tensor.
    pub(crate) fn parse(file: &str, bytes: &'a [u8]) -> Result<Self, ModelError> {
        let mut reader = Reader { file, bytes, at: 0 };
        if !is_gguf(bytes) {
            return Err(reader.damaged(0, "no GGUF file starts so"));
        }
        reader.at = MAGIC.len();
        let version = reader.u32()?;
        if !(2..=3).contains(&version) {
            return Err(ModelError::Unsupported {
                file: file.to_owned(),
                what: format!("version {version} of GGUF"),
                hint: "versions 2 and 3, in little-endian order".to_owned(),
            });
        }
        let tensors = reader.count("tensors", MAX_TENSORS)?;
        let keys = reader.count("keys", MAX_KEYS)?;
        let mut metadata = Metadata::new(file, bytes);
        for _ in 0..keys {
            let at = reader.at;
            let key = reader.name()?;
            let value = reader.value()?;
            if !metadata.insert(key, value) {
                return Err(reader.damaged(at, format!("the key `{key}` stands there again")));
            }
        }
        let parts = metadata.whole_number("split.count", 1 << 16)?.unwrap_or(1);
        if parts > 1 {
            return Err(ModelError::Unsupported {
                file: file.to_owned(),
                what: format!("a model in {parts} GGUF files"),
                hint: "join them with `llama-gguf-split --merge`".to_owned(),
            });
        }
        let alignment = metadata.size("general.alignment", MAX_ALIGNMENT)?.unwrap_or(32);
        // Offsets are relative to where the data starts, which is known when all of them have been read.
        let mut places = Vec::new();
        for _ in 0..tensors {
            places.push(reader.tensor()?);
        }
        let data_start = reader.at.next_multiple_of(alignment);
        Ok(Self {
            tensors: placed(&reader, places, data_start)?,
            metadata,
            data_start: data_start.min(bytes.len()),
        })
    }
}

/// A tensor's name, shape, format, size and offset in bytes, and where the header says so.
struct TensorEntry<'a> {
    name: &'a str,
    shape: Vec<usize>,
    format: BlockFormat,
    len: u64,
    offset: u64,
    at: usize,
}

/// The tensors in their places behind `data_start`, all within the file and apart from each other.
fn placed<'a>(
    reader: &Reader<'_, 'a>,
    entries: Vec<TensorEntry<'a>>,
    data_start: usize,
) -> Result<HashMap<&'a str, TensorPlace>, ModelError> {
    let end = reader.bytes.len() as u64;
    let (mut tensors, mut all) = (HashMap::new(), 0u64);
    for entry in entries {
        let start = entry.offset.saturating_add(data_start as u64);
        let stop = start.saturating_add(entry.len);
        if stop > end {
            let name = entry.name;
            let message = format!("tensor `{name}` is to have the bytes {start} to {stop}, of a file of {end}");
            return Err(reader.damaged(entry.at, message));
        }
        all += entry.len;
        let place = TensorPlace {
            shape: entry.shape,
            format: entry.format,
            bytes: start as usize..stop as usize,
        };
        if tensors.insert(entry.name, place).is_some() {
            return Err(reader.damaged(entry.at, format!("tensor `{}` stands there again", entry.name)));
        }
    }
    // Nothing may be reserved for more than the file has.
    if all > end {
        let message = format!("the tensors have {all} bytes in all, of a file of {end}: some overlap");
        return Err(reader.damaged(data_start, message));
    }
    Ok(tensors)
}

/// Reads a header from its start.
struct Reader<'f, 'a> {
    file: &'f str,
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'_, 'a> {
    /// Returns the error for damage at byte `at`.
    fn damaged(&self, at: usize, message: impl std::fmt::Display) -> ModelError {
        ModelError::DamagedWeights {
            file: self.file.to_owned(),
            message: format!("byte {at}: {message}"),
        }
    }

    /// The next `len` bytes.
    fn take(&mut self, len: u64) -> Result<&'a [u8], ModelError> {
        let left = &self.bytes[self.at..];
        match usize::try_from(len).ok().and_then(|len| left.get(..len)) {
            Some(taken) => {
                self.at += taken.len();
                Ok(taken)
            }
            None => {
                let message = format!("{len} bytes are announced, and {} are left", left.len());
                Err(self.damaged(self.at, message))
            }
        }
    }

    fn u32(&mut self) -> Result<u32, ModelError> {
        let at = self.at;
        let bytes = self.take(4)?.try_into();
        bytes.map(u32::from_le_bytes).map_err(|_| self.damaged(at, "too short"))
    }

    fn u64(&mut self) -> Result<u64, ModelError> {
        let at = self.at;
        let bytes = self.take(8)?.try_into();
        bytes.map(u64::from_le_bytes).map_err(|_| self.damaged(at, "too short"))
    }

    /// A number of things of a kind, up to `limit`.
    fn count(&mut self, what: &str, limit: u64) -> Result<u64, ModelError> {
        let at = self.at;
        match self.u64()? {
            count if count <= limit => Ok(count),
            count => Err(self.damaged(at, format!("{count} {what}; at most {limit} are read"))),
        }
    }

    /// A key, or the name of a tensor.
    fn name(&mut self) -> Result<&'a str, ModelError> {
        let len = self.count("bytes of a name", MAX_NAME)?;
        let at = self.at;
        std::str::from_utf8(self.take(len)?).map_err(|_| self.damaged(at, "a name that is not UTF-8"))
    }

    /// The type of a value.
    fn item_type(&mut self) -> Result<ItemType, ModelError> {
        let at = self.at;
        let number = self.u32()?;
        ItemType::from_number(number).ok_or_else(|| self.damaged(at, format!("{number} is no type of a value")))
    }

    /// The place of a value: its type, the number of items where it is a list, and its bytes.
    fn value(&mut self) -> Result<(ItemType, Option<usize>, Range<usize>), ModelError> {
        let at = self.at;
        let mut item = self.item_type()?;
        let mut count = None;
        if item == ItemType::List {
            item = self.item_type()?;
            if item == ItemType::List {
                return Err(self.damaged(at, "a list of lists"));
            }
            // Each item has a byte at least, so the file's size bounds their number.
            let limit = (self.bytes.len() - self.at) as u64;
            count = Some(self.count("items", limit)?);
        }
        let start = self.at;
        let items = count.unwrap_or(1);
        match item.bytes() {
            Some(bytes) => {
                self.take(items.saturating_mul(bytes as u64))?;
            }
            None => {
                for _ in 0..items {
                    let len = self.u64()?;
                    self.take(len)?;
                }
            }
        }
        Ok((item, count.map(|count| count as usize), start..self.at))
    }

    /// The header's entry of a tensor.
    fn tensor(&mut self) -> Result<TensorEntry<'a>, ModelError> {
        let at = self.at;
        let name = self.name()?;
        let dimensions = self.u32()?;
        if !(1..=MAX_DIMENSIONS).contains(&dimensions) {
            let message = format!("tensor `{name}` has {dimensions} dimensions; expected 1 to {MAX_DIMENSIONS}");
            return Err(self.damaged(at, message));
        }
        // The file has the innermost dimension first.
        let mut shape = Vec::new();
        for _ in 0..dimensions {
            let size = self.u64()?;
            shape.push(usize::try_from(size).map_err(|_| self.damaged(at, format!("tensor `{name}` is too large")))?);
        }
        let columns = shape.first().copied().unwrap_or(1);
        shape.reverse();
        let number = self.u32()?;
        let offset = self.u64()?;
        let Some(format) = BlockFormat::from_number(number) else {
            return Err(ModelError::Unsupported {
                file: self.file.to_owned(),
                what: format!("tensor `{name}` in format {number} of ggml"),
                hint: format!(
                    "formats that are read: {}",
                    BlockFormat::ALL.map(BlockFormat::name).join(", ")
                ),
            });
        };
        if !columns.is_multiple_of(format.block_len()) {
            let message = format!(
                "tensor `{name}` has rows of {columns} numbers, which are no whole blocks of {}",
                format.name()
            );
            return Err(self.damaged(at, message));
        }
        let elements = shape.iter().try_fold(1u64, |all, size| all.checked_mul(*size as u64));
        let len = elements
            .and_then(|elements| (elements / format.block_len() as u64).checked_mul(format.block_bytes() as u64));
        let len = len.ok_or_else(|| self.damaged(at, format!("tensor `{name}` is too large")))?;
        Ok(TensorEntry {
            name,
            shape,
            format,
            len,
            offset,
            at,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file with one key, `n`, and one tensor, `t` of 2 · 32 numbers in Q8_0.
    fn small_file() -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend(3u32.to_le_bytes());
        bytes.extend(1u64.to_le_bytes());
        bytes.extend(1u64.to_le_bytes());
        let name = |bytes: &mut Vec<u8>, text: &str| {
            bytes.extend((text.len() as u64).to_le_bytes());
            bytes.extend(text.as_bytes());
        };
        name(&mut bytes, "n");
        bytes.extend(4u32.to_le_bytes());
        bytes.extend(7u32.to_le_bytes());
        name(&mut bytes, "t");
        bytes.extend(2u32.to_le_bytes());
        bytes.extend(32u64.to_le_bytes());
        bytes.extend(2u64.to_le_bytes());
        bytes.extend(8u32.to_le_bytes());
        bytes.extend(0u64.to_le_bytes());
        bytes.resize(bytes.len().next_multiple_of(32) + 68, 1);
        bytes
    }

    #[test]
    fn a_header_leads_to_values_and_tensors() {
        let bytes = small_file();
        let file = GgufFile::parse("f", &bytes).unwrap();
        assert_eq!(file.metadata.whole_number("n", 100).unwrap(), Some(7));
        let tensor = &file.tensors["t"];
        assert_eq!((tensor.shape.as_slice(), tensor.bytes.len()), ([2, 32].as_slice(), 68));
        assert_eq!(tensor.bytes.end, bytes.len());
    }

    #[test]
    fn damage_anywhere_is_an_error_and_never_a_panic() {
        let whole = small_file();
        for len in 0..whole.len() {
            assert!(
                GgufFile::parse("f", &whole[..len]).is_err(),
                "cut off after {len} bytes"
            );
        }
        let header = whole.len() - 68;
        for at in 0..header {
            for byte in [0, 1, 0x7f, 0x80, 0xff] {
                let mut changed = whole.clone();
                changed[at] = byte;
                if let Ok(file) = GgufFile::parse("f", &changed) {
                    let _ = file.metadata.whole_number("n", 100);
                    assert!(file.tensors.values().all(|tensor| tensor.bytes.end <= whole.len()));
                }
            }
        }
    }

    #[test]
    fn tensors_have_dimensions() {
        let whole = small_file();
        let name = whole
            .windows(9)
            .rposition(|bytes| bytes == b"\x01\0\0\0\0\0\0\0t")
            .unwrap();
        for dimensions in [0, 5] {
            let mut changed = whole.clone();
            changed[name + 9] = dimensions;
            let error = GgufFile::parse("f", &changed).unwrap_err().to_string();
            assert!(error.contains(&format!("{dimensions} dimensions")), "{error}");
        }
    }

    #[test]
    fn huge_counts_are_refused_where_they_stand() {
        // The numbers of tensors and of keys, the length of the key, and a dimension.
        for (at, place) in [(8, "byte 8:"), (16, "byte 16:"), (24, "byte 24:"), (61, "byte 41:")] {
            let mut changed = small_file();
            changed[at..at + 8].copy_from_slice(&(u64::MAX / 64).to_le_bytes());
            let error = GgufFile::parse("f", &changed).unwrap_err().to_string();
            assert!(error.contains(place), "{at}: {error}");
        }
    }
}

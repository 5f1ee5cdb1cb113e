//! [`Weights`]: tensors read by name from safetensors files, single or sharded, or from a GGUF file, mapped into memory.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};
use std::fs::File;
use std::path::Path;

use candle_core::{DType, Device, Tensor, WithDType};
use half::{bf16, f16};
use maskwright_json_text::{GIT_LFS_POINTER, is_git_lfs_pointer};
use safetensors::tensor::{Metadata, TensorInfo};
use safetensors::{Dtype, SafeTensors};
use serde_json::Value;

use crate::error::ModelError;
use crate::load::gguf::tensors::{GgufTensors, Rows};
use crate::load::gguf::{BlockFormat, is_gguf};
use crate::load::json_fields::JsonFields;
use crate::load::shapes::matrices::NamedShape;

/// Number of blocks of each weight file that go into a checkpoint's fingerprint, at most.
const SAMPLED_BLOCKS: usize = 1024;
/// Size of a block that goes into a checkpoint's fingerprint, in bytes.
const SAMPLED_BLOCK_BYTES: usize = 4096;

/// The bytes of a weight file.
pub(crate) enum WeightBytes {
    Static(&'static [u8]),
    Mapped(memmap2::Mmap),
}

impl WeightBytes {
    /// Maps the file at `path` into memory.
    pub(crate) fn map(path: &Path) -> Result<Self, ModelError> {
        let failed = |source| ModelError::cannot_read(path, source);
        let file = File::open(path).map_err(failed)?;
        // SAFETY: the map is read only, and nothing in this crate writes weight files once they have their
        // name (downloads are renamed when complete). Another process that truncates the file while it is
        // read would end this one with SIGBUS; every program that maps checkpoints has that in common.
        #[allow(unsafe_code)]
        let map = unsafe { memmap2::Mmap::map(&file) }.map_err(failed)?;
        Ok(Self::Mapped(map))
    }

    pub(crate) fn as_slice(&self) -> &[u8] {
        match self {
            Self::Static(bytes) => bytes,
            Self::Mapped(map) => map,
        }
    }
}

/// One safetensors file, its header checked: offsets lie inside the file and fit shapes and types.
struct Shard {
    /// The file's name in error messages.
    file: String,
    bytes: WeightBytes,
    /// Offset of the tensor data, which follow the header, in bytes.
    data_start: usize,
    metadata: Metadata,
}

/// The tensors of a checkpoint, by name. A tensor that is never asked for is never read.
pub(crate) struct Weights {
    shards: Vec<Shard>,
    /// The index in `shards` of each tensor's file.
    shard_of: HashMap<String, usize>,
    /// The GGUF file that has all tensors instead.
    gguf: Option<(GgufTensors, WeightBytes)>,
}

impl Weights {
    /// Reads the headers of `files`, pairs of a name for error messages and the bytes.
    pub(crate) fn new(files: Vec<(String, WeightBytes)>) -> Result<Self, ModelError> {
        let mut weights = Self {
            shards: Vec::with_capacity(files.len()),
            shard_of: HashMap::new(),
            gguf: None,
        };
        for (file, bytes) in files {
            if is_gguf(bytes.as_slice()) {
                weights.gguf = Some((GgufTensors::parse(&file, bytes.as_slice())?, bytes));
                continue;
            }
            if is_git_lfs_pointer(bytes.as_slice()) {
                let message = GIT_LFS_POINTER.to_owned();
                return Err(ModelError::DamagedWeights { file, message });
            }
            let header = SafeTensors::read_metadata(bytes.as_slice());
            let (header_bytes, metadata) = header.map_err(|error| ModelError::DamagedWeights {
                file: file.clone(),
                message: error.to_string(),
            })?;
            for name in metadata.offset_keys() {
                weights.shard_of.insert(name, weights.shards.len());
            }
            weights.shards.push(Shard {
                file,
                bytes,
                data_start: size_of::<u64>() + header_bytes,
                metadata,
            });
        }
        Ok(weights)
    }

    /// Bytes that tell checkpoints apart at little cost: the header of each shard, in the order of the files, and
    /// [`SAMPLED_BLOCKS`] blocks spread evenly over its tensor data.
    pub(crate) fn fingerprint(&self) -> impl Iterator<Item = &[u8]> {
        let shards = self.shards.iter().map(|shard| (&shard.bytes, shard.data_start));
        let gguf = self.gguf.iter().map(|(tensors, bytes)| (bytes, tensors.data_start));
        shards.chain(gguf).flat_map(|(bytes, data_start)| {
            let (header, data) = bytes.as_slice().split_at(data_start);
            let stride = data.len().div_ceil(SAMPLED_BLOCKS).max(SAMPLED_BLOCK_BYTES);
            let blocks = data
                .chunks(stride)
                .map(|chunk| &chunk[..chunk.len().min(SAMPLED_BLOCK_BYTES)]);
            std::iter::once(header).chain(blocks)
        })
    }

    /// The number format of a tensor, `None` where it is missing or not a floating-point format in use.
    pub(crate) fn dtype(&self, name: &str) -> Option<DType> {
        if let Some((tensors, _)) = &self.gguf {
            return tensors.format(name)?.dtype();
        }
        let name = self.stored_name(name);
        let shard = &self.shards[*self.shard_of.get(name.as_ref())?];
        match shard.metadata.info(&name)?.dtype {
            Dtype::F32 => Some(DType::F32),
            Dtype::F16 => Some(DType::F16),
            Dtype::BF16 => Some(DType::BF16),
            _ => None,
        }
    }

    /// Whether safetensors files have tensors of both names, and not the same elements in them.
    pub(crate) fn differ(&self, one: &str, other: &str) -> bool {
        let stored = |name: &str| {
            let name = self.stored_name(name);
            let shard = &self.shards[*self.shard_of.get(name.as_ref())?];
            let info = shard.metadata.info(&name)?;
            let (start, end) = info.data_offsets;
            let bytes = shard
                .bytes
                .as_slice()
                .get(shard.data_start + start..shard.data_start + end);
            Some((info.dtype, &info.shape, bytes?))
        };
        stored(one).zip(stored(other)).is_some_and(|(one, other)| one != other)
    }

    /// Tensors stacked along their first dimension, converted to `dtype`, on `device`.
    ///
    /// `parts` are the tensors' names with the shapes they must have; all but the first dimension agree.
    pub(crate) fn stacked(&self, parts: &[NamedShape], dtype: DType, device: &Device) -> Result<Tensor, ModelError> {
        if let Some((tensors, bytes)) = &self.gguf {
            return tensors.stacked(bytes.as_slice(), parts, dtype, device);
        }
        match dtype {
            DType::F32 => self.stacked_as::<f32>(parts, device),
            DType::BF16 => self.stacked_as::<bf16>(parts, device),
            _ => self.stacked_as::<f16>(parts, device),
        }
    }

    /// The tensors of a GGUF file, where these weights are of one.
    pub(crate) fn gguf(&self) -> Option<&GgufTensors> {
        self.gguf.as_ref().map(|(tensors, _)| tensors)
    }

    /// The rows of a quantised matrix of a GGUF file; `None` where `matrix` is not quantised.
    pub(crate) fn quantised_rows(&self, matrix: &NamedShape) -> Result<Option<Rows<'_>>, ModelError> {
        let Some((tensors, bytes)) = &self.gguf else {
            return Ok(None);
        };
        match tensors.format(&matrix.0).map(BlockFormat::dtype) {
            Some(None) => tensors.rows(bytes.as_slice(), matrix).map(Some),
            _ => Ok(None),
        }
    }

    /// [`stacked`](Self::stacked), for one number format.
    fn stacked_as<T: Element>(&self, parts: &[NamedShape], device: &Device) -> Result<Tensor, ModelError> {
        let mut shape = parts.first().map_or_else(Vec::new, |(_, shape)| shape.clone());
        if let Some(rows) = shape.first_mut() {
            *rows = parts.iter().map(|(_, shape)| shape[0]).sum();
        }
        // Shapes are compared before memory is reserved: the file holds that many elements.
        let views = parts.iter().map(|(name, shape)| self.view(name, shape));
        let views = views.collect::<Result<Vec<_>, _>>()?;
        let mut elements: Vec<T> = Vec::with_capacity(shape.iter().product());
        for (dtype, bytes) in views {
            T::extend_from(dtype, bytes, &mut elements);
        }
        Tensor::from_vec(elements, shape, device).map_err(|error| ModelError::Device {
            device: format!("{:?}", device.location()),
            message: format!("copying weights failed: {error}"),
        })
    }

    /// The item of that number of a tensor along its first dimension, converted to `dtype`, on the CPU; `whole` is the tensor's name
    /// with its shape.
    pub(crate) fn item(&self, whole: &NamedShape, index: usize, dtype: DType) -> Result<Tensor, ModelError> {
        match dtype {
            DType::F32 => self.item_as::<f32>(whole, index),
            DType::BF16 => self.item_as::<bf16>(whole, index),
            _ => self.item_as::<f16>(whole, index),
        }
    }

    /// [`item`](Self::item), for one number format.
    fn item_as<T: Element>(&self, (name, shape): &NamedShape, index: usize) -> Result<Tensor, ModelError> {
        let (dtype, bytes) = self.view(name, shape)?;
        let len = bytes.len() / shape[0];
        let mut elements: Vec<T> = Vec::with_capacity(shape[1..].iter().product());
        T::extend_from(dtype, &bytes[index * len..][..len], &mut elements);
        Tensor::from_vec(elements, &shape[1..], &Device::Cpu).map_err(|error| ModelError::Device {
            device: "cpu".to_owned(),
            message: format!("copying weights failed: {error}"),
        })
    }

    /// The item of that number of a tensor of bytes along its first dimension; `whole` is the tensor's name with its shape.
    pub(crate) fn item_of_bytes(&self, whole: &NamedShape, index: usize) -> Result<&[u8], ModelError> {
        let (name, shape) = whole;
        let (_, bytes) = self.view_of(name, shape, &[Dtype::U8])?;
        let len = bytes.len() / shape[0];
        Ok(&bytes[index * len..][..len])
    }

    /// The name that the files have for a tensor: in models that also see pictures, the part that reads text has names of its own, and Nemotron's all begin otherwise.
    fn stored_name<'a>(&self, name: &'a str) -> Cow<'a, str> {
        if self.shard_of.contains_key(name) {
            return Cow::Borrowed(name);
        }
        let of_part = [
            Some(format!("language_model.{name}")),
            name.strip_prefix("model.").map(|rest| format!("backbone.{rest}")),
            name.strip_prefix("model.")
                .map(|rest| format!("model.language_model.{rest}")),
        ];
        let stored = of_part
            .into_iter()
            .flatten()
            .find(|name| self.shard_of.contains_key(name));
        stored.map_or(Cow::Borrowed(name), Cow::Owned)
    }

    /// Number format and bytes of a tensor of floating-point numbers, which must have the given shape.
    fn view(&self, name: &str, expected: &[usize]) -> Result<(Dtype, &[u8]), ModelError> {
        self.view_of(name, expected, &[Dtype::F32, Dtype::F16, Dtype::BF16])
    }

    /// Number format, one of `formats`, and bytes of a tensor, which must have the given shape.
    fn view_of(&self, name: &str, expected: &[usize], formats: &[Dtype]) -> Result<(Dtype, &[u8]), ModelError> {
        let name = &*self.stored_name(name);
        let shard = match self.shard_of.get(name) {
            Some(&index) => &self.shards[index],
            None => {
                return Err(ModelError::TensorMissing {
                    file: self.describe_files(),
                    tensor: name.to_owned(),
                });
            }
        };
        let info: &TensorInfo = shard.metadata.info(name).ok_or_else(|| ModelError::TensorMissing {
            file: shard.file.clone(),
            tensor: name.to_owned(),
        })?;
        if info.shape != expected {
            return Err(ModelError::TensorShape {
                file: shard.file.clone(),
                tensor: name.to_owned(),
                expected: expected.to_vec(),
                found: info.shape.clone(),
            });
        }
        if !formats.contains(&info.dtype) {
            return Err(ModelError::TensorType {
                file: shard.file.clone(),
                tensor: name.to_owned(),
                expected: formats
                    .iter()
                    .map(|format| format!("{format:?}"))
                    .collect::<Vec<_>>()
                    .join(", ")
                    .into(),
                found: format!("{:?}", info.dtype),
            });
        }
        let (start, end) = info.data_offsets;
        let bytes = shard
            .bytes
            .as_slice()
            .get(shard.data_start + start..shard.data_start + end);
        let bytes = bytes.ok_or_else(|| ModelError::DamagedWeights {
            file: shard.file.clone(),
            message: format!("tensor `{name}` ends past the file"),
        })?;
        Ok((info.dtype, bytes))
    }

    /// The file of a tensor, as an error message names it.
    pub(crate) fn file_of(&self, name: &str) -> String {
        let index = self.shard_of.get(&*self.stored_name(name));
        index.map_or_else(|| self.describe_files(), |index| self.shards[*index].file.clone())
    }

    /// The weight files, as an error message names them.
    fn describe_files(&self) -> String {
        match self.shards.as_slice() {
            [shard] => shard.file.clone(),
            [first, .., last] => format!("any of the {} files {} … {}", self.shards.len(), first.file, last.file),
            [] => "any weight file".to_owned(),
        }
    }
}

/// The names of the weight files in `bytes`, the model.safetensors.index.json that errors call `file`; sorted, and none in another
/// directory.
pub(crate) fn shards_of_index(file: &str, bytes: &[u8]) -> Result<Vec<String>, ModelError> {
    let fields = JsonFields::parse(file, bytes)?;
    let Some(Value::Object(places)) = fields.get("weight_map") else {
        return Err(fields.error("weight_map", "missing; expected an object of tensor and file names"));
    };
    let mut shards = BTreeSet::new();
    for (tensor, shard) in places {
        match shard.as_str() {
            // A name with a directory could leave the model's own.
            Some(name) if name.ends_with(".safetensors") && !name.contains(['/', '\\', ':']) => {
                shards.insert(name.to_owned());
            }
            _ => {
                let message = format!("{shard} is not the name of a safetensors file");
                return Err(fields.error(&format!("weight_map.{tensor}"), message));
            }
        }
    }
    if shards.is_empty() {
        return Err(fields.error("weight_map", "names no file"));
    }
    Ok(shards.into_iter().collect())
}

/// A number format weights can be converted to.
trait Element: WithDType {
    fn from_f32(value: f32) -> Self;

    /// Appends the little-endian numbers in `bytes`, which are of this format.
    fn extend_from_own(bytes: &[u8], out: &mut Vec<Self>);

    /// Appends the little-endian numbers in `bytes`; exact where the formats agree.
    fn extend_from(dtype: Dtype, bytes: &[u8], out: &mut Vec<Self>) {
        let own = matches!(
            (dtype, Self::DTYPE),
            (Dtype::F32, DType::F32) | (Dtype::BF16, DType::BF16) | (Dtype::F16, DType::F16)
        );
        match dtype {
            _ if own => Self::extend_from_own(bytes, out),
            Dtype::F32 => out.extend(
                bytes
                    .as_chunks()
                    .0
                    .iter()
                    .map(|&b| Self::from_f32(f32::from_le_bytes(b))),
            ),
            Dtype::BF16 => out.extend(
                bytes
                    .as_chunks()
                    .0
                    .iter()
                    .map(|&b| Self::from_f32(bf16::from_le_bytes(b).to_f32())),
            ),
            _ => out.extend(
                bytes
                    .as_chunks()
                    .0
                    .iter()
                    .map(|&b| Self::from_f32(f16::from_le_bytes(b).to_f32())),
            ),
        }
    }
}

impl Element for f32 {
    fn from_f32(value: f32) -> Self {
        value
    }

    fn extend_from_own(bytes: &[u8], out: &mut Vec<Self>) {
        out.extend(bytes.as_chunks().0.iter().map(|&b| Self::from_le_bytes(b)));
    }
}

impl Element for bf16 {
    fn from_f32(value: f32) -> Self {
        Self::from_f32(value)
    }

    fn extend_from_own(bytes: &[u8], out: &mut Vec<Self>) {
        out.extend(bytes.as_chunks().0.iter().map(|&b| Self::from_le_bytes(b)));
    }
}

impl Element for f16 {
    fn from_f32(value: f32) -> Self {
        Self::from_f32(value)
    }

    fn extend_from_own(bytes: &[u8], out: &mut Vec<Self>) {
        out.extend(bytes.as_chunks().0.iter().map(|&b| Self::from_le_bytes(b)));
    }
}

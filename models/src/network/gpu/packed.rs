//! [`PackedMatrix`]: a matrix of a GGUF file that stays quantised on a GPU.
//!
//! `cuda/quantised.cu` says in which order a row's codes and scales stand there. Passes over few tokens multiply with them as they are;
//! for passes over many, and for single rows, a kernel writes the numbers that they stand for.

use candle_core::{DType, Device, Result, Tensor};
use rayon::prelude::*;

use crate::load::gguf::tensors::Rows;
use crate::load::gguf::{BlockFormat, BlockParts, SMALL_BLOCK};
use crate::network::gpu::kernels::{Argument, Kernel, Kernels, address};

/// Threads of a block that widens a row.
const WIDEN_BLOCK: u32 = 128;
/// Groups of codes that a warp reads at once, `WARP` of the kernels.
pub(super) const GROUPS_PER_CHUNK: usize = 32;
/// Bytes of codes that a thread reads at once.
const READ_BYTES: usize = 16;
/// Bytes of which rows take a multiple, `ROW_ALIGNMENT` of the kernels.
const ROW_ALIGNMENT: usize = 16;
/// Numbers that a matrix is widened to at a time, which bounds the memory of products with many vectors.
const WIDENED_AT_ONCE: usize = 64 << 20;
/// Bytes that widened numbers of 16 bits take at most, together with those of the part before.
pub(crate) const WIDENED_BYTES: u64 = 2 * 2 * WIDENED_AT_ONCE as u64;

/// A quantised matrix on a device, `[rows, columns]`.
#[derive(Debug)]
pub(crate) struct PackedMatrix {
    format: BlockFormat,
    rows: usize,
    columns: usize,
    words: Tensor,
    /// The format of the device's arithmetic.
    dtype: DType,
    kernels: Kernels,
    widen: Kernel,
}

impl PackedMatrix {
    /// A matrix of the rows of `parts`, one part behind the other, all of the same format with as many `columns`; `kernels` are
    /// those of the device for any matrices, and `dtype` is the format of its arithmetic.
    pub(crate) fn new(
        parts: &[Rows<'_>],
        columns: usize,
        kernels: &Kernels,
        (device, dtype): (&Device, DType),
    ) -> Result<Self> {
        let format = parts.first().map_or(BlockFormat::Q8_0, |part| part.format);
        let kernels = kernels.of_format(format)?;
        let layout = RowLayout::of(format, columns);
        let stored: Vec<&[u8]> = parts
            .iter()
            .flat_map(|part| (0..part.count).map(|row| part.row(row)))
            .collect();
        let mut words = vec![0; stored.len() * layout.bytes / size_of::<u32>()];
        words
            .par_chunks_exact_mut((layout.bytes / size_of::<u32>()).max(1))
            .zip(&stored)
            .for_each(|(words, stored)| layout.pack(stored, words));
        let count = words.len();
        Ok(Self {
            format,
            rows: stored.len(),
            columns,
            words: Tensor::from_vec(words, count, device)?,
            dtype,
            widen: kernels.find(&format!("widen_{}", dtype.as_str()))?,
            kernels,
        })
    }

    pub(crate) fn format(&self) -> BlockFormat {
        self.format
    }

    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    pub(crate) fn columns(&self) -> usize {
        self.columns
    }

    /// Codes and scales of all rows.
    pub(crate) fn words(&self) -> &Tensor {
        &self.words
    }

    /// The numbers of the rows `rows`, `[rows.len(), columns]`.
    pub(crate) fn some_rows(&self, rows: &[u32]) -> Result<Tensor> {
        let numbers = Tensor::new(rows, self.words.device())?;
        self.widened(Some(&numbers), 0, rows.len())
    }

    /// The product of `x`, `[tokens, columns]`, with the transposed matrix: `[tokens, rows]`.
    pub(crate) fn multiply(&self, x: &Tensor) -> Result<Tensor> {
        let at_once = (WIDENED_AT_ONCE / self.columns).max(1);
        let parts = (0..self.rows).step_by(at_once).map(|first| {
            let count = at_once.min(self.rows - first);
            x.matmul(&self.widened(None, first, count)?.t()?)
        });
        let parts = parts.collect::<Result<Vec<_>>>()?;
        match parts.as_slice() {
            [only] => Ok(only.clone()),
            all => Tensor::cat(all, 1),
        }
    }

    /// The numbers of `count` rows: those of the numbers in `rows`, or where there are none, from `first` on.
    fn widened(&self, rows: Option<&Tensor>, first: usize, count: usize) -> Result<Tensor> {
        let numbers = Tensor::zeros((count, self.columns), self.dtype, self.words.device())?;
        let arguments = [
            Argument::Pointer(address(&self.words)?),
            Argument::Pointer(rows.map_or(Ok(0), address)?),
            Argument::size(first),
            Argument::Pointer(address(&numbers)?),
            Argument::size(self.columns),
        ];
        self.kernels.enter()?;
        self.kernels
            .launch(&self.widen, [count as u32, 1, 1], WIDEN_BLOCK, &arguments)?;
        Ok(numbers)
    }
}

/// Layout of a packed row: sizes of its parts, in bytes.
struct RowLayout {
    format: BlockFormat,
    /// Groups of 32 codes.
    groups: usize,
    /// Lower bits of a group's codes.
    low: usize,
    /// Bits beyond four of a group's codes.
    high: usize,
    /// Factors of a group's scales.
    factors: usize,
    /// A scale, with the least number beside it.
    scale: usize,
    /// The whole row.
    bytes: usize,
}

impl RowLayout {
    fn of(format: BlockFormat, columns: usize) -> Self {
        let (bits, groups) = (format.code_bits(), columns / SMALL_BLOCK);
        let has_factors = format.block_len() > SMALL_BLOCK;
        let (low, high) = match bits {
            8 => (SMALL_BLOCK, 0),
            _ => (SMALL_BLOCK / 2, bits.saturating_sub(4) * SMALL_BLOCK / 8),
        };
        let factors = if has_factors { 2 } else { 0 };
        let scale = if has_factors || format.has_least() { 4 } else { 2 };
        let blocks = columns / format.block_len();
        Self {
            format,
            groups,
            low,
            high,
            factors,
            scale,
            bytes: (groups * (low + high + factors) + blocks * scale).next_multiple_of(ROW_ALIGNMENT),
        }
    }

    /// Writes a row, as the file has it.
    fn pack(&self, stored: &[u8], words: &mut [u32]) {
        let mut row = vec![0; self.bytes];
        let mut block = BlockParts::default();
        let groups_per_block = self.format.block_len() / SMALL_BLOCK;
        for (number, bytes) in stored.chunks_exact(self.format.block_bytes()).enumerate() {
            self.format.take_apart(bytes, &mut block);
            for within in 0..groups_per_block {
                let group = number * groups_per_block + within;
                let codes = &block.codes[within * SMALL_BLOCK..][..SMALL_BLOCK];
                self.write_low(group, codes, &mut row);
                self.write_high(group, codes, &mut row[self.groups * self.low..]);
                if self.factors > 0 {
                    let factors = match SMALL_BLOCK / self.format.codes_per_scale() {
                        1 => [block.group_scales[within], block.group_least[within]],
                        _ => [block.group_scales[2 * within], block.group_scales[2 * within + 1]],
                    };
                    let at = self.groups * (self.low + self.high) + 2 * group;
                    row[at..at + 2].copy_from_slice(&factors.map(|factor| factor as u8));
                }
            }
            // Both are 16-bit floats in the file.
            let half = |number: f32| half::f16::from_f32(number).to_le_bytes();
            let at = self.groups * (self.low + self.high + self.factors) + number * self.scale;
            row[at..at + 2].copy_from_slice(&half(block.scale));
            if self.format.has_least() {
                row[at + 2..at + 4].copy_from_slice(&half(block.least));
            }
        }
        for (word, bytes) in words.iter_mut().zip(row.as_chunks().0) {
            *word = u32::from_le_bytes(*bytes);
        }
    }

    /// Writes the lower bits of a group's codes: four codes to a word of 8-bit ones, and eight to a word of others, of which the first
    /// four have the lower halves of the bytes. What the threads of a warp read at once stands side by side.
    fn write_low(&self, group: usize, codes: &[u8], row: &mut [u8]) {
        let (chunk, lane) = (group / GROUPS_PER_CHUNK, group % GROUPS_PER_CHUNK);
        let groups = GROUPS_PER_CHUNK.min(self.groups - chunk * GROUPS_PER_CHUNK);
        let mut low = [0; SMALL_BLOCK];
        match self.low {
            SMALL_BLOCK => low.copy_from_slice(codes),
            _ => {
                for (at, code) in codes.iter().enumerate() {
                    low[at / 8 * 4 + at % 4] |= (code & 15) << (at % 8 / 4 * 4);
                }
            }
        }
        for (read, bytes) in low[..self.low].chunks_exact(READ_BYTES).enumerate() {
            let at = chunk * GROUPS_PER_CHUNK * self.low + (read * groups + lane) * READ_BYTES;
            row[at..at + READ_BYTES].copy_from_slice(bytes);
        }
    }

    /// Writes the bits beyond four of a group's codes: byte `i` of a word has those of every fourth code from number `i` on.
    fn write_high(&self, group: usize, codes: &[u8], row: &mut [u8]) {
        let bits = self.high * 8 / SMALL_BLOCK;
        let codes_per_byte = 8usize.checked_div(bits).unwrap_or(0);
        for (at, code) in codes.iter().enumerate().filter(|_| bits > 0) {
            let four = at / 4;
            row[group * self.high + four / codes_per_byte * 4 + at % 4] |=
                code >> 4 << (bits * (four % codes_per_byte));
        }
    }
}

#[cfg(test)]
mod tests {
    use candle_core::quantized::QTensor;

    use super::*;
    use crate::load::gguf::QUANTISED;
    use crate::network::gpu::emulation::Emulation;

    #[test]
    fn rows_stand_for_the_numbers_that_candle_reads_in_every_format_of_arithmetic() {
        if !Emulation::is_available() {
            return;
        }
        // A chunk and a part of one, and less than one.
        for (format, theirs) in QUANTISED {
            for columns in [1280, 256] {
                let numbers = Tensor::randn(0f32, 1.0, (5, columns), &Device::Cpu).unwrap();
                let quantised = QTensor::quantize(&numbers, theirs).unwrap();
                let bytes = quantised.data().unwrap();
                let exact = quantised.dequantize(&Device::Cpu).unwrap();
                let rows = [Rows::in_order(format, 5, &bytes)];
                for dtype in [DType::F32, DType::BF16, DType::F16] {
                    let kernels = Kernels::Emulated(Emulation::new(DType::F32));
                    let matrix = PackedMatrix::new(&rows, columns, &kernels, (&Device::Cpu, dtype)).unwrap();
                    let as_bits = |tensor: Tensor| {
                        let wide = tensor.to_dtype(DType::F32).unwrap().flatten_all().unwrap();
                        wide.to_vec1::<f32>().unwrap()
                    };
                    let expected = exact.to_dtype(dtype).unwrap();
                    let all = matrix.widened(None, 0, 5).unwrap();
                    assert_eq!(
                        as_bits(all),
                        as_bits(expected.clone()),
                        "{format:?} {columns} {dtype:?}"
                    );
                    let chosen = matrix.some_rows(&[4, 0, 4]).unwrap();
                    let expected = expected.index_select(&Tensor::new(&[4u32, 0, 4], &Device::Cpu).unwrap(), 0);
                    assert_eq!(
                        as_bits(chosen),
                        as_bits(expected.unwrap()),
                        "{format:?} {columns} {dtype:?}"
                    );
                }
            }
        }
    }
}

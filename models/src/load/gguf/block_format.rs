//! [`BlockFormat`]: the formats in which GGUF files keep numbers, and how the bytes of each encode them.
//!
//! The definitions are those of ggml (`ggml-common.h`): a block has scales and small whole numbers, its codes.

use candle_core::DType;
use half::{bf16, f16};

/// Numbers in a block of the formats that count in 32s.
pub(crate) const SMALL_BLOCK: usize = 32;
/// Numbers in a block of the formats with a K.
pub(crate) const K_BLOCK: usize = 256;

/// A format of a tensor in a GGUF file. Integers are in little-endian order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum BlockFormat {
    F32,
    F16,
    Bf16,
    /// 32 codes of 4 bits; `(code - 8) · scale`.
    Q4_0,
    /// 32 codes of 4 bits; `code · scale + least`.
    Q4_1,
    /// 32 codes of 5 bits; `(code - 16) · scale`.
    Q5_0,
    /// 32 codes of 5 bits; `code · scale + least`.
    Q5_1,
    /// 32 signed codes of 8 bits; `code · scale`.
    Q8_0,
    /// 256 codes of 4 bits, scale and least number for each 32.
    Q4K,
    /// 256 codes of 5 bits, scale and least number for each 32.
    Q5K,
    /// 256 codes of 6 bits, a scale for each 16.
    Q6K,
}

impl BlockFormat {
    /// All formats that are read.
    pub(crate) const ALL: [Self; 11] = [
        Self::F32,
        Self::F16,
        Self::Bf16,
        Self::Q4_0,
        Self::Q4_1,
        Self::Q5_0,
        Self::Q5_1,
        Self::Q8_0,
        Self::Q4K,
        Self::Q5K,
        Self::Q6K,
    ];

    /// The format of that number (`ggml_type`).
    pub(crate) fn from_number(number: u32) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.number() == number)
    }

    /// The number that files have for the format (`ggml_type`).
    fn number(self) -> u32 {
        match self {
            Self::F32 => 0,
            Self::F16 => 1,
            Self::Q4_0 => 2,
            Self::Q4_1 => 3,
            Self::Q5_0 => 6,
            Self::Q5_1 => 7,
            Self::Q8_0 => 8,
            Self::Q4K => 12,
            Self::Q5K => 13,
            Self::Q6K => 14,
            Self::Bf16 => 30,
        }
    }

    /// The name in lower case.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::F32 => "f32",
            Self::F16 => "f16",
            Self::Bf16 => "bf16",
            Self::Q4_0 => "q4_0",
            Self::Q4_1 => "q4_1",
            Self::Q5_0 => "q5_0",
            Self::Q5_1 => "q5_1",
            Self::Q8_0 => "q8_0",
            Self::Q4K => "q4_k",
            Self::Q5K => "q5_k",
            Self::Q6K => "q6_k",
        }
    }

    /// Numbers in a block.
    pub(crate) const fn block_len(self) -> usize {
        match self {
            Self::F32 | Self::F16 | Self::Bf16 => 1,
            Self::Q4_0 | Self::Q4_1 | Self::Q5_0 | Self::Q5_1 | Self::Q8_0 => SMALL_BLOCK,
            Self::Q4K | Self::Q5K | Self::Q6K => K_BLOCK,
        }
    }

    /// Bytes of a block.
    pub(crate) fn block_bytes(self) -> usize {
        match self {
            Self::F32 => 4,
            Self::F16 | Self::Bf16 => 2,
            Self::Q4_0 => 2 + 16,
            Self::Q4_1 => 4 + 16,
            Self::Q5_0 => 2 + 4 + 16,
            Self::Q5_1 => 4 + 4 + 16,
            Self::Q8_0 => 2 + 32,
            Self::Q4K => 4 + 12 + 128,
            Self::Q5K => 4 + 12 + 32 + 128,
            Self::Q6K => 128 + 64 + 16 + 2,
        }
    }

    /// The format as candle has it, where it is one of whole numbers of bytes.
    pub(crate) fn dtype(self) -> Option<DType> {
        match self {
            Self::F32 => Some(DType::F32),
            Self::F16 => Some(DType::F16),
            Self::Bf16 => Some(DType::BF16),
            Self::Q4_0 | Self::Q4_1 | Self::Q5_0 | Self::Q5_1 | Self::Q8_0 | Self::Q4K | Self::Q5K | Self::Q6K => None,
        }
    }

    /// Bits of a code; 0 in the formats that have none.
    pub(crate) const fn code_bits(self) -> usize {
        match self {
            Self::F32 | Self::F16 | Self::Bf16 => 0,
            Self::Q4_0 | Self::Q4_1 | Self::Q4K => 4,
            Self::Q5_0 | Self::Q5_1 | Self::Q5K => 5,
            Self::Q6K => 6,
            Self::Q8_0 => 8,
        }
    }

    /// Whether blocks have least numbers beside scales.
    pub(crate) const fn has_least(self) -> bool {
        matches!(self, Self::Q4_1 | Self::Q5_1 | Self::Q4K | Self::Q5K)
    }

    /// Appends the numbers that `blocks`, whole blocks, encode.
    pub(crate) fn extend_with_numbers(self, blocks: &[u8], out: &mut Vec<f32>) {
        let mut parts = BlockParts::default();
        for block in blocks.chunks_exact(self.block_bytes()) {
            match self {
                Self::F32 => out.push(f32::from_le_bytes([block[0], block[1], block[2], block[3]])),
                Self::F16 => out.push(half_at(block, 0)),
                Self::Bf16 => out.push(bf16::from_le_bytes([block[0], block[1]]).to_f32()),
                Self::Q4_0 | Self::Q4_1 | Self::Q5_0 | Self::Q5_1 | Self::Q8_0 | Self::Q4K | Self::Q5K | Self::Q6K => {
                    self.take_apart(block, &mut parts);
                    out.extend((0..self.block_len()).map(|at| parts.number(at, self.codes_per_scale())));
                }
            }
        }
    }

    /// Number of codes that have a scale of their own.
    pub(crate) const fn codes_per_scale(self) -> usize {
        match self {
            Self::F32 | Self::F16 | Self::Bf16 => 1,
            Self::Q4_0 | Self::Q4_1 | Self::Q5_0 | Self::Q5_1 | Self::Q8_0 | Self::Q4K | Self::Q5K => SMALL_BLOCK,
            Self::Q6K => 16,
        }
    }

    /// Returns the code that encodes zero, where there are no least numbers.
    pub(crate) const fn zero_code(self) -> u8 {
        match self {
            Self::Q4_0 => 8,
            Self::Q5_0 => 16,
            Self::Q6K => 32,
            Self::Q8_0 => 128,
            Self::F32 | Self::F16 | Self::Bf16 | Self::Q4_1 | Self::Q5_1 | Self::Q4K | Self::Q5K => 0,
        }
    }

    /// Writes the codes and scales of one block of a quantised format into `parts`.
    pub(crate) fn take_apart(self, block: &[u8], parts: &mut BlockParts) {
        let BlockParts {
            codes,
            zero,
            scale,
            least,
            group_scales,
            group_least,
        } = parts;
        *zero = self.zero_code();
        *scale = half_at(block, 0);
        *least = 0.0;
        group_scales[0] = 1;
        group_least[0] = 1;
        match self {
            // No blocks of codes.
            Self::F32 | Self::F16 | Self::Bf16 => {}
            Self::Q4_0 => split_nibbles(&block[2..], codes),
            Self::Q4_1 => {
                *least = half_at(block, 2);
                split_nibbles(&block[4..], codes);
            }
            Self::Q5_0 => {
                split_nibbles(&block[6..], codes);
                add_high_bits(&block[2..6], codes);
            }
            Self::Q5_1 => {
                *least = half_at(block, 2);
                split_nibbles(&block[8..], codes);
                add_high_bits(&block[4..8], codes);
            }
            Self::Q8_0 => {
                for (code, byte) in codes.iter_mut().zip(&block[2..]) {
                    *code = byte ^ 0x80;
                }
            }
            Self::Q4K | Self::Q5K => {
                *least = -half_at(block, 2);
                six_bit_numbers(&block[4..16], group_scales, group_least);
                let low = block.len() - 128;
                for (bytes, codes) in block[low..].chunks_exact(32).zip(codes.chunks_exact_mut(64)) {
                    split_nibbles(bytes, codes);
                }
                if self == Self::Q5K {
                    // Bit `g` of each of the 32 bytes belongs to group `g`.
                    for (group, codes) in codes.chunks_exact_mut(32).enumerate() {
                        for (code, high) in codes.iter_mut().zip(&block[16..48]) {
                            *code |= (high >> group & 1) << 4;
                        }
                    }
                }
            }
            Self::Q6K => {
                *scale = half_at(block, 208);
                for (at, code) in codes.iter_mut().enumerate() {
                    let (half, within) = (at / 128, at % 128);
                    let low = block[64 * half + within % 64] >> (4 * (within / 64)) & 15;
                    let high = block[128 + 32 * half + within % 32] >> (2 * (within / 32)) & 3;
                    *code = low | high << 4;
                }
                for (scale, byte) in group_scales.iter_mut().zip(&block[192..208]) {
                    *scale = i16::from(*byte as i8);
                }
            }
        }
    }
}

/// A block taken apart: the number at `i` is `(codes[i] - zero) · scale · group scale + least · group least`.
///
/// As many entries are in use as the format's blocks have codes and groups of codes.
pub(crate) struct BlockParts {
    pub(crate) codes: [u8; K_BLOCK],
    zero: u8,
    pub(crate) scale: f32,
    /// Factor of the groups' least numbers; 0 where the format has none.
    pub(crate) least: f32,
    /// Factors of `scale`, one for each group of codes.
    pub(crate) group_scales: [i16; 16],
    /// Factors of `least`, one for each group of codes.
    pub(crate) group_least: [i16; 16],
}

impl Default for BlockParts {
    fn default() -> Self {
        Self {
            codes: [0; K_BLOCK],
            zero: 0,
            scale: 0.0,
            least: 0.0,
            group_scales: [0; 16],
            group_least: [0; 16],
        }
    }
}

impl BlockParts {
    /// The number at `at`, of groups of `len` codes.
    fn number(&self, at: usize, len: usize) -> f32 {
        let scale = self.scale * f32::from(self.group_scales[at / len]);
        let code = f32::from(i16::from(self.codes[at]) - i16::from(self.zero));
        match self.least {
            0.0 => scale * code,
            least => scale * code + least * f32::from(self.group_least[at / len]),
        }
    }
}

/// Writes the low halves of `bytes` to the start of `codes`, and behind them the high halves.
fn split_nibbles(bytes: &[u8], codes: &mut [u8]) {
    let (low, high) = codes.split_at_mut(bytes.len());
    for ((byte, low), high) in bytes.iter().zip(low).zip(high) {
        (*low, *high) = (byte & 15, byte >> 4);
    }
}

/// Adds to each code its bit of `bits` as the fifth.
fn add_high_bits(bits: &[u8], codes: &mut [u8]) {
    for (at, code) in codes.iter_mut().take(8 * bits.len()).enumerate() {
        *code |= (bits[at / 8] >> (at % 8) & 1) << 4;
    }
}

/// The 16-bit float at `at`.
fn half_at(block: &[u8], at: usize) -> f32 {
    f16::from_le_bytes([block[at], block[at + 1]]).to_f32()
}

/// Reads the eight scales and eight least numbers that twelve bytes hold, six bits each.
fn six_bit_numbers(bytes: &[u8], scales: &mut [i16; 16], least: &mut [i16; 16]) {
    for group in 0..8 {
        let (scale, smallest) = match group {
            0..4 => (bytes[group] & 63, bytes[group + 4] & 63),
            _ => (
                bytes[group + 4] & 15 | (bytes[group - 4] >> 6) << 4,
                bytes[group + 4] >> 4 | (bytes[group] >> 6) << 4,
            ),
        };
        (scales[group], least[group]) = (i16::from(scale), i16::from(smallest));
    }
}

/// The formats with codes, and candle's names of them, by which tests quantise numbers.
#[cfg(test)]
pub(crate) const QUANTISED: [(BlockFormat, candle_core::quantized::GgmlDType); 8] = {
    use candle_core::quantized::GgmlDType;
    [
        (BlockFormat::Q4_0, GgmlDType::Q4_0),
        (BlockFormat::Q4_1, GgmlDType::Q4_1),
        (BlockFormat::Q5_0, GgmlDType::Q5_0),
        (BlockFormat::Q5_1, GgmlDType::Q5_1),
        (BlockFormat::Q8_0, GgmlDType::Q8_0),
        (BlockFormat::Q4K, GgmlDType::Q4K),
        (BlockFormat::Q5K, GgmlDType::Q5K),
        (BlockFormat::Q6K, GgmlDType::Q6K),
    ]
};

#[cfg(test)]
mod tests {
    use candle_core::quantized::{GgmlDType, QTensor};
    use candle_core::{Device, Tensor};

    use super::*;

    /// candle's reading of the same bytes is the reference.
    #[test]
    fn blocks_stand_for_the_numbers_that_candle_reads() {
        let floats = [(BlockFormat::F16, GgmlDType::F16), (BlockFormat::Bf16, GgmlDType::BF16)];
        let numbers = Tensor::randn(0f32, 1.0, (4, 512), &Device::Cpu).unwrap();
        for (format, theirs) in floats.into_iter().chain(QUANTISED) {
            let quantised = QTensor::quantize(&numbers, theirs).unwrap();
            assert_eq!(format.block_bytes(), theirs.type_size(), "{format:?}");
            assert_eq!(format.block_len(), theirs.block_size(), "{format:?}");
            let expected = quantised.dequantize(&Device::Cpu).unwrap().flatten_all().unwrap();
            let mut found = Vec::new();
            format.extend_with_numbers(&quantised.data().unwrap(), &mut found);
            assert_eq!(found, expected.to_vec1::<f32>().unwrap(), "{format:?}");
        }
    }
}

//! [`Panels`]: quantised weights in the order that products read them in.
//!
//! A panel has sixteen rows of a matrix. It is a list of records; a record has the scales of sixteen blocks, one of each row, and
//! behind them the blocks' groups of 32 codes. Within a group, a *step* has four codes of each row side by side, 64 codes, as a
//! vector register of 512 bits holds them; a group has eight steps. Codes of 4 bits: a byte has those of two steps, the earlier in
//! the low half. Bits beyond four stand behind all low halves: the fifth bits of the eight steps in one byte each, or the upper two
//! bits of four steps in one byte.

use rayon::prelude::*;

use crate::load::gguf::tensors::Rows;
use crate::load::gguf::{BlockFormat, BlockParts, SMALL_BLOCK};

/// Rows in a panel.
pub(super) const PANEL_ROWS: usize = 16;
/// Codes of a group that stand side by side.
const STEP_CODES: usize = 4;
/// Steps in a group of codes.
pub(super) const STEPS: usize = SMALL_BLOCK / STEP_CODES;
/// Codes of a step, those of all rows.
pub(super) const STEP: usize = PANEL_ROWS * STEP_CODES;
/// Bytes of sixteen 16-bit floats.
const HALVES: usize = 2 * PANEL_ROWS;

/// Layout of a record: sizes and places of its parts, in bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layout {
    /// Bits of a code.
    pub(super) bits: usize,
    /// Whether least numbers stand behind the scales.
    pub(super) has_least: bool,
    /// Numbers of one byte for each row at the start of a group: a scale and a least number, or two scales, or none.
    pub(super) small_scales: usize,
    /// Scales that a group's codes have: one, or one for each half.
    pub(super) scales: usize,
    /// The sum of a group's activations is shifted so far to the left for the code that stands for zero; 0 where codes count from 0.
    pub(super) zero_shift: u32,
    /// Groups of codes in a record.
    pub(super) groups: usize,
    /// Bytes before the first group.
    pub(super) header: usize,
    /// Bytes before a group's codes.
    pub(super) scale_bytes: usize,
    /// Bytes of a group.
    pub(super) group: usize,
    /// Bytes of a record.
    pub(super) record: usize,
}

impl Layout {
    /// The layout of panels of a quantised format.
    pub(super) const fn of(format: BlockFormat) -> Self {
        let (bits, has_least) = (format.code_bits(), format.has_least());
        let zero_shift = match format.zero_code() {
            0 => 0,
            code => code.trailing_zeros(),
        };
        let groups = format.block_len() / SMALL_BLOCK;
        let small_scales = if groups > 1 { 2 } else { 0 };
        let header = if has_least { 2 * HALVES } else { HALVES };
        let scale_bytes = small_scales * PANEL_ROWS;
        let group = scale_bytes + bits * STEP;
        Self {
            bits,
            has_least,
            small_scales,
            scales: SMALL_BLOCK / format.codes_per_scale(),
            zero_shift,
            groups,
            header,
            scale_bytes,
            group,
            record: header + groups * group,
        }
    }

    /// Writes a code of a group, whose codes stand in `bytes`; `at` is its place in the row's group.
    fn write_code(&self, bytes: &mut [u8], row: usize, at: usize, code: u8) {
        let (step, lane) = (at / STEP_CODES, row * STEP_CODES + at % STEP_CODES);
        if self.bits == 8 {
            bytes[step * STEP + lane] = code;
            return;
        }
        bytes[step / 2 * STEP + lane] |= (code & 15) << (4 * (step % 2));
        let high = &mut bytes[STEPS / 2 * STEP..];
        match self.bits {
            5 => high[lane] |= code >> 4 << step,
            6 => high[step / 4 * STEP + lane] |= code >> 4 << (2 * (step % 4)),
            _ => {}
        }
    }

    /// The code that [`write_code`](Self::write_code) has written there.
    pub(super) fn code(&self, bytes: &[u8], row: usize, at: usize) -> u8 {
        let (step, lane) = (at / STEP_CODES, row * STEP_CODES + at % STEP_CODES);
        if self.bits == 8 {
            return bytes[step * STEP + lane];
        }
        let low = bytes[step / 2 * STEP + lane] >> (4 * (step % 2)) & 15;
        let high = &bytes[STEPS / 2 * STEP..];
        match self.bits {
            5 => low | (high[lane] >> step & 1) << 4,
            6 => low | (high[step / 4 * STEP + lane] >> (2 * (step % 4)) & 3) << 4,
            _ => low,
        }
    }
}

/// A matrix in panels.
pub(super) struct Panels {
    pub(super) format: BlockFormat,
    pub(super) rows: usize,
    pub(super) columns: usize,
    layout: Layout,
    /// The panels one behind the other; rows that the last has too many are zero.
    bytes: Vec<u8>,
}

impl std::fmt::Debug for Panels {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Panels")
            .field("format", &self.format)
            .field("rows", &self.rows)
            .field("columns", &self.columns)
            .finish_non_exhaustive()
    }
}

impl Panels {
    /// The rows of `parts`, one part behind the other, which are of one quantised format and have as many `columns`.
    pub(super) fn new(parts: &[Rows<'_>], columns: usize) -> Self {
        let format = parts.first().map_or(BlockFormat::Q8_0, |part| part.format);
        let layout = Layout::of(format);
        let rows: usize = parts.iter().map(|part| part.count).sum();
        let panel_bytes = columns / (layout.groups * SMALL_BLOCK) * layout.record;
        let mut bytes = vec![0; rows.div_ceil(PANEL_ROWS) * panel_bytes];
        let row = |mut row: usize| {
            parts.iter().find_map(|part| match row < part.count {
                true => Some(part.row(row)),
                false => {
                    row -= part.count;
                    None
                }
            })
        };
        bytes
            .par_chunks_exact_mut(panel_bytes.max(1))
            .enumerate()
            .for_each(|(panel, bytes)| {
                let mut block = BlockParts::default();
                for within in 0..PANEL_ROWS {
                    if let Some(stored) = row(panel * PANEL_ROWS + within) {
                        pack_row(format, &layout, stored, within, &mut block, bytes);
                    }
                }
            });
        Self {
            format,
            rows,
            columns,
            layout,
            bytes,
        }
    }

    /// Number of panels.
    pub(super) fn count(&self) -> usize {
        self.rows.div_ceil(PANEL_ROWS)
    }

    /// The panel of that number.
    pub(super) fn panel(&self, panel: usize) -> &[u8] {
        let bytes = self.columns / (self.layout.groups * SMALL_BLOCK) * self.layout.record;
        &self.bytes[panel * bytes..][..bytes]
    }

    /// Appends the numbers that a row encodes.
    pub(super) fn extend_with_row(&self, row: usize, out: &mut Vec<f32>) {
        let (panel, row) = (self.panel(row / PANEL_ROWS), row % PANEL_ROWS);
        let zero = i16::from(self.format.zero_code());
        for record in panel.chunks_exact(self.layout.record) {
            for group in 0..self.layout.groups {
                let bytes = self.layout.group_of(record, group);
                let (scale, least) = self.layout.block_scales(record, row);
                let factors = self.layout.factors(bytes, row);
                let scales = factors.scales.map(|factor| scale * factor as f32);
                let least = least * factors.least as f32;
                for at in 0..SMALL_BLOCK {
                    let code = i16::from(self.layout.code(&bytes[self.layout.scale_bytes..], row, at));
                    let number = scales[at * self.layout.scales / SMALL_BLOCK] * f32::from(code - zero);
                    out.push(match self.layout.has_least {
                        true => number + least,
                        false => number,
                    });
                }
            }
        }
    }
}

/// The factors of one row's group of codes; 1 where the format has none.
pub(super) struct Factors {
    /// Factors of the block's scale, for the first and the second half of the codes.
    pub(super) scales: [i32; 2],
    /// Factor of the block's least number.
    pub(super) least: i32,
}

impl Layout {
    /// The bytes of a record's group.
    pub(super) fn group_of<'a>(&self, record: &'a [u8], group: usize) -> &'a [u8] {
        &record[self.header + group * self.group..][..self.group]
    }

    /// The scale of a row's block, and its least number, 0 where the format has none.
    pub(super) fn block_scales(&self, record: &[u8], row: usize) -> (f32, f32) {
        let half = |at: usize| half::f16::from_le_bytes([record[at], record[at + 1]]).to_f32();
        let least = if self.has_least { half(HALVES + 2 * row) } else { 0.0 };
        (half(2 * row), least)
    }

    /// The factors of a row in a group.
    pub(super) fn factors(&self, group: &[u8], row: usize) -> Factors {
        let (mut scales, mut least) = ([1; 2], 1);
        if self.small_scales > 0 && self.scales == 1 {
            scales = [i32::from(group[row]); 2];
            least = i32::from(group[PANEL_ROWS + row]);
        } else if self.small_scales > 0 {
            scales = [0, PANEL_ROWS].map(|at| i32::from(group[at + row] as i8));
        }
        Factors { scales, least }
    }
}

/// Writes a row, as the file has it, into its panel.
fn pack_row(format: BlockFormat, layout: &Layout, stored: &[u8], row: usize, block: &mut BlockParts, panel: &mut [u8]) {
    let records = panel.chunks_exact_mut(layout.record);
    for (bytes, record) in stored.chunks_exact(format.block_bytes()).zip(records) {
        format.take_apart(bytes, block);
        // Both are 16-bit floats in the file.
        let half = |number: f32| half::f16::from_f32(number).to_le_bytes();
        record[2 * row..][..2].copy_from_slice(&half(block.scale));
        if layout.has_least {
            record[HALVES + 2 * row..][..2].copy_from_slice(&half(block.least));
        }
        for group in 0..layout.groups {
            let bytes = &mut record[layout.header + group * layout.group..][..layout.group];
            match (layout.small_scales, layout.scales) {
                (0, _) => {}
                (_, 1) => {
                    bytes[row] = block.group_scales[group] as u8;
                    bytes[PANEL_ROWS + row] = block.group_least[group] as u8;
                }
                _ => {
                    bytes[row] = block.group_scales[2 * group] as u8;
                    bytes[PANEL_ROWS + row] = block.group_scales[2 * group + 1] as u8;
                }
            }
            let codes = &block.codes[group * SMALL_BLOCK..][..SMALL_BLOCK];
            for (at, code) in codes.iter().enumerate() {
                layout.write_code(&mut bytes[layout.scale_bytes..], row, at, *code);
            }
        }
    }
}

//! [`Chooser`]: chooses a token from logits on the device, by the kernels of `cuda/choose.cu`.

use candle_core::{Device, Result, Tensor};
use maskwright::{TokenId, TokenMask};

use crate::choice::Choice;
use crate::network::gpu::kernels::{Argument, HostWords, Kernel, Kernels, address};

/// Threads of a block, `CHOICE_BLOCK` of the kernels.
const BLOCK: u32 = 256;
/// Logits that a thread looks at, or more where there are more than [`MAX_PARTS`] blocks of them.
const LOGITS_PER_THREAD: usize = 4;
/// The most blocks, `MAX_PARTS` of the kernels.
const MAX_PARTS: usize = 128;
/// No token, `NONE` of the kernels.
const NONE: u32 = u32::MAX;
/// Words of the kernels' `Shared`.
const SHARED_WORDS: usize = 6 + 2 * MAX_PARTS;
/// The word of `Shared` that is [`NONE`] between choices.
const NOT_FINITE: usize = 2;

/// Result of a choice on the device.
pub(crate) enum DeviceChoice {
    /// The token, where one is allowed.
    Chosen(Option<TokenId>),
    /// The logit of the token with this id is infinite or NaN.
    NotFinite(u32),
}

/// Chooses tokens on a device.
#[derive(Debug)]
pub(crate) struct Chooser {
    kernels: Kernels,
    likeliest: Kernel,
    draw: Kernel,
    /// Memory from which the device reads the mask.
    mask: HostWords,
    /// Memory to which the device writes the chosen token, and the first token whose logit is not finite.
    choice: HostWords,
    /// Words that the blocks of a kernel share.
    shared: Tensor,
}

impl Chooser {
    /// A chooser for `vocab_size` logits on `device`.
    pub(crate) fn new(kernels: &Kernels, vocab_size: usize, device: &Device) -> Result<Self> {
        let mut shared = [0_u32; SHARED_WORDS];
        shared[NOT_FINITE] = NONE;
        Ok(Self {
            likeliest: kernels.find("likeliest")?,
            draw: kernels.find("draw")?,
            mask: kernels.host_words(vocab_size.div_ceil(32))?,
            choice: kernels.host_words(2)?,
            shared: Tensor::new(&shared, device)?,
            kernels: kernels.clone(),
        })
    }

    /// Chooses among the tokens that `mask` allows, by logits on the device; waits for the pass that computes them.
    pub(crate) fn choose(&mut self, logits: &Tensor, mask: Option<&TokenMask>, choice: Choice) -> Result<DeviceChoice> {
        self.kernels.enter()?;
        let count = logits.elem_count();
        let (mut mask_address, mut masked) = (0, count);
        if let Some(mask) = mask {
            let words = self.mask.as_mut_slice();
            let given = mask.words();
            let common = words.len().min(given.len());
            words[..common].copy_from_slice(&given[..common]);
            masked = mask.len().min(count).min(32 * common);
            mask_address = self.mask.pointer();
        }
        let blocks = count.div_ceil(BLOCK as usize * LOGITS_PER_THREAD).clamp(1, MAX_PARTS) as u32;
        let [logits, shared] = [address(logits)?, address(&self.shared)?].map(Argument::Pointer);
        let mask = Argument::Pointer(mask_address);
        let found = Argument::Pointer(self.choice.pointer());
        let [count, masked] = [count, masked].map(Argument::size);
        let arguments = [logits, count, mask, masked, shared, found];
        self.kernels
            .launch(&self.likeliest, [blocks, 1, 1], BLOCK, &arguments)?;
        if let Choice::Draw {
            inverse_temperature,
            min_p,
            random,
        } = choice
        {
            let [inverse_temperature, min_p] = [inverse_temperature, min_p].map(Argument::Float);
            let random = Argument::Double(random);
            let arguments = [
                logits,
                count,
                mask,
                masked,
                inverse_temperature,
                min_p,
                random,
                shared,
                found,
            ];
            self.kernels.launch(&self.draw, [blocks, 1, 1], BLOCK, &arguments)?;
        }
        self.kernels.wait()?;
        Ok(match *self.choice.as_mut_slice() {
            [_, not_finite] if not_finite != NONE => DeviceChoice::NotFinite(not_finite),
            [NONE, _] | [] | [_] => DeviceChoice::Chosen(None),
            [token, ..] => DeviceChoice::Chosen(Some(token)),
        })
    }
}

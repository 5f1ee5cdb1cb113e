//! Rotary position embeddings (RoFormer, arXiv 2104.09864): frequencies, their scaling, and the rotation angles.

use crate::load::config::ModelConfig;
use crate::load::config::layer_kinds::{Mixer, Positions};
use crate::load::config::rope_scaling::RopeScaling;

/// The rotation angles of one model.
#[derive(Clone, Debug)]
pub(crate) struct Rope {
    /// Radians per position, one for each pair of a head's elements that are turned; length `rotary_dim / 2`.
    frequencies: Vec<f32>,
    /// The frequencies of layers whose positions are local.
    local_frequencies: Vec<f32>,
    /// Factor of the rotated vectors.
    vectors: f32,
}

/// Cosines and sines, or what a device keeps them as, of the tokens of a forward pass.
#[derive(Debug)]
pub(crate) struct Angles<T> {
    /// Those of [`Positions::Rotary`].
    pub(crate) whole: (T, T),
    /// Those of [`Positions::LocalRotary`], where a layer needs them.
    pub(crate) local: Option<(T, T)>,
}

impl<T> Angles<T> {
    /// The cosines and sines of a layer, where it has positions.
    pub(crate) fn of(&self, positions: Positions) -> Option<&(T, T)> {
        match positions {
            Positions::Rotary => Some(&self.whole),
            Positions::LocalRotary => self.local.as_ref(),
            Positions::None => None,
        }
    }
}

impl Rope {
    /// The angles of the model that `config` describes.
    pub(crate) fn new(config: &ModelConfig) -> Self {
        let scaled = unscaled_frequencies(config, config.rope_theta).enumerate();
        let has_local = config.mixers.iter().any(|mixer| {
            matches!(
                mixer,
                Mixer::Attention {
                    positions: Positions::LocalRotary,
                    ..
                }
            )
        });
        Self {
            frequencies: scaled
                .map(|(pair, frequency)| scale_frequency(pair, frequency, &config.rope_scaling))
                .collect(),
            local_frequencies: match has_local {
                true => unscaled_frequencies(config, config.local_rope_theta).collect(),
                false => Vec::new(),
            },
            vectors: match config.rope_scaling {
                RopeScaling::Long { vectors, .. } => vectors,
                _ => 1.0,
            },
        }
    }

    /// Radians per position, one for each pair of a head's elements; length `rotary_dim / 2`.
    #[cfg(any(feature = "cuda", test))]
    pub(crate) fn frequencies(&self) -> &[f32] {
        &self.frequencies
    }

    /// Cosines and sines of the angles at positions `start .. start + count`: `[count, rotary_dim / 2]` arrays.
    pub(crate) fn angles(&self, start: usize, count: usize) -> Angles<Vec<f32>> {
        let of = |frequencies: &[f32]| {
            let angles = (start..start + count)
                .flat_map(|position| frequencies.iter().map(move |frequency| position as f32 * frequency));
            angles
                .map(|angle| (angle.cos() * self.vectors, angle.sin() * self.vectors))
                .unzip()
        };
        Angles {
            whole: of(&self.frequencies),
            local: (!self.local_frequencies.is_empty()).then(|| of(&self.local_frequencies)),
        }
    }
}

/// Rotates one head's vector: element `i` with element `i + half`, by the angle whose cosine and sine are given.
pub(crate) fn rotate(head: &mut [f32], cos: &[f32], sin: &[f32]) {
    let (first, second) = head.split_at_mut(cos.len());
    let pairs = first.iter_mut().zip(second).zip(cos.iter().zip(sin));
    for ((a, b), (cos, sin)) in pairs {
        (*a, *b) = (*a * cos - *b * sin, *b * cos + *a * sin);
    }
}

/// Rotates one head's vector: element `2i` with element `2i + 1`, by the angle whose cosine and sine are given.
pub(crate) fn rotate_neighbours(head: &mut [f32], cos: &[f32], sin: &[f32]) {
    let pairs = head.as_chunks_mut::<2>().0.iter_mut().zip(cos.iter().zip(sin));
    for ([a, b], (cos, sin)) in pairs {
        (*a, *b) = (*a * cos - *b * sin, *b * cos + *a * sin);
    }
}

/// The divisor of each frequency, where they are not all the same; length `rotary_dim / 2`.
pub(crate) fn frequency_divisors(config: &ModelConfig) -> Option<Vec<f32>> {
    let differ = matches!(config.rope_scaling, RopeScaling::Llama3 { .. });
    differ.then(|| {
        unscaled_frequencies(config, config.rope_theta)
            .enumerate()
            .map(|(pair, frequency)| frequency / scale_frequency(pair, frequency, &config.rope_scaling))
            .collect()
    })
}

/// The frequencies without scaling, in radians per position.
fn unscaled_frequencies(config: &ModelConfig, base: f32) -> impl Iterator<Item = f32> {
    let dim = config.rotary_dim;
    (0..dim / 2).map(move |pair| {
        let exponent = (2 * pair) as f32 / dim as f32;
        1.0 / base.powf(exponent)
    })
}

/// The frequency of the pair of that number as `scaling` stretches it, both in radians per position.
fn scale_frequency(pair: usize, frequency: f32, scaling: &RopeScaling) -> f32 {
    match *scaling {
        RopeScaling::None => frequency,
        RopeScaling::Linear { factor } => frequency / factor,
        RopeScaling::Long { ref divisors, .. } => frequency / divisors[pair],
        RopeScaling::Llama3 {
            factor,
            low_freq_factor,
            high_freq_factor,
            original_max_positions,
        } => {
            let wavelength = 2.0 * std::f32::consts::PI / frequency;
            if wavelength < original_max_positions / high_freq_factor {
                frequency
            } else if wavelength > original_max_positions / low_freq_factor {
                frequency / factor
            } else {
                let kept =
                    (original_max_positions / wavelength - low_freq_factor) / (high_freq_factor - low_freq_factor);
                (1.0 - kept) * frequency / factor + kept * frequency
            }
        }
    }
}

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
    /// Factor of the vectors that `frequencies` rotate.
    vectors: f32,
}

/// Cosines and sines, or what a device keeps them as, of the tokens of a forward pass.
#[derive(Debug)]
pub(crate) struct Angles<T> {
    /// Angles of [`Positions::Rotary`].
    pub(crate) whole: (T, T),
    /// Angles of [`Positions::LocalRotary`], where a layer needs them.
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
            frequencies: scaled_frequencies(config).collect(),
            local_frequencies: match has_local {
                true => unscaled_frequencies(config.local_rotary_dim, config.local_rope_theta).collect(),
                false => Vec::new(),
            },
            vectors: match config.rope_scaling {
                RopeScaling::Long { vectors, .. } | RopeScaling::Yarn { vectors, .. } => vectors,
                _ => 1.0,
            },
        }
    }

    /// Radians per position, one for each pair of a head's elements; length `rotary_dim / 2`.
    #[cfg(any(feature = "cuda", test))]
    pub(crate) fn frequencies(&self) -> &[f32] {
        &self.frequencies
    }

    /// Cosines and sines of the angles at positions `start .. start + count`: `[count, rotary_dim / 2]` arrays, local ones
    /// `[count, local_rotary_dim / 2]`.
    pub(crate) fn angles(&self, start: usize, count: usize) -> Angles<Vec<f32>> {
        let of = |frequencies: &[f32], factor: f32| {
            let angles = (start..start + count)
                .flat_map(|position| frequencies.iter().map(move |frequency| position as f32 * frequency));
            angles.map(|angle| (angle.cos() * factor, angle.sin() * factor)).unzip()
        };
        Angles {
            whole: of(&self.frequencies, self.vectors),
            local: (!self.local_frequencies.is_empty()).then(|| of(&self.local_frequencies, 1.0)),
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
    let differ = matches!(
        config.rope_scaling,
        RopeScaling::Llama3 { .. } | RopeScaling::Long { .. }
    );
    differ.then(|| {
        unscaled_frequencies(config.rotary_dim, config.rope_theta)
            .zip(scaled_frequencies(config))
            .map(|(frequency, scaled)| frequency / scaled)
            .collect()
    })
}

/// The frequencies without scaling, in radians per position.
fn unscaled_frequencies(dim: usize, base: f32) -> impl Iterator<Item = f32> {
    (0..dim / 2).map(move |pair| {
        let exponent = (2 * pair) as f32 / dim as f32;
        1.0 / base.powf(exponent)
    })
}

/// The frequencies as the model's scaling stretches them, in radians per position.
fn scaled_frequencies(config: &ModelConfig) -> impl Iterator<Item = f32> {
    let frequencies = unscaled_frequencies(config.rotary_dim, config.rope_theta).enumerate();
    frequencies.map(|(pair, frequency)| scale_frequency(pair, frequency, config))
}

/// The frequency of the pair of that number as the model's scaling stretches it, both in radians per position.
fn scale_frequency(pair: usize, frequency: f32, config: &ModelConfig) -> f32 {
    match config.rope_scaling {
        RopeScaling::None => frequency,
        RopeScaling::Linear { factor } => frequency / factor,
        RopeScaling::Proportional { pairs } if pair < pairs => frequency,
        RopeScaling::Proportional { .. } => 0.0,
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
        RopeScaling::Yarn {
            factor,
            fast_turns,
            slow_turns,
            original_max_positions,
            rounded,
            ..
        } => {
            let dim = config.rotary_dim as f32;
            // The pair, as a fraction, whose frequency turns so often within the first training's context.
            let pair_of = |turns: f32| {
                let wavelength = original_max_positions / turns;
                dim * (wavelength / (2.0 * std::f32::consts::PI)).ln() / (2.0 * config.rope_theta.ln())
            };
            let (fast, slow) = match rounded {
                true => (pair_of(fast_turns).floor(), pair_of(slow_turns).ceil()),
                false => (pair_of(fast_turns), pair_of(slow_turns)),
            };
            let (fast, slow) = (fast.max(0.0), slow.min(dim - 1.0));
            let width = if fast == slow { 0.001 } else { slow - fast };
            let divided = ((pair as f32 - fast) / width).clamp(0.0, 1.0);
            divided * frequency / factor + (1.0 - divided) * frequency
        }
    }
}

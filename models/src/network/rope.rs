//! Rotary position embeddings (RoFormer, arXiv 2104.09864): frequencies, their scaling, and the rotation angles.

use crate::load::config::ModelConfig;
use crate::load::rope_scaling::RopeScaling;

/// The rotation angles of one model.
#[derive(Clone, Debug)]
pub(crate) struct Rope {
    /// Radians per position, one for each pair of a head's elements; length `head_dim / 2`.
    frequencies: Vec<f32>,
}

impl Rope {
    /// The angles of the model that `config` describes.
    pub(crate) fn new(config: &ModelConfig) -> Self {
        Self {
            frequencies: unscaled_frequencies(config)
                .map(|frequency| scale_frequency(frequency, config.rope_scaling))
                .collect(),
        }
    }

    /// Radians per position, one for each pair of a head's elements; length `head_dim / 2`.
    #[cfg(any(feature = "cuda", test))]
    pub(crate) fn frequencies(&self) -> &[f32] {
        &self.frequencies
    }

    /// Cosines and sines of the angles at positions `start .. start + count`: two `[count, head_dim / 2]` arrays.
    pub(crate) fn angles(&self, start: usize, count: usize) -> (Vec<f32>, Vec<f32>) {
        let angles = (start..start + count).flat_map(|position| {
            self.frequencies
                .iter()
                .map(move |frequency| position as f32 * frequency)
        });
        angles.map(|angle| (angle.cos(), angle.sin())).unzip()
    }
}

/// The divisor of each frequency, where they are not all the same; length `head_dim / 2`.
pub(crate) fn frequency_divisors(config: &ModelConfig) -> Option<Vec<f32>> {
    let differ = matches!(config.rope_scaling, RopeScaling::Llama3 { .. });
    differ.then(|| {
        unscaled_frequencies(config)
            .map(|frequency| frequency / scale_frequency(frequency, config.rope_scaling))
            .collect()
    })
}

/// The frequencies without scaling, in radians per position.
fn unscaled_frequencies(config: &ModelConfig) -> impl Iterator<Item = f32> {
    (0..config.head_dim / 2).map(|pair| {
        let exponent = (2 * pair) as f32 / config.head_dim as f32;
        1.0 / config.rope_theta.powf(exponent)
    })
}

/// A frequency as `scaling` stretches it, both in radians per position.
fn scale_frequency(frequency: f32, scaling: RopeScaling) -> f32 {
    match scaling {
        RopeScaling::None => frequency,
        RopeScaling::Linear { factor } => frequency / factor,
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

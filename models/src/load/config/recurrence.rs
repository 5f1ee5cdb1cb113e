//! [`Recurrence`]: the sizes of layers that keep matrices instead of keys and values of all tokens, read from config.json.

use crate::error::ModelError;
use crate::load::config::family::Family;
use crate::load::config::layer_kinds::MAX_WIDTH;
use crate::load::json_fields::JsonFields;

/// The most heads, the longest head, and the most taps.
const MOST: usize = 4_096;

/// The kind of a model's recurrent layers, with their sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Recurrence {
    /// Gated delta nets.
    DeltaNet(DeltaNet),
    /// Mamba2's state spaces.
    Mamba2(Mamba2),
}

/// What a recurrent layer keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct KeptShape {
    /// Number of tokens that the convolution sees, the newest included.
    pub(crate) taps: usize,
    /// Number of elements that the convolution sees of a token.
    pub(crate) channels: usize,
    /// Number of matrices, rows and columns.
    pub(crate) matrices: (usize, usize, usize),
}

impl KeptShape {
    /// Number of elements.
    #[cfg(any(feature = "cuda", test))]
    pub(crate) fn elements(&self) -> usize {
        let (heads, rows, columns) = self.matrices;
        (self.taps - 1) * self.channels + heads * rows * columns
    }
}

impl Recurrence {
    /// The recurrent layers of a family that has such; `hidden_size` is the length of a token's vector.
    pub(crate) fn read(
        fields: &JsonFields<'_>,
        family: Family,
        hidden_size: usize,
    ) -> Result<Option<Self>, ModelError> {
        match family {
            Family::Qwen35 => DeltaNet::read(fields).map(Self::DeltaNet).map(Some),
            Family::GraniteHybrid => Mamba2::read(fields, hidden_size).map(Self::Mamba2).map(Some),
            _ => Ok(None),
        }
    }

    /// What a layer keeps.
    pub(crate) fn kept(&self) -> KeptShape {
        match self {
            Self::DeltaNet(sizes) => KeptShape {
                taps: sizes.taps,
                channels: sizes.channels(),
                matrices: (sizes.value_heads, sizes.key_dim, sizes.value_dim),
            },
            Self::Mamba2(sizes) => KeptShape {
                taps: sizes.taps,
                channels: sizes.channels(),
                matrices: (sizes.heads, sizes.head_dim, sizes.state),
            },
        }
    }
}

/// Sizes of Mamba2's layers (arXiv 2405.21060): state spaces with a matrix for each head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mamba2 {
    /// Number of heads.
    pub heads: usize,
    /// Length of a head's vector.
    pub head_dim: usize,
    /// Number of groups of heads that share what is written to their matrices and what is read from them.
    pub groups: usize,
    /// Number of columns of a head's matrix.
    pub state: usize,
    /// Number of tokens that the convolution sees, the newest included.
    pub taps: usize,
    /// Whether the convolution has biases.
    pub convolution_bias: bool,
    /// Whether the projections have biases.
    pub projection_bias: bool,
}

impl Mamba2 {
    /// The sizes in config.json, or those that it leaves out.
    pub(crate) fn read(fields: &JsonFields<'_>, hidden_size: usize) -> Result<Self, ModelError> {
        let size = |field: &str, default: usize| Ok::<_, ModelError>(fields.size(field, MOST)?.unwrap_or(default));
        let heads = size("mamba_n_heads", 128)?;
        let width = size("mamba_expand", 2)? * hidden_size;
        if width > MAX_WIDTH || !width.is_multiple_of(heads) {
            let message = format!("{heads} heads do not divide a width of {width}, or that is over {MAX_WIDTH}");
            return Err(fields.error("mamba_n_heads", message));
        }
        let groups = size("mamba_n_groups", 1)?;
        if !heads.is_multiple_of(groups) {
            let message = format!("{groups} groups do not divide the {heads} heads");
            return Err(fields.error("mamba_n_groups", message));
        }
        let limits = fields.list("time_step_limit")?;
        let is_open = match limits {
            [] => true,
            [low, high] => low.as_f64() == Some(0.0) && high.as_f64().is_none_or(|high| high > 1e30),
            _ => false,
        };
        if !is_open {
            return Err(fields.unsupported("time_step_limit", "time steps without limits"));
        }
        Ok(Self {
            heads,
            head_dim: width / heads,
            groups,
            state: size("mamba_d_state", 256)?,
            taps: size("mamba_d_conv", 4)?,
            convolution_bias: fields.flag("mamba_conv_bias", true)?,
            projection_bias: fields.flag("mamba_proj_bias", false)?,
        })
    }

    /// Number of elements of all heads' vectors.
    pub(crate) fn width(&self) -> usize {
        self.heads * self.head_dim
    }

    /// Number of elements that the convolution sees of a token: the heads' vectors, and for each group a row that is written and
    /// one that is read with.
    pub(crate) fn channels(&self) -> usize {
        self.width() + 2 * self.groups * self.state
    }
}

/// Sizes of gated delta nets (arXiv 2412.06464): layers that keep a matrix for each head instead of keys and values of all tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeltaNet {
    /// Number of query and of key heads.
    pub key_heads: usize,
    /// Number of value heads, a multiple of `key_heads`.
    pub value_heads: usize,
    /// Length of a query's and a key's vector.
    pub key_dim: usize,
    /// Length of a value's vector.
    pub value_dim: usize,
    /// Number of tokens that the convolution of queries, keys and values sees, the newest included.
    pub taps: usize,
}

impl DeltaNet {
    /// The sizes in config.json, or those that it leaves out.
    pub(crate) fn read(fields: &JsonFields<'_>) -> Result<Self, ModelError> {
        let size = |field: &str, default: usize| Ok::<_, ModelError>(fields.size(field, MOST)?.unwrap_or(default));
        let sizes = Self {
            key_heads: size("linear_num_key_heads", 16)?,
            value_heads: size("linear_num_value_heads", 32)?,
            key_dim: size("linear_key_head_dim", 128)?,
            value_dim: size("linear_value_head_dim", 128)?,
            taps: size("linear_conv_kernel_dim", 4)?,
        };
        if !sizes.value_heads.is_multiple_of(sizes.key_heads) {
            let message = format!(
                "{} is not a multiple of the {} key heads",
                sizes.value_heads, sizes.key_heads
            );
            return Err(fields.error("linear_num_value_heads", message));
        }
        Ok(sizes)
    }

    /// Number of elements that the convolution sees of a token: all queries, keys and values.
    pub(crate) fn channels(&self) -> usize {
        2 * self.keys() + self.values()
    }

    /// Number of elements of all keys of a token.
    pub(crate) fn keys(&self) -> usize {
        self.key_heads * self.key_dim
    }

    /// Number of elements of all values of a token.
    pub(crate) fn values(&self) -> usize {
        self.value_heads * self.value_dim
    }
}

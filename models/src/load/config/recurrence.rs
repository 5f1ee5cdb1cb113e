//! [`Recurrence`]: the sizes of layers that keep matrices instead of keys and values of all tokens, read from config.json.

use serde_json::json;

use crate::error::ModelError;
use crate::load::config::family::Family;
use crate::load::config::layer_kinds::MAX_WIDTH;
use crate::load::json_fields::JsonFields;

/// The largest number of heads, groups and taps, and the largest length of a head.
const MAX_SIZE: usize = 4_096;
/// Largest number of elements of a layer's state, ten times that of published models.
const MAX_LAYER_ELEMENTS: usize = 1 << 24;
/// Largest number of elements of all layers' states, seven times that of published models: one gigabyte of 32-bit floats.
const MAX_ELEMENTS: usize = 1 << 28;

/// The kind of a model's recurrent layers, with their sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Recurrence {
    /// Gated delta nets.
    DeltaNet(DeltaNet),
    /// Mamba2's state spaces.
    Mamba2(Mamba2),
}

/// Sizes of a recurrent layer's state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LayerStateShape {
    /// Number of tokens that the convolution sees, the newest included.
    pub(crate) taps: usize,
    /// Number of elements that the convolution sees of a token.
    pub(crate) channels: usize,
    /// Number of matrices, rows and columns.
    pub(crate) matrices: (usize, usize, usize),
}

impl LayerStateShape {
    /// Number of elements.
    pub(crate) fn elements(&self) -> usize {
        let (heads, rows, columns) = self.matrices;
        (self.taps - 1) * self.channels + heads * rows * columns
    }
}

impl Recurrence {
    /// The recurrent layers of a family that has such: of a model with `layers` of them, in which `hidden_size` is the length of a
    /// token's vector.
    pub(crate) fn read(
        fields: &JsonFields<'_>,
        family: Family,
        hidden_size: usize,
        layers: usize,
    ) -> Result<Option<Self>, ModelError> {
        let (recurrence, field) = match family {
            family if family.has_delta_nets() => (Self::DeltaNet(DeltaNet::read(fields)?), "linear_num_value_heads"),
            Family::GraniteHybrid => (Self::Mamba2(Mamba2::read(fields, hidden_size)?), "mamba_d_state"),
            Family::NemotronH => (Self::Mamba2(Mamba2::of_nemotron(fields)?), "ssm_state_size"),
            _ => return Ok(None),
        };
        let elements = recurrence.state_shape().elements();
        if elements > MAX_LAYER_ELEMENTS || elements.saturating_mul(layers) > MAX_ELEMENTS {
            let message = format!(
                "{layers} recurrent layers would keep {elements} numbers each; at most {MAX_LAYER_ELEMENTS} for a layer and \
                 {MAX_ELEMENTS} for all"
            );
            return Err(fields.error(field, message));
        }
        Ok(Some(recurrence))
    }

    /// Returns the sizes of a layer's state.
    pub(crate) fn state_shape(&self) -> LayerStateShape {
        match self {
            Self::DeltaNet(sizes) => LayerStateShape {
                taps: sizes.taps,
                channels: sizes.channels(),
                matrices: (sizes.value_heads, sizes.key_dim, sizes.value_dim),
            },
            Self::Mamba2(sizes) => LayerStateShape {
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
    /// Number of groups of heads. The heads of a group share the two vectors by which their states are written and read (`B` and `C` in
    /// the paper).
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
        let heads = fields.size_or("mamba_n_heads", MAX_SIZE, 128)?;
        let width = fields.size_or("mamba_expand", MAX_SIZE, 2)? * hidden_size;
        if width > MAX_WIDTH || !width.is_multiple_of(heads) {
            let message = format!("{heads} heads do not divide a width of {width}, or that is over {MAX_WIDTH}");
            return Err(fields.error("mamba_n_heads", message));
        }
        let groups = fields.size_or("mamba_n_groups", MAX_SIZE, 1)?;
        if !heads.is_multiple_of(groups) {
            let message = format!("{groups} groups do not divide the {heads} heads");
            return Err(fields.error("mamba_n_groups", message));
        }
        let limits = fields.list("time_step_limit")?;
        let is_open = match limits {
            [] => true,
            // JSON has no infinity; transformers writes it so.
            [low, high] => {
                let infinite =
                    *high == json!({"__float__": "Infinity"}) || high.as_f64().is_some_and(|high| high > 1e30);
                low.as_f64() == Some(0.0) && infinite
            }
            _ => false,
        };
        if !is_open {
            return Err(fields.unsupported("time_step_limit", "time steps without limits"));
        }
        Ok(Self {
            heads,
            head_dim: width / heads,
            groups,
            state: fields.size_or("mamba_d_state", MAX_SIZE, 256)?,
            taps: fields.size_or("mamba_d_conv", MAX_SIZE, 4)?,
            convolution_bias: fields.flag("mamba_conv_bias", true)?,
            projection_bias: fields.flag("mamba_proj_bias", false)?,
        })
    }

    /// The sizes in config.json of Nemotron-H, or those that it leaves out.
    fn of_nemotron(fields: &JsonFields<'_>) -> Result<Self, ModelError> {
        let sizes = Self {
            heads: fields.size_or("mamba_num_heads", MAX_SIZE, 128)?,
            head_dim: fields.size_or("mamba_head_dim", MAX_SIZE, 64)?,
            groups: fields.size_or("n_groups", MAX_SIZE, 8)?,
            state: fields.size_or("ssm_state_size", MAX_SIZE, 128)?,
            taps: fields.size_or("conv_kernel", MAX_SIZE, 4)?,
            convolution_bias: fields.flag("use_conv_bias", true)?,
            projection_bias: fields.flag("use_bias", false)?,
        };
        if sizes.width() > MAX_WIDTH || !sizes.heads.is_multiple_of(sizes.groups) {
            let (groups, width) = (sizes.groups, sizes.width());
            let message =
                format!("{groups} groups do not divide the heads, or their width {width} is over {MAX_WIDTH}");
            return Err(fields.error("mamba_num_heads", message));
        }
        Ok(sizes)
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
        let sizes = Self {
            key_heads: fields.size_or("linear_num_key_heads", MAX_SIZE, 16)?,
            value_heads: fields.size_or("linear_num_value_heads", MAX_SIZE, 32)?,
            key_dim: fields.size_or("linear_key_head_dim", MAX_SIZE, 128)?,
            value_dim: fields.size_or("linear_value_head_dim", MAX_SIZE, 128)?,
            taps: fields.size_or("linear_conv_kernel_dim", MAX_SIZE, 4)?,
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

#[cfg(test)]
mod tests {
    use crate::{Family, ModelConfig, RandomCheckpoint};
    use serde_json::{Value, json};

    fn message(family: Family, fields: Value) -> String {
        let mut config = RandomCheckpoint::preset(family, "tiny").unwrap().config;
        if let (Value::Object(config), Value::Object(fields)) = (&mut config, fields) {
            config.extend(fields);
        }
        let config = ModelConfig::from_json("config.json", config.to_string().as_bytes());
        config.expect_err("must be refused").to_string()
    }

    #[test]
    fn states_larger_than_any_models_are_refused() {
        let of_a_layer =
            json!({"linear_num_value_heads": 4096, "linear_key_head_dim": 4096, "linear_value_head_dim": 4096});
        let many_layers = json!({
            "linear_num_value_heads": 64, "linear_key_head_dim": 256, "linear_value_head_dim": 256, "num_hidden_layers": 200,
            "layer_types": vec!["linear_attention"; 200],
        });
        for fields in [of_a_layer, many_layers] {
            let message = message(Family::Qwen35, fields);
            assert!(
                message.contains("`linear_num_value_heads`") && message.contains("would keep"),
                "{message}"
            );
        }
        let wide = json!({"hidden_size": 131_072, "mamba_n_heads": 128, "mamba_d_state": 4096});
        let message = message(Family::GraniteHybrid, wide);
        assert!(
            message.contains("`mamba_d_state`") && message.contains("would keep"),
            "{message}"
        );
    }

    #[test]
    fn time_steps_without_limits_are_written_in_several_ways() {
        for limits in [json!([0.0, {"__float__": "Infinity"}]), json!([0, 1e300]), Value::Null] {
            let mut config = RandomCheckpoint::preset(Family::GraniteHybrid, "tiny").unwrap().config;
            config["time_step_limit"] = limits;
            ModelConfig::from_json("config.json", config.to_string().as_bytes()).unwrap();
        }
        for limits in [
            json!([0.0, "none"]),
            json!([0.0, null]),
            json!([0.0, true]),
            json!([0.0, 1.0]),
        ] {
            let message = message(Family::GraniteHybrid, json!({"time_step_limit": limits}));
            assert!(message.contains("time_step_limit"), "{message}");
        }
    }
}

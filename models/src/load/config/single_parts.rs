//! [`Part`]: layers that have one part each, a mixer or a feed-forward part; Nemotron-H's.

use serde_json::Value;

use crate::error::ModelError;
use crate::load::json_fields::JsonFields;

/// The one part of a layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    Recurrent,
    Attention,
    /// A feed-forward part that all tokens pass.
    Dense,
    /// A feed-forward part with experts.
    Experts,
}

/// The parts of all layers, of which there are at most `limit`.
pub(crate) fn parts(fields: &JsonFields<'_>, limit: usize) -> Result<Vec<Part>, ModelError> {
    const PATTERN: &str = "hybrid_override_pattern";
    let named = ["layers_block_type", "layer_types"].map(|field| Ok::<_, ModelError>((field, fields.list(field)?)));
    let [first, second] = named;
    let (field, names) = match first? {
        (_, []) => second?,
        first => first,
    };
    let unknown = |field: &str, name: String| {
        let hint = "supported: linear_attention, full_attention, mlp, moe (M, *, -, E)";
        fields.unsupported(format!("{field} with {name}"), hint)
    };
    let parts = match (names, fields.text(PATTERN)?) {
        ([], None) => return Err(fields.error(field, "missing; expected a list of names")),
        ([], Some(pattern)) => {
            let parts = pattern.chars().map(|letter| match letter {
                'M' => Ok(Part::Recurrent),
                '*' => Ok(Part::Attention),
                '-' => Ok(Part::Dense),
                'E' => Ok(Part::Experts),
                other => Err(unknown(PATTERN, format!("{other:?}"))),
            });
            parts.collect::<Result<Vec<_>, _>>()?
        }
        (names, _) => {
            let parts = names.iter().map(|name| match name.as_str() {
                Some("linear_attention" | "mamba") => Ok(Part::Recurrent),
                Some("full_attention" | "attention") => Ok(Part::Attention),
                Some("mlp") => Ok(Part::Dense),
                Some("moe") => Ok(Part::Experts),
                _ => Err(unknown(field, Value::to_string(name))),
            });
            parts.collect::<Result<Vec<_>, _>>()?
        }
    };
    if parts.is_empty() || parts.len() > limit {
        return Err(fields.error(field, format!("{} layers; expected 1 to {limit}", parts.len())));
    }
    Ok(parts)
}

//! Counts over generated samples.

use std::collections::{BTreeMap, HashSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use serde::Serialize;
use serde_json::Value;

use crate::ifstruct::{Count, OutputFormat, Sample};

/// Counts over samples.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Statistics {
    /// Number of samples.
    pub samples: u64,
    /// Number of different schemas, by a 64-bit hash of their text.
    pub distinct_schemas: usize,
    /// Number of samples by feature and value, such as `format` and then `json`.
    pub shares: BTreeMap<&'static str, BTreeMap<String, u64>>,
    /// Sizes over all samples, such as `prompt_characters`.
    pub sizes: BTreeMap<&'static str, SizeRange>,
    #[serde(skip)]
    schemas: HashSet<u64>,
    #[serde(skip)]
    values: BTreeMap<&'static str, Vec<usize>>,
}

/// Range of a size over all samples.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct SizeRange {
    /// The smallest.
    pub min: usize,
    /// The median, the lower of the two in the middle.
    pub median: usize,
    /// The mean.
    pub mean: f64,
    /// The largest.
    pub max: usize,
}

impl Statistics {
    /// The counts over `samples`.
    #[must_use]
    pub fn of<'a>(samples: impl IntoIterator<Item = &'a Sample>) -> Self {
        let mut statistics = Self::default();
        for sample in samples {
            statistics.add(sample);
        }
        statistics.finish();
        statistics
    }

    /// Counts one more sample.
    pub fn add(&mut self, sample: &Sample) {
        self.samples += 1;
        let schema = Value::Object(sample.json_schema.clone());
        let mut hasher = DefaultHasher::new();
        schema.to_string().hash(&mut hasher);
        self.schemas.insert(hasher.finish());
        let style = serde_json::to_value(sample.presentation_style).unwrap_or_default();
        let fence = match (
            &sample.code_block_language,
            sample.require_code_block,
            sample.forbid_code_block,
        ) {
            (Some(_), ..) => "required, named",
            (None, true, _) => "required",
            (None, false, true) => "forbidden",
            (None, false, false) => "free",
        };
        let count = match sample.top_level_count {
            None => "free".to_owned(),
            Some(Count::Exactly(exact)) => exact.to_string(),
            Some(Count::Between(low, high)) => format!("{low}-{high}"),
        };
        let shares = [
            ("entity", sample.entity_type.clone()),
            ("style", style.as_str().unwrap_or("unknown").to_owned()),
            ("voice", sample.voice.clone().unwrap_or_else(|| "none".to_owned())),
            (
                "format",
                match sample.output_format {
                    OutputFormat::Json => "json",
                    OutputFormat::Yaml => "yaml",
                }
                .to_owned(),
            ),
            (
                "structure",
                if sample.require_wrapper_key { "wrapped" } else { "list" }.to_owned(),
            ),
            ("fence", fence.to_owned()),
            (
                "commentary",
                if sample.require_no_commentary { "banned" } else { "free" }.to_owned(),
            ),
            ("count", count),
            ("escaping", sample.entity_type.contains("__escaping__").to_string()),
        ];
        for (what, which) in shares {
            *self.shares.entry(what).or_default().entry(which).or_default() += 1;
        }
        let shape = SampleSchemaSize::of(&schema["items"]);
        let sizes = [
            ("fields", shape.fields),
            ("optional_fields", shape.optional),
            ("depth", shape.depth),
            ("prompt_characters", sample.prompt.chars().count()),
        ];
        for (what, size) in sizes {
            self.values.entry(what).or_default().push(size);
        }
    }

    /// Works out `distinct_schemas` and `sizes` of the samples so far.
    pub fn finish(&mut self) {
        self.distinct_schemas = self.schemas.len();
        for (what, values) in &mut self.values {
            values.sort_unstable();
            let share = SizeRange {
                min: values.first().copied().unwrap_or_default(),
                median: values.get((values.len().max(1) - 1) / 2).copied().unwrap_or_default(),
                mean: values.iter().sum::<usize>() as f64 / values.len().max(1) as f64,
                max: values.last().copied().unwrap_or_default(),
            };
            self.sizes.insert(what, share);
        }
    }
}

/// Size of a schema.
#[derive(Default)]
struct SampleSchemaSize {
    /// Properties, at any depth.
    fields: usize,
    /// Properties that may be left out, at any depth.
    optional: usize,
    /// Objects within one another, the outermost counted.
    depth: usize,
}

impl SampleSchemaSize {
    fn of(schema: &Value) -> Self {
        let mut shape = Self::default();
        let mut open = vec![(schema, 1)];
        while let Some((schema, depth)) = open.pop() {
            if let Some(items) = schema.get("items") {
                open.push((items, depth));
            }
            let Some(properties) = schema.get("properties").and_then(Value::as_object) else {
                continue;
            };
            let required = schema["required"].as_array().map_or(0, Vec::len);
            shape.fields += properties.len();
            shape.optional += properties.len().saturating_sub(required);
            shape.depth = shape.depth.max(depth);
            open.extend(properties.values().map(|schema| (schema, depth + 1)));
        }
        shape
    }
}

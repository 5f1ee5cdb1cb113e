//! One request and the requirements on its reply.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A request for structured data, with the requirements on its reply: one row of the public test set, with fields of our own
/// behind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// Seed from which the row was generated; names the row within its file.
    pub seed: u64,
    /// Entity that is asked for, such as `test__recipe`: a split and an entity of the taxonomies.
    pub entity_type: String,
    /// The request as the model reads it.
    pub prompt: String,
    /// The schema of the list of items: `type: array`, with `items` an object. A small part of JSON Schema: `type`, `properties`,
    /// `required`, `items`, `enum`, `minimum`, `maximum`, `minItems`, `maxItems`. No keys beyond `properties` are allowed.
    pub json_schema: Map<String, Value>,
    /// Number of items that the list must have.
    pub top_level_count: Option<Count>,
    /// The key the list must be wrapped under, where it must be.
    pub top_level_key: Option<String>,
    /// Whether the list must be the only member of an object.
    pub require_wrapper_key: bool,
    /// Whether the data must be in a fenced code block.
    pub require_code_block: bool,
    /// Whether there may be nothing beside the data.
    pub require_no_commentary: bool,
    /// The format of the data.
    pub output_format: OutputFormat,
    /// Whether the request forbids a fenced code block. Not in the public set.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub forbid_code_block: bool,
    /// The language that the fence must name, where the request names one. Not in the public set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code_block_language: Option<String>,
    /// Presentation of the structure in the request. Not in the public set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub presentation_style: Option<Presentation>,
    /// Voice in which the request was rewritten as prose, where it was. Not in the public set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub voice: Option<String>,
    /// The model that put the request into other words, where one did. Not in the public set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rewritten_by: Option<String>,
}

/// Number of items that a reply must have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Count {
    /// Exactly this number.
    Exactly(u64),
    /// A number from the first to the second, both included.
    Between(u64, u64),
}

/// The format that a request asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OutputFormat {
    /// One JSON document.
    Json,
    /// One YAML document in block style.
    Yaml,
}

/// Presentation, in a request, of the structure that it asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Presentation {
    /// Plain sentences.
    Prose,
    /// Bullet points with explicit paths, such as `poems[].poem_text`.
    Bullets,
    /// The JSON Schema itself.
    JsonSchema,
    /// A JSON document with the types in place of values.
    AnnotatedJson,
    /// A YAML document with the types in place of values.
    AnnotatedYaml,
    /// One line for each path.
    PathGlossary,
    /// A table in ASCII.
    AsciiTable,
}

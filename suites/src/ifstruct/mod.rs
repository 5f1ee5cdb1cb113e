//! IFStruct: does a model, asked in the many ways people ask, reply with data of the structure they described?
//!
//! A [`Sample`] is one request with the requirements on its reply; the public test set (hub id `LiquidAI/ifstruct-v1.0`) has the
//! same fields. [`Samples`] loads them from a file, a [`SampleGenerator`] makes new ones and [`Statistics`] counts those; a
//! [`Scorer`] judges replies, and [`mod@reference`] writes one that passes; [`recover`] reads the requirements back from a
//! prompt.

mod block_yaml;
mod draw;
mod generate;
mod load;
pub mod recover;
pub mod reference;
mod sample;
mod score;

pub use generate::{
    Difficulty, GenerateError, MAX_SEED, SAMPLES_PER_SEED, SampleGenerator, SizeRange, Split, Statistics,
    TaxonomyError, name_pieces,
};
pub use load::{JsonLines, LoadError, MAX_LINE_BYTES, ReplyRow, Request, RowError, RowProblem, Samples};
pub use sample::{Count, OutputFormat, Presentation, Sample};
pub use score::{
    Failure, FailureKind, Level, MAX_DIGITS, MAX_FAILURES, MAX_JSON_DEPTH, MAX_REPLY_BYTES, MAX_VALUES, MAX_YAML_DEPTH,
    SchemaError, Score, Scorer,
};

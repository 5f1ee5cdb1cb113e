//! Loading samples, and replies to them: JSON Lines, and the hub's parquet files.

mod error;
mod json_lines;

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use parquet::errors::ParquetError;
use parquet::file::reader::FileReader;
use parquet::record::Field;
use serde_json::{Map, Value};

use super::Sample;
use crate::dataset::parquet_file::{MAX_TEXT_BYTES, guarded, open, rows, take_text};
pub use error::{LoadError, MAX_LINE_BYTES, RowError, RowProblem};
use json_lines::Fields;
pub use json_lines::JsonLines;

/// The file of the public test set.
const TEST_SET: &str = "test.parquet";

/// The samples of a file.
#[derive(Clone, Debug, Default)]
pub struct Samples {
    samples: Vec<Sample>,
    by_seed: HashMap<u64, (usize, usize)>,
    /// The rows that cannot be used.
    pub errors: Vec<RowError>,
}

impl Samples {
    /// Loads a file: parquet where its name ends so, else JSON Lines. Of a directory, the file of the public test set in it.
    ///
    /// A row has the fields of [`Sample`]. As on the hub, `json_schema` and `top_level_count` may be strings of JSON, and
    /// `doc_id` may stand for `seed`; other fields are ignored.
    ///
    /// # Errors
    ///
    /// A file that cannot be read. Rows that cannot be used are in [`Self::errors`].
    pub fn load(path: &Path) -> Result<Self, LoadError> {
        let test_set = path.join(TEST_SET);
        let path = if path.is_dir() { &test_set } else { path };
        let mut loaded = Self::default();
        let is_parquet = path
            .extension()
            .is_some_and(|extension| extension.eq_ignore_ascii_case("parquet"));
        if is_parquet {
            for (number, row) in parquet_rows(path)?.into_iter().enumerate() {
                loaded.add(path, number + 1, row.and_then(sample));
            }
            return Ok(loaded);
        }
        let unreadable = |source| LoadError::Unreadable {
            path: path.to_owned(),
            source,
        };
        let file = File::open(path).map_err(unreadable)?;
        for line in JsonLines::new(BufReader::new(file)) {
            let (number, row) = line.map_err(unreadable)?;
            loaded.add(path, number, row.and_then(sample));
        }
        Ok(loaded)
    }

    /// All samples that can be used, in the file's order.
    #[must_use]
    pub fn all(&self) -> &[Sample] {
        &self.samples
    }

    /// The sample with this seed.
    #[must_use]
    pub fn with_seed(&self, seed: u64) -> Option<&Sample> {
        self.by_seed.get(&seed).map(|&(at, _)| &self.samples[at])
    }

    /// Samples made elsewhere; of those with the same seed, the first.
    #[must_use]
    pub fn of(samples: impl IntoIterator<Item = Sample>) -> Self {
        let mut kept = Self::default();
        for sample in samples {
            if let Entry::Vacant(place) = kept.by_seed.entry(sample.seed) {
                place.insert((kept.samples.len(), kept.samples.len() + 1));
                kept.samples.push(sample);
            }
        }
        kept
    }

    fn add(&mut self, file: &Path, row: usize, sample: Result<Sample, RowProblem>) {
        let sample = sample.and_then(|sample| match self.by_seed.get(&sample.seed) {
            Some(&(_, earlier)) => Err(RowProblem::SeedTaken {
                seed: sample.seed,
                earlier,
            }),
            None => Ok(sample),
        });
        match sample {
            Ok(sample) => {
                self.by_seed.insert(sample.seed, (self.samples.len(), row));
                self.samples.push(sample);
            }
            Err(problem) => self.errors.push(RowError {
                file: file.to_owned(),
                row,
                problem,
            }),
        }
    }
}

/// A line with a reply: a whole sample with the member `response`, or the `seed` of one with it.
#[derive(Clone, Debug, PartialEq)]
pub struct ReplyRow {
    /// The request that is answered.
    pub request: Request,
    /// The reply.
    pub response: String,
}

/// The request that a reply answers.
#[derive(Clone, Debug, PartialEq)]
pub enum Request {
    /// A sample in the same line.
    Whole(Box<Sample>),
    /// The seed of a sample.
    Seed(u64),
}

impl ReplyRow {
    /// Takes a line's object apart.
    ///
    /// # Errors
    ///
    /// The missing member.
    pub fn new(mut row: Map<String, Value>) -> Result<Self, RowProblem> {
        let Some(Value::String(response)) = row.remove("response") else {
            return Err(RowProblem::NoResponse);
        };
        let request = if row.contains_key("json_schema") {
            Request::Whole(Box::new(sample(row)?))
        } else {
            Request::Seed(seed(&row).ok_or(RowProblem::NoSample)?)
        };
        Ok(Self { request, response })
    }

    /// The sample that the reply is to, from the line itself or from `samples`.
    ///
    /// # Errors
    ///
    /// A seed without a sample.
    pub fn sample<'a>(&'a self, samples: Option<&'a Samples>) -> Result<&'a Sample, RowProblem> {
        match (&self.request, samples) {
            (Request::Whole(sample), _) => Ok(sample),
            (Request::Seed(_), None) => Err(RowProblem::NoSample),
            (&Request::Seed(seed), Some(samples)) => samples.with_seed(seed).ok_or(RowProblem::UnknownSeed { seed }),
        }
    }
}

/// The sample in a row.
fn sample(mut row: Map<String, Value>) -> Result<Sample, RowProblem> {
    for field in ["json_schema", "top_level_count"] {
        let Some(Value::String(text)) = row.get(field) else {
            continue;
        };
        let parsed = serde_json::from_str(text);
        let parsed = parsed.map_err(|error| RowProblem::NotASample(format!("`{field}` is not JSON: {error}")))?;
        row.insert(field.to_owned(), parsed);
    }
    if let Some(seed) = seed(&row) {
        row.insert("seed".to_owned(), seed.into());
    }
    serde_json::from_value(Value::Object(row)).map_err(|error| RowProblem::NotASample(error.to_string()))
}

/// Returns the seed of a row, or the id that stands for it on the hub: a number, or the text of one.
fn seed(row: &Map<String, Value>) -> Option<u64> {
    match row.get("seed").or_else(|| row.get("doc_id"))? {
        Value::String(text) => text.parse().ok(),
        number => number.as_u64(),
    }
}

/// The rows of a parquet file.
fn parquet_rows(path: &Path) -> Result<Vec<Fields>, LoadError> {
    let read = guarded(|| {
        let reader = open(path)?;
        rows(reader.metadata().file_metadata().num_rows())?;
        let mut room = MAX_TEXT_BYTES;
        let rows = reader.get_row_iter(None)?;
        rows.map(|row| fields(&row?, &mut room)).collect()
    });
    read.map_err(|message| LoadError::NotParquet {
        path: path.to_owned(),
        message,
    })
}

/// The members of a row that samples have. The bytes of its texts are taken off `room`.
fn fields(row: &parquet::record::Row, room: &mut usize) -> Result<Fields, ParquetError> {
    let mut members = Map::new();
    for (name, field) in row.get_column_iter() {
        let value = match field {
            Field::Null => Value::Null,
            Field::Bool(value) => (*value).into(),
            Field::Byte(value) => (*value).into(),
            Field::Short(value) => (*value).into(),
            Field::Int(value) => (*value).into(),
            Field::Long(value) => (*value).into(),
            Field::UByte(value) => (*value).into(),
            Field::UShort(value) => (*value).into(),
            Field::UInt(value) => (*value).into(),
            Field::ULong(value) => (*value).into(),
            Field::Str(text) => text.as_str().into(),
            Field::Bytes(bytes) => String::from_utf8_lossy(bytes.data()).into(),
            // Whatever else there is beside a sample's fields.
            _ => continue,
        };
        take_text(room, value.as_str().map_or(0, str::len))?;
        members.insert(name.clone(), value);
    }
    Ok(Ok(members))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use parquet::data_type::{BoolType, ByteArray, ByteArrayType, Int64Type};
    use parquet::file::writer::SerializedFileWriter;
    use parquet::schema::parser::parse_message_type;
    use serde_json::json;

    use super::super::Count;
    use super::*;

    fn row(seed: u64) -> Value {
        json!({
            "seed": seed, "entity_type": "test__a", "prompt": "p", "json_schema": {"type": "array"}, "top_level_count": [2, 4],
            "top_level_key": "k", "require_wrapper_key": true, "require_code_block": false, "require_no_commentary": true,
            "output_format": "yaml"
        })
    }

    #[test]
    fn bad_lines_end_nothing() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("samples.jsonl");
        let mut hub = row(0);
        hub["doc_id"] = json!("7");
        hub["json_schema"] = json!("{\"type\": \"array\"}");
        hub["top_level_count"] = json!("3");
        hub.as_object_mut().unwrap().remove("seed");
        let mut incomplete = row(3);
        incomplete.as_object_mut().unwrap().remove("output_format");
        let mut malformed = row(4);
        malformed["json_schema"] = json!("{");
        let mut text = format!("{}\n\n{hub}\r\n[]\n{incomplete}\n{malformed}\n{}\n{{\n", row(1), row(1)).into_bytes();
        text.extend_from_slice(b"\"\xff\"\n");
        text.extend_from_slice(row(5).to_string().as_bytes());
        std::fs::write(&path, text).unwrap();
        let samples = Samples::load(&path).unwrap();
        let seeds: Vec<u64> = samples.all().iter().map(|sample| sample.seed).collect();
        assert_eq!(seeds, [1, 7, 5]);
        assert_eq!(
            samples.with_seed(1).unwrap().top_level_count,
            Some(Count::Between(2, 4))
        );
        assert_eq!(samples.with_seed(7).unwrap().top_level_count, Some(Count::Exactly(3)));
        assert_eq!(samples.with_seed(2), None);
        let rows: Vec<usize> = samples.errors.iter().map(|error| error.row).collect();
        assert_eq!(rows, [4, 5, 6, 7, 8, 9]);
        let said = samples
            .errors
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join("\n");
        for part in [
            "samples.jsonl:4: not a JSON object",
            "missing field `output_format`",
            "`json_schema` is not JSON",
        ] {
            assert!(said.contains(part), "{said}");
        }
        assert_eq!(samples.errors[3].problem, RowProblem::SeedTaken { seed: 1, earlier: 1 });
        assert!(matches!(samples.errors[5].problem, RowProblem::NotUtf8 { offset: 1 }));
        assert!(matches!(
            Samples::load(&path.with_extension("none")),
            Err(LoadError::Unreadable { .. })
        ));
    }

    #[test]
    fn replies_name_or_hold_their_sample() {
        let reply = |row: Value| ReplyRow::new(row.as_object().unwrap().clone());
        let mut whole = row(1);
        whole["response"] = json!("r");
        let found = reply(whole).unwrap();
        assert_eq!(found.sample(None).unwrap().seed, 1);
        let named = reply(json!({"seed": 2, "response": "r"})).unwrap();
        assert_eq!(named.request, Request::Seed(2));
        assert_eq!(named.sample(None), Err(RowProblem::NoSample));
        assert_eq!(
            named.sample(Some(&Samples::default())),
            Err(RowProblem::UnknownSeed { seed: 2 })
        );
        assert_eq!(reply(json!({"seed": 2})), Err(RowProblem::NoResponse));
        assert_eq!(reply(json!({"response": "r"})), Err(RowProblem::NoSample));
    }

    #[test]
    fn the_hubs_parquet_file_is_read() {
        let directory = tempfile::tempdir().unwrap();
        let columns = [
            "required int64 doc_id;",
            "required binary entity_type (UTF8);",
            "required binary prompt (UTF8);",
            "required binary json_schema (UTF8);",
            "required binary top_level_count (UTF8);",
            "required binary output_format (UTF8);",
            "required boolean require_wrapper_key;",
            "required boolean require_code_block;",
            "required boolean require_no_commentary;",
        ];
        let schema = parse_message_type(&format!("message m {{ {} }}", columns.join(" "))).unwrap();
        let file = File::create(directory.path().join(TEST_SET)).unwrap();
        let mut writer = SerializedFileWriter::new(file, Arc::new(schema), Arc::default()).unwrap();
        let mut group = writer.next_row_group().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        column.typed::<Int64Type>().write_batch(&[8, 9], None, None).unwrap();
        column.close().unwrap();
        for texts in [
            ["test__a", "test__b"],
            ["p", "q"],
            [r#"{"type": "array"}"#, "{"],
            ["[1, 2]", "null"],
            ["json", "json"],
        ] {
            let mut column = group.next_column().unwrap().unwrap();
            let texts = texts.map(ByteArray::from);
            column.typed::<ByteArrayType>().write_batch(&texts, None, None).unwrap();
            column.close().unwrap();
        }
        for _ in 0..3 {
            let mut column = group.next_column().unwrap().unwrap();
            column
                .typed::<BoolType>()
                .write_batch(&[true, false], None, None)
                .unwrap();
            column.close().unwrap();
        }
        group.close().unwrap();
        writer.close().unwrap();
        let samples = Samples::load(directory.path()).unwrap();
        assert_eq!(samples.all().len(), 1);
        let sample = samples.with_seed(8).unwrap();
        assert_eq!(
            (sample.require_code_block, sample.top_level_count),
            (true, Some(Count::Between(1, 2)))
        );
        assert_eq!(sample.json_schema["type"], "array");
        assert_eq!(samples.errors[0].row, 2);
        std::fs::write(directory.path().join(TEST_SET), "PAR1").unwrap();
        assert!(matches!(
            Samples::load(directory.path()),
            Err(LoadError::NotParquet { .. })
        ));
    }
}

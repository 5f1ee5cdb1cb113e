//! The hub's parquet files: one schema per row, in columns `json_schema` and `unique_id`.

use std::collections::HashSet;
use std::fs::File;
use std::io::Read as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use parquet::column::reader::ColumnReader;
use parquet::data_type::ByteArray;
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, RowGroupReader, SerializedFileReader};

use super::Instance;
use super::error::{InstanceError, InstanceErrorKind};
use crate::json_text::{GIT_LFS_POINTER, is_git_lfs_pointer};

const SCHEMA_COLUMN: &str = "json_schema";
const ID_COLUMN: &str = "unique_id";

/// The most rows that a file may claim; JSONSchemaBench has 9,558 in all.
const MAX_ROWS: usize = 1 << 24;

/// The most bytes of text that a file's rows may have in all; JSONSchemaBench's have 200 MB. A file of some kilobytes may unfold
/// into as many gigabytes.
pub(crate) const MAX_TEXT_BYTES: usize = 1 << 30;

/// Number of rows that are decoded before their bytes are counted.
const BATCH_ROWS: usize = 16;

/// Returns the number of rows in the file; an unreadable file counts as one row, for which [`read`] gives one instance with an
/// error.
pub(super) fn count(path: &Path) -> usize {
    guarded(|| rows(open(path)?.metadata().file_metadata().num_rows())).unwrap_or(1)
}

/// The instances of the file, one for each row for which `wanted` is true of its number.
///
/// An unreadable file gives one instance with an error, named after the file. A row without an id, or with one that is in `seen` already, is
/// named after the file and its number; the other ids are added to `seen`, those of rows that are not wanted included.
pub(super) fn read(
    dataset: &str,
    path: &Path,
    wanted: impl Fn(usize) -> bool,
    seen: &mut HashSet<String>,
) -> Vec<Instance> {
    let cells = guarded(|| {
        let reader = open(path)?;
        rows(reader.metadata().file_metadata().num_rows())?;
        let (mut cells, mut room) = (Vec::new(), MAX_TEXT_BYTES);
        for group in 0..reader.num_row_groups() {
            cells.extend(read_group(reader.get_row_group(group)?.as_ref(), &mut room)?);
        }
        Ok(cells)
    });
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    match cells {
        Ok(cells) => cells
            .into_iter()
            .enumerate()
            .map(|(number, (id, schema))| (number, id.filter(|id| seen.insert(id.clone())), schema))
            .filter(|(number, ..)| wanted(*number))
            .map(|(number, id, schema)| {
                let id = id.unwrap_or_else(|| format!("{stem}-{number}"));
                match schema {
                    Some(schema) => Instance::new(dataset, id, Some(path), Some(number), schema.data().to_vec()),
                    None => failed(
                        dataset,
                        id,
                        path,
                        Some(number),
                        InstanceErrorKind::NoText { column: SCHEMA_COLUMN },
                    ),
                }
            })
            .collect(),
        Err(message) => vec![failed(
            dataset,
            stem.into_owned(),
            path,
            None,
            InstanceErrorKind::Unreadable(message),
        )],
    }
}

fn failed(dataset: &str, id: String, path: &Path, row: Option<usize>, kind: InstanceErrorKind) -> Instance {
    Instance {
        schema: Err(InstanceError::new(dataset, &id, Some(path), row, kind)),
        id,
    }
}

/// Opens a file; its metadata is read.
pub(crate) fn open(path: &Path) -> Result<SerializedFileReader<File>, ParquetError> {
    let mut beginning = Vec::new();
    File::open(path)?.take(64).read_to_end(&mut beginning)?;
    if is_git_lfs_pointer(&beginning) {
        return Err(ParquetError::General(GIT_LFS_POINTER.to_owned()));
    }
    SerializedFileReader::new(File::open(path)?)
}

/// A number of rows as metadata claim it.
pub(crate) fn rows(claimed: i64) -> Result<usize, ParquetError> {
    let rows = usize::try_from(claimed).ok().filter(|&rows| rows <= MAX_ROWS);
    rows.ok_or_else(|| ParquetError::General(format!("{claimed} rows claimed, at most {MAX_ROWS} are read")))
}

/// Id and schema of one row.
type Cells = (Option<String>, Option<ByteArray>);

/// The rows of one group, whose texts have to fit into `room` bytes.
fn read_group(group: &dyn RowGroupReader, room: &mut usize) -> Result<Vec<Cells>, ParquetError> {
    let schemas = strings(group, SCHEMA_COLUMN, room)?
        .ok_or_else(|| ParquetError::General(format!("there is no column `{SCHEMA_COLUMN}` of strings")))?;
    let ids = strings(group, ID_COLUMN, room)?.unwrap_or_default();
    let ids = ids
        .into_iter()
        .map(|id| id.and_then(|id| String::from_utf8(id.data().to_vec()).ok()))
        .chain(std::iter::repeat(None));
    Ok(ids.zip(schemas).collect())
}

/// The values of a column of strings, `None` where there is no such column. Their bytes are taken off `room`.
fn strings(
    group: &dyn RowGroupReader,
    name: &str,
    room: &mut usize,
) -> Result<Option<Vec<Option<ByteArray>>>, ParquetError> {
    let columns = group.metadata().columns();
    let Some(index) = columns.iter().position(|column| column.column_path().string() == name) else {
        return Ok(None);
    };
    let ColumnReader::ByteArrayColumnReader(mut reader) = group.get_column_reader(index)? else {
        return Ok(None);
    };
    let highest = columns[index].column_descr().max_def_level();
    let rows = rows(group.metadata().num_rows())?;
    let (mut levels, mut values) = (Vec::new(), Vec::<ByteArray>::new());
    let mut read = 0;
    while read < rows {
        let batch = BATCH_ROWS.min(rows - read);
        let known = values.len();
        let (records, _, _) = reader.read_records(batch, Some(&mut levels), None, &mut values)?;
        let bytes: usize = values[known..].iter().map(ByteArray::len).sum();
        take_text(room, bytes)?;
        if records == 0 {
            break;
        }
        read += records;
    }
    if highest == 0 {
        return Ok(Some(values.into_iter().map(Some).collect()));
    }
    // A row below the highest definition level is a null, and has no value.
    let mut values = values.into_iter();
    let cells = levels
        .into_iter()
        .map(|level| if level == highest { values.next() } else { None });
    Ok(Some(cells.collect()))
}

/// Takes the bytes of a text off the `room` that is left of [`MAX_TEXT_BYTES`].
pub(crate) fn take_text(room: &mut usize, bytes: usize) -> Result<(), ParquetError> {
    let left = room.checked_sub(bytes);
    *room = left.ok_or_else(|| {
        ParquetError::General(format!(
            "its texts have more than {} MiB in all, which is the limit",
            MAX_TEXT_BYTES >> 20
        ))
    })?;
    Ok(())
}

/// Runs `work`, with a panic of the parquet crate over a malformed file as an error.
pub(crate) fn guarded<T>(work: impl FnOnce() -> Result<T, ParquetError>) -> Result<T, String> {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(result) => result.map_err(|error| error.to_string()),
        Err(_) => Err("malformed parquet file".to_owned()),
    }
}

//! Layouts, selection, and rows that cannot be used.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use maskwright_suites::dataset::{Catalog, Dataset, DatasetError, InstanceErrorKind, MAX_SCHEMA_BYTES, Subsample};
use parquet::basic::{Compression, ZstdLevel};
use parquet::data_type::{ByteArray, ByteArrayType};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use tempfile::TempDir;

fn write(root: &Path, path: &str, content: impl AsRef<[u8]>) {
    let path = root.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
}

fn catalog(root: &Path) -> Catalog {
    let mut catalog = Catalog::empty();
    catalog.add_directory(root).unwrap();
    catalog
}

fn names(catalog: &Catalog) -> Vec<(String, usize)> {
    catalog
        .available()
        .into_iter()
        .map(|available| (available.name, available.count))
        .collect()
}

fn ids(dataset: &Dataset) -> Vec<&str> {
    dataset.instances.iter().map(|instance| instance.id.as_str()).collect()
}

fn one(catalog: &Catalog, name: &str, sample: Subsample) -> Dataset {
    catalog.select(&[name], sample).unwrap().remove(0)
}

/// A file as the hub has them, with one row group for each slice of rows.
fn write_parquet(root: &Path, path: &str, compression: Compression, groups: &[&[(Option<&str>, &str)]]) {
    let path = root.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let message = "message schema { OPTIONAL BYTE_ARRAY json_schema (UTF8); REQUIRED BYTE_ARRAY unique_id (UTF8); }";
    let properties = WriterProperties::builder()
        .set_compression(compression)
        .set_dictionary_page_size_limit(64 << 20)
        .build();
    let schema = Arc::new(parse_message_type(message).unwrap());
    let mut writer = SerializedFileWriter::new(fs::File::create(path).unwrap(), schema, Arc::new(properties)).unwrap();
    for rows in groups {
        let mut group = writer.next_row_group().unwrap();
        let levels: Vec<i16> = rows.iter().map(|(schema, _)| i16::from(schema.is_some())).collect();
        let schemas: Vec<ByteArray> = rows
            .iter()
            .filter_map(|(schema, _)| schema.map(ByteArray::from))
            .collect();
        let ids: Vec<ByteArray> = rows.iter().map(|(_, id)| ByteArray::from(*id)).collect();
        let mut column = group.next_column().unwrap().unwrap();
        column
            .typed::<ByteArrayType>()
            .write_batch(&schemas, Some(&levels), None)
            .unwrap();
        column.close().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        column.typed::<ByteArrayType>().write_batch(&ids, None, None).unwrap();
        column.close().unwrap();
        group.close().unwrap();
    }
    writer.close().unwrap();
}

#[test]
fn json_layouts_are_found_from_the_root_from_data_and_from_a_data_set() {
    let root = TempDir::new().unwrap();
    let text = "{\"type\" :  \"string\"}\n";
    write(root.path(), "README.md", "not a schema");
    write(root.path(), "tools/data.json", "{}");
    write(root.path(), "data/Zoo/b.json", text);
    write(root.path(), "data/Zoo/a.json", "true");
    write(root.path(), "data/Zoo/notes.txt", "no");
    write(root.path(), "data/Zoo/.hidden.json", "no");
    write(root.path(), "data/Ant/x.y.json", "{}");
    write(root.path(), "data/Empty/README.md", "no");
    let expected = vec![("Ant".to_owned(), 1), ("Zoo".to_owned(), 2)];
    assert_eq!(names(&catalog(root.path())), expected);
    assert_eq!(names(&catalog(&root.path().join("data"))), expected);
    let own = catalog(&root.path().join("data/Zoo"));
    assert_eq!(names(&own), [("Zoo".to_owned(), 2)]);
    let zoo = one(&own, "zoo", Subsample::default());
    assert_eq!(ids(&zoo), ["a", "b"]);
    assert_eq!(zoo.instances[1].schema.as_deref(), Ok(text));
    assert_eq!(ids(&one(&catalog(root.path()), "Ant", Subsample::default())), ["x.y"]);
}

#[test]
fn ids_are_unique_in_all_files_of_a_data_set_whatever_is_chosen() {
    let root = TempDir::new().unwrap();
    for split in ["test", "train"] {
        let rows: &[(Option<&str>, &str)] = &[(Some("{}"), "0"), (Some("true"), "1")];
        write_parquet(
            root.path(),
            &format!("mine/{split}.parquet"),
            Compression::UNCOMPRESSED,
            &[rows],
        );
    }
    let catalog = catalog(root.path());
    let all = one(&catalog, "mine", Subsample::default());
    assert_eq!(ids(&all), ["0", "1", "train-0", "train-1"]);
    for seed in 0..8 {
        let chosen = Subsample {
            limit: Some(1),
            seed: Some(seed),
        };
        let instance = one(&catalog, "mine", chosen).instances.remove(0);
        assert!(all.instances.contains(&instance), "{}", instance.id);
    }
}

#[test]
fn parquet_layouts_and_compressions_are_read() {
    let root = TempDir::new().unwrap();
    let zstd = Compression::ZSTD(ZstdLevel::default());
    let rows: &[(Option<&str>, &str)] = &[(Some("{}"), "o1"), (None, "o2"), (Some("{\"a\":"), "o3")];
    write_parquet(
        root.path(),
        "Github_easy/test-00000-of-00001.parquet",
        Compression::SNAPPY,
        &[rows, &[(Some("true"), "o4")]],
    );
    write_parquet(
        root.path(),
        "Github_easy/train-00000-of-00001.parquet",
        zstd,
        &[&[(Some("[]"), "o5")]],
    );
    write_parquet(
        root.path(),
        "Snowplow-test.parquet",
        Compression::UNCOMPRESSED,
        &[&[(Some("{}"), "s1")]],
    );
    write_parquet(
        root.path(),
        "Snowplow-train.parquet",
        Compression::UNCOMPRESSED,
        &[&[(Some("{}"), "s2")]],
    );
    let catalog = catalog(root.path());
    assert_eq!(
        names(&catalog),
        [("Github_easy".to_owned(), 5), ("Snowplow".to_owned(), 2)]
    );
    assert_eq!(ids(&one(&catalog, "Snowplow", Subsample::default())), ["s1", "s2"]);
    let easy = one(&catalog, "Github-Easy", Subsample::default());
    assert_eq!(ids(&easy), ["o1", "o2", "o3", "o4", "o5"]);
    let kinds: Vec<bool> = easy.instances.iter().map(|instance| instance.schema.is_ok()).collect();
    assert_eq!(kinds, [true, false, false, true, true]);
    let error = easy.instances[1].schema.as_ref().unwrap_err();
    assert_eq!(
        (error.row(), error.kind()),
        (Some(1), &InstanceErrorKind::NoText { column: "json_schema" })
    );
    let limited = Subsample {
        limit: Some(4),
        seed: None,
    };
    assert_eq!(ids(&one(&catalog, "Github_easy", limited)), ["o1", "o2", "o3", "o4"]);
}

#[test]
fn rows_with_the_id_of_an_earlier_row_are_named_by_their_number() {
    let root = TempDir::new().unwrap();
    let rows: &[(Option<&str>, &str)] = &[(Some("{}"), "o1"), (Some("true"), "o1"), (Some("[]"), "o2")];
    write_parquet(root.path(), "D/a.parquet", Compression::SNAPPY, &[rows]);
    let catalog = catalog(root.path());
    assert_eq!(ids(&one(&catalog, "D", Subsample::default())), ["o1", "a-1", "o2"]);
    // Names do not depend on which rows are chosen.
    for seed in 0..8 {
        let sample = Subsample {
            limit: Some(1),
            seed: Some(seed),
        };
        let chosen = one(&catalog, "D", sample);
        let expected = match chosen.instances[0].schema.as_deref() {
            Ok("{}") => "o1",
            Ok("true") => "a-1",
            _ => "o2",
        };
        assert_eq!(ids(&chosen), [expected]);
    }
}

#[test]
fn a_broken_parquet_file_is_one_row_with_an_error() {
    let root = TempDir::new().unwrap();
    write_parquet(
        root.path(),
        "D/b.parquet",
        Compression::SNAPPY,
        &[&[(Some("{\"type\": \"string\"}"), "o1")]],
    );
    let whole = fs::read(root.path().join("D/b.parquet")).unwrap();
    write(root.path(), "D/a.parquet", "PAR1 nonsense PAR1");
    for at in 0..whole.len() {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x55;
        write(root.path(), "D/c.parquet", &bytes);
        let dataset = one(&catalog(root.path()), "D", Subsample::default());
        assert_eq!(dataset.instances[0].id, "a");
        assert!(matches!(
            dataset.instances[0].schema.as_ref().unwrap_err().kind(),
            InstanceErrorKind::Unreadable(_)
        ));
        assert!(dataset.instances[1].schema.is_ok());
    }
}

#[test]
fn a_small_parquet_file_that_unfolds_into_gigabytes_is_an_error() {
    let root = TempDir::new().unwrap();
    let large = format!("\"{}\"", "x".repeat(31 << 20));
    let rows = vec![(Some(large.as_str()), "o1"); 40];
    let zstd = Compression::ZSTD(ZstdLevel::default());
    write_parquet(root.path(), "D/a.parquet", zstd, &[&rows]);
    assert!(fs::metadata(root.path().join("D/a.parquet")).unwrap().len() < 1 << 20);
    let dataset = one(&catalog(root.path()), "D", Subsample::default());
    let error = dataset.instances[0].schema.as_ref().unwrap_err().to_string();
    assert_eq!(dataset.instances.len(), 1);
    assert!(error.contains("its texts have more than 1024 MiB in all"), "{error}");
}

#[test]
fn rows_that_cannot_be_used_do_not_end_a_run() {
    let root = TempDir::new().unwrap();
    write(root.path(), "D/a-bom.json", "\u{feff}{}");
    write(root.path(), "D/b-empty.json", "");
    write(root.path(), "D/c-latin.json", b"{\"a\": \"\xe9\"}");
    write(root.path(), "D/d-cut.json", "{\"a\": [1,\n 2");
    write(
        root.path(),
        "D/e-deep.json",
        format!("{}1{}", "[".repeat(200_000), "]".repeat(200_000)),
    );
    fs::File::create(root.path().join("D/f-large.json"))
        .unwrap()
        .set_len(200 << 20)
        .unwrap();
    write(root.path(), "D/g-good.json", "{\"$ref\": \"#\"}");
    let dataset = one(&catalog(root.path()), "D", Subsample::default());
    let mut found = dataset
        .instances
        .iter()
        .map(|instance| instance.schema.as_ref().map_err(|error| error.kind().clone()));
    let mut next = || found.next().unwrap();
    assert_eq!(next().unwrap(), "{}");
    assert_eq!(next(), Err(InstanceErrorKind::Empty));
    assert_eq!(next(), Err(InstanceErrorKind::NotUtf8 { offset: 7 }));
    assert!(matches!(next(), Err(InstanceErrorKind::NotJson(error)) if error.line == 2));
    assert!(next().is_ok());
    assert_eq!(next(), Err(InstanceErrorKind::TooLarge { bytes: 200 << 20 }));
    assert!(next().is_ok());
    let message = dataset.instances[3].schema.as_ref().unwrap_err().to_string();
    assert!(
        message.contains("D/d-cut") && message.contains("line 2, column 3"),
        "{message}"
    );
    assert!(
        Dataset::from_texts("m", [("x".to_owned(), " ".repeat(MAX_SCHEMA_BYTES + 1))]).instances[0]
            .schema
            .is_err()
    );
}

#[cfg(unix)]
#[test]
fn links_that_lead_nowhere_are_rows_with_an_error() {
    let root = TempDir::new().unwrap();
    write(root.path(), "D/good.json", "{}");
    std::os::unix::fs::symlink("missing", root.path().join("D/bad.json")).unwrap();
    let dataset = one(&catalog(root.path()), "D", Subsample::default());
    assert!(matches!(
        dataset.instances[0].schema.as_ref().unwrap_err().kind(),
        InstanceErrorKind::Unreadable(_)
    ));
    assert!(dataset.instances[1].schema.is_ok());
}

#[test]
fn samples_are_reproducible_nested_and_in_order() {
    let texts = (0..200).map(|number| (format!("{number:03}"), "{}".to_owned()));
    let mut catalog = Catalog::builtin();
    catalog.add(Dataset::from_texts("many", texts)).unwrap();
    let drawn = |limit, seed| -> Vec<String> {
        let dataset = one(
            &catalog,
            "many",
            Subsample {
                limit: Some(limit),
                seed,
            },
        );
        ids(&dataset).into_iter().map(str::to_owned).collect()
    };
    assert_eq!(drawn(3, None), ["000", "001", "002"]);
    assert_eq!(drawn(500, Some(1)).len(), 200);
    assert_eq!(
        drawn(5, Some(7)),
        ["013", "105", "112", "119", "132"],
        "samples of earlier runs must stay the same"
    );
    for limit in 1..200 {
        let (small, large) = (drawn(limit, Some(7)), drawn(limit + 1, Some(7)));
        assert!(large.is_sorted() && small.len() == limit);
        assert!(small.iter().all(|id| large.contains(id)));
    }
    assert_ne!(drawn(10, Some(7)), drawn(10, Some(8)));
}

#[test]
fn names_are_forgiving_and_errors_helpful() {
    let root = TempDir::new().unwrap();
    write(root.path(), "data/Glaiveai2K/a.json", "{}");
    write(root.path(), "data/JsonSchemaStore/a.json", "{}");
    let mut catalog = Catalog::builtin();
    catalog.add_directory(root.path()).unwrap();
    let chosen = catalog
        .select(&["JSONSchemaStore", "GlaiveAI-2K", "glaiveai2k"], Subsample::default())
        .unwrap();
    let chosen: Vec<&str> = chosen.iter().map(|dataset| dataset.name.as_str()).collect();
    assert_eq!(chosen, ["JsonSchemaStore", "Glaiveai2K"]);
    assert_eq!(catalog.select::<&str>(&[], Subsample::default()).unwrap().len(), 3);
    let error = catalog
        .select(&["JsonSchemaStor"], Subsample::default())
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("did you mean JsonSchemaStore?") && error.contains("builtin"),
        "{error}"
    );
    let error = catalog.select(&["Quux"], Subsample::default()).unwrap_err().to_string();
    assert!(!error.contains("did you mean"), "{error}");
    assert!(matches!(
        catalog.add_directory(root.path()),
        Err(DatasetError::NameTaken { .. })
    ));
    let mut empty = Catalog::empty();
    assert!(matches!(
        empty.add_directory(&root.path().join("missing")),
        Err(DatasetError::NoDirectory { .. })
    ));
    fs::write(root.path().join("schema.json"), "{}").unwrap();
    let said = empty.add_directory(&root.path().join("schema.json")).unwrap_err();
    assert!(
        said.to_string()
            .ends_with("is a file: --data takes a directory; put the schema into one"),
        "{said}"
    );
    fs::create_dir(root.path().join("nothing")).unwrap();
    assert!(matches!(
        empty.add_directory(&root.path().join("nothing")),
        Err(DatasetError::NothingFound { .. })
    ));
}

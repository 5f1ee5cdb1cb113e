//! [`DocumentLibrary`]: documents beside the schemas, which these refer to.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::error::CommandError;

/// Depth of folders to which a directory of documents is searched.
const MAX_FOLDERS: usize = 16;

/// Keywords whose values name other documents.
const REFERENCES: [&str; 4] = ["$ref", "$dynamicRef", "$recursiveRef", "$schema"];

/// Keywords whose values name parts of a document.
const IDENTIFIERS: [&str; 2] = ["$id", "id"];

/// Beginnings of the URIs of meta-schemas, which frameworks have themselves.
const META_SCHEMAS: [&str; 2] = ["http://json-schema.org/", "https://json-schema.org/"];

/// Advice added to an error about a reference to a document that was not handed over.
const HINT: &str = "hand documents over with --documents DIR|FILE";

/// Documents that schemas may refer to, each by its identifier or by its place.
#[derive(Debug, Default)]
pub struct DocumentLibrary {
    documents: Vec<Document>,
}

/// A run's documents, as its manifest has them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DocumentSettings {
    /// Number of documents.
    pub count: usize,
    /// SHA-256 of their places and texts, in order.
    pub sha256: String,
}

#[derive(Debug)]
struct Document {
    /// The document's `$id`, or draft 4's `id`, without an empty fragment.
    identifier: Option<String>,
    /// File of the document, where it was named itself and not by its directory.
    named: Option<PathBuf>,
    /// Path of the document from the directory that was named, or the name of its file, as a relative reference.
    path: String,
    text: String,
    /// The last segments of the references in the document.
    references: BTreeSet<String>,
    /// The last segments of the identifiers of the document's parts.
    identifiers: BTreeSet<String>,
}

/// Words by which the engine and the judge of answers report a document that is not at hand.
const MISSING: &str = "is not at hand";
/// The engine's advice to programmers, which is cut out of its message.
const FOR_PROGRAMS: &str = ": register its text under that URI";

/// Returns `message`, with advice for the command line where it reports a document that is not at hand.
pub fn with_hint(message: String) -> String {
    match message.contains(MISSING) {
        true => format!("{}; {HINT}", message.replace(FOR_PROGRAMS, "")),
        false => message,
    }
}

impl DocumentLibrary {
    /// Reads files, and all `*.json` files of directories.
    ///
    /// # Errors
    ///
    /// [`CommandError::Read`], where one cannot be read or is not JSON.
    pub fn read(paths: &[PathBuf]) -> Result<Self, CommandError> {
        let mut files: Vec<(PathBuf, String)> = Vec::new();
        for path in paths {
            if path.is_dir() {
                let before = files.len();
                list(path, "", MAX_FOLDERS, &mut files)?;
                if files.len() == before {
                    let message = format!("--documents {}: there is no *.json file in it", path.display());
                    return Err(CommandError::Arguments(message));
                }
            } else {
                let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
                files.push((path.clone(), name));
            }
        }
        let documents = files.iter().map(|(file, path)| {
            Ok(Document {
                named: paths.contains(file).then(|| file.clone()),
                ..Document::read(file, path)?
            })
        });
        Ok(Self {
            documents: documents.collect::<Result<_, CommandError>>()?,
        })
    }

    /// Whether the library has no documents.
    pub fn is_empty(&self) -> bool {
        self.documents.is_empty()
    }

    /// Returns the settings for a manifest; `None` without documents.
    pub fn settings(&self) -> Option<DocumentSettings> {
        let mut hash = Sha256::new();
        for document in &self.documents {
            for part in [&document.path, &document.text] {
                hash.update((part.len() as u64).to_le_bytes());
                hash.update(part);
            }
        }
        (!self.is_empty()).then(|| DocumentSettings {
            count: self.documents.len(),
            sha256: hex::encode(hash.finalize()),
        })
    }

    /// The documents that `schema` may come to, by URI: each by its identifier, else by its path from the schema's base
    /// URI. Those of `own`, which the schema brings along, come first.
    pub fn beside(&self, schema: &str, own: &BTreeMap<String, String>) -> BTreeMap<String, String> {
        let mut chosen = own.clone();
        if self.is_empty() {
            return chosen;
        }
        let schema: Value = serde_json::from_str(schema).unwrap_or_default();
        let base = identifier(&schema).unwrap_or_default();
        for number in self.reachable(&schema, own) {
            let document = &self.documents[number];
            let uri = match &document.identifier {
                Some(identifier) => against(&base, identifier),
                None => against(&base, &document.path),
            };
            chosen.entry(uri).or_insert_with(|| document.text.clone());
            // References also lead to where a document lies, whatever it calls itself.
            let place = against(&base, &document.path);
            chosen.entry(place).or_insert_with(|| document.text.clone());
        }
        chosen
    }

    /// Returns the files named by themselves, not by their directory, that neither `schema` nor a document that it comes to refers to; `own`
    /// are the documents that the schema brings along. Of a text that is not JSON, nothing is known.
    pub fn unused_files(&self, schema: &str, own: &BTreeMap<String, String>) -> Vec<PathBuf> {
        let Ok(schema) = serde_json::from_str(schema) else {
            return Vec::new();
        };
        let reached = self.reachable(&schema, own);
        let unused = self
            .documents
            .iter()
            .enumerate()
            .filter(|(number, _)| !reached.contains(number));
        unused.filter_map(|(_, document)| document.named.clone()).collect()
    }

    /// The documents whose names, or the identifiers of whose parts, end as a reference does, then those that these refer to, and so on. It
    /// may be more than are needed, never fewer.
    fn reachable(&self, schema: &Value, own: &BTreeMap<String, String>) -> BTreeSet<usize> {
        let mut wanted = BTreeSet::new();
        segments(schema, &REFERENCES, &mut wanted);
        for text in own.values() {
            segments(
                &serde_json::from_str(text).unwrap_or_default(),
                &REFERENCES,
                &mut wanted,
            );
        }
        let mut open: Vec<String> = wanted.iter().cloned().collect();
        let mut reached = BTreeSet::new();
        while let Some(name) = open.pop() {
            let named =
                |document: &Document| last_segment(&document.path) == name || document.identifiers.contains(&name);
            for number in self.positions(named) {
                if reached.insert(number) {
                    let further = self.documents[number].references.iter();
                    open.extend(further.filter(|name| wanted.insert((*name).clone())).cloned());
                }
            }
        }
        reached
    }

    fn positions(&self, holds: impl Fn(&Document) -> bool) -> Vec<usize> {
        let numbered = self.documents.iter().enumerate();
        let found = numbered.filter(|(_, document)| holds(document));
        found.map(|(number, _)| number).collect()
    }
}

impl Document {
    fn read(file: &Path, path: &str) -> Result<Self, CommandError> {
        let text = crate::commands::read_text(file)?;
        let value: Value = serde_json::from_str(&text)
            .map_err(|error| CommandError::read(file, std::io::Error::new(std::io::ErrorKind::InvalidData, error)))?;
        let (mut references, mut identifiers) = (BTreeSet::new(), BTreeSet::new());
        segments(&value, &REFERENCES, &mut references);
        segments(&value, &IDENTIFIERS, &mut identifiers);
        Ok(Self {
            identifier: identifier(&value),
            named: None,
            path: path.to_owned(),
            text,
            references,
            identifiers,
        })
    }
}

/// The `*.json` files in `directory` and its folders, sorted, with their paths from the first directory.
fn list(
    directory: &Path,
    prefix: &str,
    folders: usize,
    files: &mut Vec<(PathBuf, String)>,
) -> Result<(), CommandError> {
    let unreadable = |source| CommandError::read(directory, source);
    let entries = fs::read_dir(directory).map_err(unreadable)?;
    let mut paths: Vec<PathBuf> = Vec::new();
    for entry in entries {
        paths.push(entry.map_err(unreadable)?.path());
    }
    paths.sort();
    for path in paths {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if name.starts_with('.') {
            continue;
        }
        if path.is_dir() {
            if folders > 0 {
                list(&path, &format!("{prefix}{name}/"), folders - 1, files)?;
            }
        } else if path.extension().is_some_and(|extension| extension == "json") {
            if fs::metadata(&path).is_ok_and(|metadata| !metadata.is_file()) {
                // Opening a pipe would wait for a writer.
                return Err(CommandError::read(&path, std::io::Error::other("not a regular file")));
            }
            files.push((path, format!("{prefix}{name}")));
        }
    }
    Ok(())
}

/// The identifier of a schema, without a fragment.
fn identifier(schema: &Value) -> Option<String> {
    let text = schema.get("$id").or_else(|| schema.get("id"))?.as_str()?;
    let identifier = text.split('#').next().unwrap_or_default();
    (!identifier.is_empty()).then(|| identifier.to_owned())
}

/// Adds the last segments of all URIs under some keywords in a schema, which was read and so is not nested too deep.
fn segments(schema: &Value, keywords: &[&str], found: &mut BTreeSet<String>) {
    match schema {
        Value::Object(members) => {
            for (keyword, value) in members {
                match value {
                    Value::String(uri) if keywords.contains(&keyword.as_str()) => {
                        let name = last_segment(uri);
                        if !name.is_empty() && !META_SCHEMAS.iter().any(|place| uri.starts_with(place)) {
                            found.insert(name.to_owned());
                        }
                    }
                    value => segments(value, keywords, found),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| segments(item, keywords, found)),
        _ => {}
    }
}

/// Returns the last segment of a URI: the text after its last slash, or all of it where it has none, without the fragment.
fn last_segment(uri: &str) -> &str {
    let uri = uri.split('#').next().unwrap_or_default();
    uri.rsplit('/').next().unwrap_or_default()
}

/// A relative reference of plain segments against a base; an absolute URI as it stands.
fn against(base: &str, reference: &str) -> String {
    let scheme = reference.split(['/', '?']).next().unwrap_or_default();
    if scheme.contains(':') {
        return reference.to_owned();
    }
    let base = base.split(['?', '#']).next().unwrap_or_default();
    let authority = base.find("://").map_or(0, |at| at + 3);
    let path = base[authority..].find('/').map(|at| authority + at);
    if reference.starts_with('/') {
        return format!("{}{reference}", &base[..path.unwrap_or(base.len())]);
    }
    match (base[authority..].rfind('/'), authority) {
        (Some(slash), _) => format!("{}{reference}", &base[..=authority + slash]),
        (None, 0) => reference.to_owned(),
        (None, _) => format!("{base}/{reference}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn library(documents: &[(&str, Value)]) -> DocumentLibrary {
        let directory = tempfile::tempdir().unwrap();
        for (path, document) in documents {
            let path = directory.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, document.to_string()).unwrap();
        }
        DocumentLibrary::read(&[directory.path().to_owned()]).unwrap()
    }

    fn uris(library: &DocumentLibrary, schema: &Value) -> Vec<String> {
        let beside = library.beside(&schema.to_string(), &BTreeMap::new());
        beside.into_keys().collect()
    }

    #[test]
    fn documents_are_known_by_identifier_or_place() {
        let library = library(&[
            ("item.json", json!({"type": "integer"})),
            ("parts/price.json", json!({"$ref": "../item.json"})),
            (
                "named.json",
                json!({"$id": "https://example.org/named", "type": "string"}),
            ),
            (
                "parts.json",
                json!({"$defs": {"a": {"$id": "https://example.net/part", "x": true}}}),
            ),
            (
                "unused.json",
                json!({"$schema": "http://json-schema.org/draft-07/schema#"}),
            ),
        ]);
        let nameless = json!({"properties": {"a": {"$ref": "item.json#/x"}}});
        assert_eq!(uris(&library, &nameless), ["item.json"]);
        let based = json!({"$id": "https://example.com/schemas/order.json", "items": {"$ref": "parts/price.json"}});
        assert_eq!(
            uris(&library, &based),
            [
                "https://example.com/schemas/item.json",
                "https://example.com/schemas/parts/price.json"
            ]
        );
        let named = json!({"$ref": "https://example.org/named"});
        assert_eq!(uris(&library, &named), ["https://example.org/named", "named.json"]);
        let of_part =
            json!({"$schema": "http://json-schema.org/draft-07/schema#", "$ref": "https://example.net/part#/x"});
        assert_eq!(uris(&library, &of_part), ["parts.json"]);
        assert!(uris(&library, &json!({"$ref": "#/$defs/a"})).is_empty());
    }

    #[test]
    fn references_go_against_their_base() {
        for (base, reference, uri) in [
            ("", "a/b.json", "a/b.json"),
            ("https://x.org", "a.json", "https://x.org/a.json"),
            ("https://x.org/y/z", "a.json", "https://x.org/y/a.json"),
            ("https://x.org/y/z?q=/w", "/a.json", "https://x.org/a.json"),
            ("folder/own.json", "a.json", "folder/a.json"),
            ("https://x.org/y", "urn:a:b", "urn:a:b"),
        ] {
            assert_eq!(against(base, reference), uri, "{reference} against {base}");
        }
    }
}

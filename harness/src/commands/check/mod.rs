//! `maskwright check`.

mod warnings;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use clap::Args;
use maskwright::explain::{
    Cause, Conflict, Explainer, Forbidden, KeywordLocation, Narrowing, UnsatisfiablePart, line_of,
};
use maskwright::lint::Warning;
use maskwright::{CompileError, Draft, SchemaOptions};
use maskwright_suites::validate::{SchemaProblemKind, Validator};
use serde_json::{Map, Value, json};

use super::arguments::documents::DocumentArguments;
use super::arguments::schema::SchemaArguments;
use super::arguments::style::{DocumentStyle, StyleArguments};
use crate::documents::{self, DocumentLibrary};
use crate::error::CommandError;
use crate::terminal::{folded, in_line, with_short_pointers};

use warnings::WarningArguments;

/// Arguments of `maskwright check`.
#[derive(Debug, Args)]
pub struct CheckArguments {
    /// File of the JSON Schema; `-` reads standard input
    schema: PathBuf,
    /// File of a document to hold against the schema; `-` reads standard input. May be given several times
    #[arg(long = "instance", value_name = "FILE")]
    instances: Vec<PathBuf>,
    #[command(flatten)]
    documents: DocumentArguments,
    #[command(flatten)]
    reading: SchemaArguments,
    #[command(flatten)]
    warnings: WarningArguments,
    /// Style that documents may have
    #[arg(long, value_enum, default_value_t = DocumentStyle::Rfc8259)]
    style: DocumentStyle,
    #[command(flatten)]
    style_changes: StyleArguments,
    /// Take `format` as an annotation instead of asserting it
    #[arg(long)]
    annotate_formats: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// Results of a check of one schema.
#[derive(Default)]
struct Findings {
    draft: Option<Draft>,
    subschemas: Option<usize>,
    refused: Vec<CompileError>,
    /// Warnings about parts of the schema that are probably not meant.
    warnings: Vec<Warning>,
    /// Reason for which no value is valid.
    conflict: Option<Conflict>,
    parts: Vec<UnsatisfiablePart>,
    /// Values that the schema allows and the style never writes.
    left_out: Vec<Narrowing>,
    /// Whether the search for values left out reached its limit on work, so that there may be more.
    more_may_be_left_out: bool,
    /// Reason for which the judge of answers takes the document for no schema of its draft, though the engine can use it.
    not_a_schema: Option<String>,
    /// Files of `--documents` that no schema refers to.
    unused_documents: Vec<PathBuf>,
    /// Instances with the byte at which each is forbidden, if any; not examined where a schema is refused.
    instances: Vec<(PathBuf, Option<Forbidden>)>,
}

/// Checks a schema, and documents against it.
///
/// # Errors
///
/// [`CommandError::Found`] where something is refused, forbidden or without a value; [`CommandError::Denied`] where there
/// are warnings only and these are denied; [`CommandError::Read`].
pub fn run(arguments: &CheckArguments) -> Result<(), CommandError> {
    let from_input = [&arguments.schema].into_iter().chain(&arguments.instances);
    if from_input.filter(|path| path.as_path() == Path::new("-")).count() > 1 {
        let message = "standard input can be read once only: `-` is given more than once";
        return Err(CommandError::Arguments(message.to_owned()));
    }
    let schema = super::read_text(&arguments.schema)?;
    let mut instances = Vec::new();
    for path in &arguments.instances {
        instances.push((path.clone(), super::read_bytes(path)?));
    }
    let findings = find(arguments, &schema, &arguments.documents.read()?, &instances)?;
    let text = match arguments.json {
        true => format!("{}\n", report(&findings, &schema)),
        false => terminal(&findings, &schema, &arguments.schema),
    };
    match arguments.json {
        true => crate::print(&text)?,
        false => crate::print_text(&text)?,
    }
    match (summary(&findings), arguments.warnings.denied(&findings.warnings)) {
        (Some(summary), _) => Err(CommandError::Found(summary)),
        (None, 0) => Ok(()),
        (None, count) => Err(CommandError::Denied { count }),
    }
}

fn find(
    arguments: &CheckArguments,
    schema: &str,
    documents: &DocumentLibrary,
    instances: &[(PathBuf, Vec<u8>)],
) -> Result<Findings, CommandError> {
    let style = arguments
        .style_changes
        .exact_options(arguments.style, arguments.annotate_formats);
    let mut options = arguments.reading.apply(style)?;
    let own = std::mem::take(&mut options.schema.documents);
    options.schema.documents = documents.beside(schema, &own);
    let mut findings = Findings {
        unused_documents: documents.unused_files(schema, &own),
        warnings: arguments.warnings.find(schema, &options),
        ..Findings::default()
    };
    match Explainer::new(schema, &options) {
        Ok(mut explainer) => {
            if let Err(error) = examine(&mut explainer, instances, &mut findings) {
                findings.refused.push(error);
            }
        }
        Err(error) => findings.refused.push(error),
    }
    if findings.refused.is_empty()
        && is_read_as_it_stands(&options.schema)
        && let Err(problem) = Validator::with_documents(schema, &options.schema.documents)
        && problem.kind == SchemaProblemKind::NotASchema
    {
        findings.not_a_schema = Some(problem.to_string());
    }
    Ok(findings)
}

/// Whether a schema is read as commands that judge answers read it: all of the text, in its own draft and with patterns of ECMA-262.
fn is_read_as_it_stands(options: &SchemaOptions) -> bool {
    let usual = SchemaOptions::default();
    let given = (&options.default_draft, &options.root, &options.patterns);
    given == (&usual.default_draft, &usual.root, &usual.patterns)
}

fn examine(
    explainer: &mut Explainer,
    instances: &[(PathBuf, Vec<u8>)],
    findings: &mut Findings,
) -> Result<(), CompileError> {
    findings.draft = Some(explainer.draft());
    findings.subschemas = Some(explainer.subschemas());
    findings.refused = explainer.refused();
    if !findings.refused.is_empty() {
        return Ok(());
    }
    findings.conflict = explainer.conflict()?;
    if findings.conflict.is_none() {
        findings.parts = explainer.unsatisfiable_parts()?;
        let narrowings = explainer.narrowings();
        findings.more_may_be_left_out = !narrowings.is_complete;
        findings.left_out = narrowings.found;
    }
    for (path, text) in instances {
        let forbidden = explainer.forbidden(text)?;
        findings.instances.push((path.clone(), forbidden));
    }
    Ok(())
}

/// Returns a summary of the findings in a few words; `None` where nothing was found.
fn summary(findings: &Findings) -> Option<String> {
    let forbidden = findings.instances.iter().filter(|(_, forbidden)| forbidden.is_some());
    let counts = [
        (findings.refused.len(), "refused"),
        (usize::from(findings.conflict.is_some()), "schema without a value"),
        (findings.parts.len(), "without a value"),
        (forbidden.count(), "forbidden"),
    ];
    let found = counts.iter().filter(|(count, _)| *count > 0);
    let found: Vec<String> = found.map(|(count, what)| format!("{count} {what}")).collect();
    (!found.is_empty()).then(|| found.join(", "))
}

fn draft_name(draft: Draft) -> &'static str {
    match draft {
        Draft::Draft4 => "4",
        Draft::Draft6 => "6",
        Draft::Draft7 => "7",
        Draft::Draft201909 => "2019-09",
        Draft::OpenApi30 => "openapi-3.0",
        Draft::OpenApi31 => "openapi-3.1",
        _ => "2020-12",
    }
}

/// Returns the line of a place in the schema itself; `None` for a place in another document.
fn line(schema: &str, place: &KeywordLocation) -> Option<usize> {
    match place.document {
        None => line_of(schema, &place.pointer),
        Some(_) => None,
    }
}

/// Beginning of the message that a schema is not JSON, which goes on with line and column.
const NOT_JSON: &str = "not JSON: line ";
/// Beginning of the message of another defect of the schema's text, which goes on with line and column.
const IN_LINE: &str = "line ";

/// Returns the line of the keyword that an error is about, where that is in the schema itself, or of the defect of a text that is not JSON.
fn error_line(schema: &str, error: &CompileError) -> Option<usize> {
    let message = error.message();
    if let Some(place) = message.strip_prefix(NOT_JSON).or_else(|| message.strip_prefix(IN_LINE)) {
        return place.split(',').next()?.parse().ok();
    }
    let pointer = error.pointer()?;
    let keyword = error.keyword().map(|keyword| format!("{pointer}/{keyword}"));
    let keyword = keyword.and_then(|keyword| line_of(schema, &keyword));
    keyword.or_else(|| line_of(schema, pointer))
}

fn terminal(findings: &Findings, schema: &str, path: &Path) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    if let (Some(draft), Some(subschemas)) = (findings.draft, findings.subschemas) {
        let plural = if subschemas == 1 { "" } else { "s" };
        let _ = writeln!(text, "draft {}, {subschemas} subschema{plural}", draft_name(draft));
    }
    let at = |line: Option<usize>| line.map_or(String::new(), |line| format!("line {line}: "));
    let mut line_of_others = |line: String| {
        // Names in schemas and names of files may contain line breaks.
        text.push_str(&folded(&with_short_pointers(&in_line(&line))));
        text.push('\n');
    };
    for error in &findings.refused {
        let message = match error.message().starts_with(NOT_JSON) {
            true => format!("{}: {}", path.display(), error.message()),
            false => format!(
                "{}{}",
                at(error_line(schema, error).filter(|_| !error.message().starts_with(IN_LINE))),
                documents::with_hint(error.to_string())
            ),
        };
        line_of_others(format!("refused: {message}"));
    }
    if let Some(conflict) = &findings.conflict {
        line_of_others(format!("no value: {conflict}"));
    }
    for part in &findings.parts {
        line_of_others(format!("no value: {}{part}", at(line(schema, &part.subschema))));
    }
    for line in warnings::described(&findings.warnings, schema) {
        line_of_others(line);
    }
    if let Some(problem) = &findings.not_a_schema {
        line_of_others(format!(
            "by the rules of the draft: {problem}; commands that judge answers leave such a schema out"
        ));
    }
    for left_out in &findings.left_out {
        line_of_others(format!("left out by the style: {left_out}"));
    }
    if findings.more_may_be_left_out {
        line_of_others("left out by the style: perhaps more, because not every part was looked at".to_owned());
    }
    for path in &findings.unused_documents {
        let remedy = "no schema refers to it; to check a document, use --instance";
        line_of_others(format!("{}: {remedy}", path.display()));
    }
    for (path, forbidden) in &findings.instances {
        line_of_others(match forbidden {
            None => format!("{}: valid", path.display()),
            Some(forbidden) => format!("{}: forbidden at {forbidden}", path.display()),
        });
    }
    if summary(findings).is_none() && findings.warnings.is_empty() && findings.not_a_schema.is_none() {
        text += "no problems found: no keyword is refused, and every part has a value\n";
    }
    text
}

/// Returns all findings as JSON.
fn report(findings: &Findings, schema: &str) -> Value {
    let keywords = |conflict: &Conflict| {
        json!({
            "keywords": conflict.keywords.iter().map(ToString::to_string).collect::<Vec<_>>(),
            "minimal": conflict.minimal,
            "notes": conflict.notes.iter().map(|(of, note)| (of.to_string(), json!(note))).collect::<Map<_, _>>(),
        })
    };
    let refused = findings.refused.iter().map(|error| {
        json!({
            "kind": error.kind(), "pointer": error.pointer(), "keyword": error.keyword(),
            "line": error_line(schema, error), "message": documents::with_hint(error.message().to_owned()),
        })
    });
    let parts = findings.parts.iter().map(|part| {
        json!({
            "subschema": part.subschema.to_string(), "line": line(schema, &part.subschema),
            "conflict": keywords(&part.conflict),
        })
    });
    let forbidden = |forbidden: &Forbidden| {
        let (mut conflict, mut remedy, mut leading, mut branches) = (Value::Null, Value::Null, Vec::new(), Vec::new());
        let cause = match &forbidden.cause {
            Cause::Keywords {
                conflict: why,
                remedy: without,
                leading: first,
                other_branches,
            } => {
                (conflict, remedy) = (keywords(why), keywords(without));
                leading.extend(first.iter().map(ToString::to_string));
                let counted = other_branches.iter();
                branches.extend(counted.map(|of| json!({"of": of.keyword.to_string(), "others": of.count})));
                "keywords"
            }
            Cause::Syntax => "syntax",
            Cause::RepeatedName(_) => "repeated_name",
            Cause::Style => "style",
        };
        json!({
            "byte": forbidden.offset, "line": forbidden.line, "column": forbidden.column, "place": forbidden.pointer,
            "at_end": forbidden.byte.is_none(), "cause": cause, "conflict": conflict, "remedy": remedy,
            "leading": leading, "other_branches": branches,
            "expected": forbidden.expected.iter().map(ToString::to_string).collect::<Vec<_>>(),
            "message": forbidden.to_string(),
        })
    };
    let left_out = findings.left_out.iter().map(|one| {
        json!({
            "code": one.kind.code(), "what": one.what(), "count": one.count,
            "places": one.places.iter().map(ToString::to_string).collect::<Vec<_>>(),
        })
    });
    let instances = findings.instances.iter().map(|(path, found)| {
        json!({
            "file": path.display().to_string(), "valid": found.is_none(),
            "forbidden": found.as_ref().map(forbidden),
        })
    });
    json!({
        "draft": findings.draft.map(draft_name),
        "subschemas": findings.subschemas,
        "refused": refused.collect::<Vec<_>>(),
        "warnings": warnings::report(&findings.warnings, schema),
        "conflict": findings.conflict.as_ref().map(keywords),
        "unsatisfiable_parts": parts.collect::<Vec<_>>(),
        "not_a_schema": findings.not_a_schema,
        "left_out": left_out.collect::<Vec<_>>(),
        "left_out_is_complete": !findings.more_may_be_left_out,
        "unused_documents": findings.unused_documents.iter().map(|path| path.display().to_string()).collect::<Vec<_>>(),
        "instances": instances.collect::<Vec<_>>(),
    })
}

//! maskwright, this project's own engine.

use std::borrow::Cow;

use ::maskwright::{CompileError, Compiler, ExactCompiler, ExactOptions, Masker, ReplyCompiler};
use maskwright_worker::{Grammar, Purpose, Setup};

use super::spelling::spelling;
use super::{BuiltInFramework, Documented, Judging, Keyword};

pub(super) const FRAMEWORK: BuiltInFramework = BuiltInFramework {
    name: "maskwright",
    description: "this project's exact engine",
    version: env!("CARGO_PKG_VERSION"),
    options: "style `rfc8259` (all of JSON) where documents are judged, `generation` where a model writes, with what the run changes of it; formats as the judge has them",
    accepts_documents: true,
    in_process: true,
    completes: true,
    structural_tags: true,
    documented: &DOCUMENTED,
    spelling: None,
    prepare: |setup| {
        let judging = judging(setup);
        let options = match setup.purpose {
            Purpose::Judge => judging.judging_options(),
            Purpose::Generate => judging.writing_options(),
        };
        Ok(compiler(setup, options))
    },
};

pub(super) const GENERATION: BuiltInFramework = BuiltInFramework {
    name: "maskwright-generation",
    description: "this project's engine in the style `generation`, also where documents are judged; valid documents are rewritten into that style first",
    options: "style `generation`, with what the run changes of it; formats as the judge has them; a valid instance is replayed with its members in the schema's order and its numbers \
              without exponents, an invalid one as it stands",
    spelling: Some(spelling),
    prepare: |setup| Ok(compiler(setup, judging(setup).writing_options())),
    ..FRAMEWORK
};

fn judging(setup: &Setup) -> Judging<'_> {
    Judging {
        documents: &setup.documents,
        assert_formats: setup.assert_formats,
        style: &setup.style,
    }
}

fn compiler(setup: &Setup, options: ExactOptions) -> Box<dyn Compiler> {
    let vocabulary = setup.vocabulary.clone();
    match setup.grammar {
        Grammar::JsonSchema => Box::new(ExactCompiler::new(vocabulary, options)),
        Grammar::StructuralTag => Box::new(TagCompiler(ReplyCompiler::new(vocabulary, options))),
    }
}

/// Compiles structural tags.
struct TagCompiler(ReplyCompiler);

impl Compiler for TagCompiler {
    fn compile(&self, tag: &str) -> Result<Box<dyn Masker>, CompileError> {
        self.0.compile_structural_tag(tag)
    }
}

static DOCUMENTED: Documented = Documented {
    source: Cow::Borrowed("ARCHITECTURE.md"),
    keywords: Cow::Borrowed(KEYWORDS),
    formats: Cow::Borrowed(FORMATS),
    ignores_unknown_formats: true,
};

const FORMATS: &[Cow<'static, str>] = &[
    Cow::Borrowed("date"),
    Cow::Borrowed("date-time"),
    Cow::Borrowed("duration"),
    Cow::Borrowed("email"),
    Cow::Borrowed("hostname"),
    Cow::Borrowed("idn-email"),
    Cow::Borrowed("idn-hostname"),
    Cow::Borrowed("ipv4"),
    Cow::Borrowed("ipv6"),
    Cow::Borrowed("iri"),
    Cow::Borrowed("iri-reference"),
    Cow::Borrowed("json-pointer"),
    Cow::Borrowed("regex"),
    Cow::Borrowed("relative-json-pointer"),
    Cow::Borrowed("time"),
    Cow::Borrowed("uri"),
    Cow::Borrowed("uri-reference"),
    Cow::Borrowed("uri-template"),
    Cow::Borrowed("uuid"),
];

const KEYWORDS: &[Keyword] = &[
    Keyword::any("$dynamicRef"),
    Keyword::any("$recursiveRef"),
    Keyword::any("$ref"),
    Keyword::any("additionalItems"),
    Keyword::any("additionalProperties"),
    Keyword::any("allOf"),
    Keyword::any("anyOf"),
    Keyword::any("const"),
    Keyword::any("contains"),
    Keyword::any("dependencies"),
    Keyword::any("dependentRequired"),
    Keyword::any("dependentSchemas"),
    Keyword::any("else"),
    Keyword::any("enum"),
    Keyword::any("exclusiveMaximum"),
    Keyword::any("exclusiveMinimum"),
    Keyword::any("if"),
    Keyword::any("items"),
    Keyword::any("maxContains"),
    Keyword::any("maxItems"),
    Keyword::any("maxLength"),
    Keyword::any("maxProperties"),
    Keyword::any("maximum"),
    Keyword::any("minContains"),
    Keyword::any("minItems"),
    Keyword::any("minLength"),
    Keyword::any("minProperties"),
    Keyword::any("minimum"),
    Keyword::any("multipleOf"),
    Keyword::any("not"),
    Keyword::any("oneOf"),
    Keyword::any("pattern"),
    Keyword::any("patternProperties"),
    Keyword::any("prefixItems"),
    Keyword::any("properties"),
    Keyword::any("propertyNames"),
    Keyword::any("required"),
    Keyword::any("then"),
    Keyword::any("type"),
    Keyword::any("unevaluatedItems"),
    Keyword::any("unevaluatedProperties"),
    Keyword::any("uniqueItems"),
];

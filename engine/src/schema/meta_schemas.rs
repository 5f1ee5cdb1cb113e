//! The published meta-schemas of the supported drafts, so that a schema can refer to them.

/// The text of the meta-schema with the URI `uri`, without fragment. `https` serves for `http` and the other way round.
pub(super) fn text(uri: &str) -> Option<&'static str> {
    let (scheme, rest) = uri.split_once("://")?;
    let path = rest.strip_prefix("json-schema.org/")?;
    if scheme != "http" && scheme != "https" {
        return None;
    }
    META_SCHEMAS
        .iter()
        .find(|(known, _)| *known == path)
        .map(|&(_, text)| text)
}

/// Paths below `json-schema.org` and texts.
pub(super) const META_SCHEMAS: &[(&str, &str)] = &[
    ("draft-04/schema", include_str!("meta_schemas/draft-04.json")),
    ("draft-06/schema", include_str!("meta_schemas/draft-06.json")),
    ("draft-07/schema", include_str!("meta_schemas/draft-07.json")),
    ("draft/2019-09/schema", include_str!("meta_schemas/2019-09/schema.json")),
    (
        "draft/2019-09/meta/core",
        include_str!("meta_schemas/2019-09/core.json"),
    ),
    (
        "draft/2019-09/meta/applicator",
        include_str!("meta_schemas/2019-09/applicator.json"),
    ),
    (
        "draft/2019-09/meta/validation",
        include_str!("meta_schemas/2019-09/validation.json"),
    ),
    (
        "draft/2019-09/meta/meta-data",
        include_str!("meta_schemas/2019-09/meta-data.json"),
    ),
    (
        "draft/2019-09/meta/format",
        include_str!("meta_schemas/2019-09/format.json"),
    ),
    (
        "draft/2019-09/meta/content",
        include_str!("meta_schemas/2019-09/content.json"),
    ),
    ("draft/2020-12/schema", include_str!("meta_schemas/2020-12/schema.json")),
    (
        "draft/2020-12/meta/core",
        include_str!("meta_schemas/2020-12/core.json"),
    ),
    (
        "draft/2020-12/meta/applicator",
        include_str!("meta_schemas/2020-12/applicator.json"),
    ),
    (
        "draft/2020-12/meta/unevaluated",
        include_str!("meta_schemas/2020-12/unevaluated.json"),
    ),
    (
        "draft/2020-12/meta/validation",
        include_str!("meta_schemas/2020-12/validation.json"),
    ),
    (
        "draft/2020-12/meta/meta-data",
        include_str!("meta_schemas/2020-12/meta-data.json"),
    ),
    (
        "draft/2020-12/meta/format-annotation",
        include_str!("meta_schemas/2020-12/format-annotation.json"),
    ),
    (
        "draft/2020-12/meta/format-assertion",
        include_str!("meta_schemas/2020-12/format-assertion.json"),
    ),
    (
        "draft/2020-12/meta/content",
        include_str!("meta_schemas/2020-12/content.json"),
    ),
];

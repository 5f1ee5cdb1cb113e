//! The published meta-schemas of the supported drafts, so that a schema can refer to them.

use super::dialect::meta_schema_path;

/// The text of the meta-schema with the URI `uri`, without fragment. `https` serves for `http` and the other way round.
pub(super) fn text(uri: &str) -> Option<&'static str> {
    let path = meta_schema_path(uri)?;
    let known = META_SCHEMAS.iter().find(|(known, _)| *known == path)?;
    Some(known.1)
}

/// The paths below `json-schema.org`, which are also those of the files here, and the texts.
macro_rules! published {
    ($($path:literal),* $(,)?) => {
        &[$(($path, include_str!(concat!("meta_schemas/", $path, ".json")))),*]
    };
}

/// Paths below `json-schema.org` and texts.
pub(super) const META_SCHEMAS: &[(&str, &str)] = published![
    "draft-04/schema",
    "draft-06/schema",
    "draft-07/schema",
    "draft/2019-09/schema",
    "draft/2019-09/meta/core",
    "draft/2019-09/meta/applicator",
    "draft/2019-09/meta/validation",
    "draft/2019-09/meta/meta-data",
    "draft/2019-09/meta/format",
    "draft/2019-09/meta/content",
    "draft/2020-12/schema",
    "draft/2020-12/meta/core",
    "draft/2020-12/meta/applicator",
    "draft/2020-12/meta/unevaluated",
    "draft/2020-12/meta/validation",
    "draft/2020-12/meta/meta-data",
    "draft/2020-12/meta/format-annotation",
    "draft/2020-12/meta/format-assertion",
    "draft/2020-12/meta/content",
];

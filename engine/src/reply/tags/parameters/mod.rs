//! Parameters of a call, each between marks of its own: the styles like XML in which families of models call tools.
//!
//! ```text
//! <parameter=city>
//! Zürich
//! </parameter>
//! <parameter=days>
//! 3
//! </parameter>
//! ```
//!
//! A parameter is a member of the object of arguments. Its value is a string of its schema as it is, without quotes and escapes, or another
//! value as JSON; of a schema that allows both, either, but no string that parsers would take for another value. No value has the marks at
//! which parsers take it to end: strings and keys in JSON are without them or, in a style with all escapes, are written with an escape. Parameters come in
//! the order of the schema, those that are only required and further ones after them. Before each and after the last there may be a line break.
//!
//! Which parameters there are is read from `properties`, `required` and `additionalProperties`; other keywords on the object itself are
//! refused. Whatever a parser makes of a parameter that comes twice, it is one of the two values, and each is valid.

mod arguments;
mod build;
mod read;
mod styles;

pub(super) use arguments::ARGUMENTS;
pub(super) use styles::of_name;

use super::format::ContentId;
use super::literal::Literal;

/// The parameters of a call.
#[derive(Clone, Debug)]
pub(super) struct Parameters {
    /// The declared parameters, in the order in which they come.
    pub(super) declared: Vec<Parameter>,
    /// The forms of a parameter that is not declared; empty where there must be no such parameter.
    pub(super) others: Vec<Form>,
}

/// A parameter.
#[derive(Clone, Debug)]
pub(super) struct Parameter {
    /// The forms in which the parameter may be written.
    pub(super) forms: Vec<Form>,
    pub(super) is_required: bool,
    /// JSON Pointer of the parameter's schema in the structural tag.
    pub(super) place: String,
}

/// A written form of a parameter: fixed texts and the contents between them.
#[derive(Clone, Debug)]
pub(super) struct Form {
    pub(super) before: Literal,
    /// Contents, each with the text behind it.
    pub(super) parts: Vec<(ContentId, Literal)>,
}

impl Parameters {
    /// The fixed texts around all names and values.
    pub(super) fn texts(&self) -> impl Iterator<Item = &Literal> {
        let declared = self.declared.iter().flat_map(|parameter| &parameter.forms);
        let forms = declared.chain(&self.others);
        forms.flat_map(|form| {
            [&form.before]
                .into_iter()
                .chain(form.parts.iter().map(|(_, text)| text))
        })
    }
}

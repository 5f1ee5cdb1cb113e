//! Pages that show runs in a browser: one file each, without network.
//!
//! [`report`] turns runs into [`block::Section`]s, which [`html`] and Markdown show; [`page`] puts them into the embedded template with
//! its style and script; [`site`] makes several pages that lead to one another. Texts of records are hostile input: [`html::escape`] is
//! the only way of a text into a page, and the script shows them as text alone.

pub mod block;
mod data;
pub mod html;
pub mod page;
pub mod report;
pub mod sections;
pub mod site;
#[cfg(test)]
mod tests;

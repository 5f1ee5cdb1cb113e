//! Commands about runs that are there already: pages, comparisons, further formats.

pub mod arguments;
pub mod compare;
pub mod merge;
pub mod report;
pub mod rerender;
pub mod site;

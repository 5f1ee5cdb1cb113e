//! Commands that read existing runs: pages, comparisons, further formats.

pub mod arguments;
pub mod compare;
pub mod merge;
pub mod report;
pub mod rerender;
pub mod site;

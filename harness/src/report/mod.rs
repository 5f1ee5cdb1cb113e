//! Building blocks of all reports: tables, statistics, and the figures that the JSONSchemaBench paper prints.

pub mod csv_rows;
pub mod mcnemar;
pub mod paper;
pub mod part;
pub mod statistics;
pub mod table;

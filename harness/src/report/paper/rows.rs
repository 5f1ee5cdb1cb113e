//! [`PaperRow`]: the rows of the paper's tables, and [`Source`]: the tables.

use serde::Serialize;

/// A row of the paper's tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub enum PaperRow {
    /// The model alone.
    #[serde(rename = "LM only")]
    Alone,
    /// llguidance.
    Guidance,
    /// llama.cpp.
    Llamacpp,
    /// Outlines.
    Outlines,
    /// XGrammar.
    XGrammar,
    /// OpenAI's structured outputs.
    OpenAI,
    /// Gemini's structured outputs.
    Gemini,
}

/// A table of the paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Source {
    /// Tables 4 and 11: coverage.
    #[serde(rename = "table 4")]
    Table4,
    /// Tables 2 and 12: efficiency with llama.cpp.
    #[serde(rename = "table 12")]
    Table12,
    /// Tables 3 and 13: efficiency with Hugging Face Transformers.
    #[serde(rename = "table 13")]
    Table13,
}

impl PaperRow {
    /// The paper's row for a framework of ours, by its name.
    pub fn of_framework(name: &str) -> Option<Self> {
        match name {
            crate::frameworks::LM_ONLY => Some(Self::Alone),
            "llguidance" => Some(Self::Guidance),
            "llama.cpp" | "llama-cpp" | "llamacpp" => Some(Self::Llamacpp),
            "outlines" | "outlines-core" => Some(Self::Outlines),
            // The paper ran it with strict mode off.
            "xgrammar-standard" => Some(Self::XGrammar),
            _ => None,
        }
    }

    /// The row's name in the paper.
    pub fn name(self) -> &'static str {
        match self {
            Self::Alone => "LM only",
            Self::Guidance => "Guidance",
            Self::Llamacpp => "Llamacpp",
            Self::Outlines => "Outlines",
            Self::XGrammar => "XGrammar",
            Self::OpenAI => "OpenAI",
            Self::Gemini => "Gemini",
        }
    }
}

impl Source {
    /// Numbers of the tables that the cells are from, and the library that the engines ran on.
    pub fn describe(self) -> &'static str {
        match self {
            Self::Table4 => "4, 11",
            Self::Table12 => "2, 12 (llama.cpp)",
            Self::Table13 => "3, 13 (Transformers)",
        }
    }
}

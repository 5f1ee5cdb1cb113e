//! The paper's figures, table by table.

use super::rows::PaperRow;
use super::rows::PaperRow::{Alone, Gemini, Guidance, Llamacpp, OpenAI, Outlines, XGrammar};

/// Counts of categories of the JSON Schema Test Suite, of [`SUITE_CATEGORIES`](super::SUITE_CATEGORIES).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SuiteCounts {
    /// The row.
    pub paper_row: PaperRow,
    /// Table 5: with a compile error, over-constrained, under-constrained.
    pub failures: [usize; 3],
    /// Table 6: coverage above 0, 25, 50 and 75 %, and of 100 %.
    pub levels: [usize; 5],
    /// Table 6: number of categories in which the row is tied for the highest coverage, and in which it has that alone.
    pub highest: [usize; 2],
}

/// A dataset of the paper: its names, without case and punctuation, and its figures.
pub(super) struct PaperDataset {
    pub(super) names: &'static [&'static str],
    pub(super) theoretical: &'static [(PaperRow, f64)],
    pub(super) coverage: &'static [(PaperRow, [f64; 3])],
    pub(super) llama_cpp: &'static [(PaperRow, [f64; 6])],
    pub(super) transformers: &'static [(PaperRow, [f64; 6])],
}

/// Tables 5 and 6.
pub(super) const SUITE: &[SuiteCounts] = &[
    SuiteCounts {
        paper_row: Outlines,
        failures: [42, 16, 8],
        levels: [20, 11, 2, 0, 0],
        highest: [4, 1],
    },
    SuiteCounts {
        paper_row: Llamacpp,
        failures: [37, 18, 7],
        levels: [21, 11, 5, 2, 1],
        highest: [6, 0],
    },
    SuiteCounts {
        paper_row: XGrammar,
        failures: [3, 5, 38],
        levels: [28, 16, 3, 1, 1],
        highest: [14, 10],
    },
    SuiteCounts {
        paper_row: Guidance,
        failures: [25, 7, 1],
        levels: [30, 25, 21, 17, 13],
        highest: [25, 19],
    },
];

/// Tables 4, 11, 12 and 13: theoretical share; declared, empirical, compliance; GCT (s), TTFT (s), TPOT (ms), TGT (s),
/// tokens, fast-forwarded ones. The first figure of `Alone` stands for NA.
pub(super) const DATASETS: &[PaperDataset] = &[
    PaperDataset {
        names: &["glaiveai", "glaiveai2k"],
        theoretical: &[
            (Alone, 0.00),
            (Guidance, 0.96),
            (Llamacpp, 0.95),
            (Outlines, 0.95),
            (XGrammar, 0.87),
            (OpenAI, 0.87),
            (Gemini, 0.87),
        ],
        coverage: &[
            (Guidance, [0.98, 0.96, 0.98]),
            (Llamacpp, [0.98, 0.95, 0.97]),
            (Outlines, [0.99, 0.95, 0.96]),
            (XGrammar, [1.00, 0.93, 0.93]),
            (OpenAI, [0.89, 0.89, 1.00]),
            (Gemini, [0.86, 0.86, 1.00]),
        ],
        llama_cpp: &[
            (Alone, [0.00, 0.10, 15.40, 1.08, 64.94, 0.00]),
            (Guidance, [0.00, 0.24, 6.37, 0.50, 41.56, 15.70]),
            (Llamacpp, [0.05, 0.20, 29.98, 1.47, 43.18, 0.00]),
            (Outlines, [3.48, 3.65, 30.33, 4.84, 40.39, 0.00]),
        ],
        transformers: &[
            (Guidance, [0.01, 0.36, 36.92, 1.87, 41.45, 16.76]),
            (XGrammar, [0.12, 0.30, 66.78, 2.87, 39.47, 0.00]),
        ],
    },
    PaperDataset {
        names: &["githubeasy"],
        theoretical: &[
            (Alone, 0.00),
            (Guidance, 0.87),
            (Llamacpp, 0.83),
            (Outlines, 0.75),
            (XGrammar, 0.65),
            (OpenAI, 0.31),
            (Gemini, 0.31),
        ],
        coverage: &[
            (Guidance, [0.90, 0.86, 0.96]),
            (Llamacpp, [0.85, 0.75, 0.88]),
            (Outlines, [0.86, 0.59, 0.83]),
            (XGrammar, [0.91, 0.79, 0.87]),
            (OpenAI, [0.30, 0.29, 0.97]),
            (Gemini, [0.08, 0.07, 0.88]),
        ],
        llama_cpp: &[
            (Alone, [0.00, 0.10, 15.83, 0.95, 53.91, 0.00]),
            (Guidance, [0.00, 0.34, 7.44, 0.60, 34.92, 10.02]),
            (Llamacpp, [0.05, 0.18, 27.22, 1.10, 33.93, 0.00]),
            (Outlines, [3.71, 3.97, 39.78, 5.29, 34.19, 0.00]),
        ],
        transformers: &[
            (Guidance, [0.01, 0.37, 42.03, 1.60, 27.67, 6.75]),
            (XGrammar, [0.11, 0.33, 65.57, 4.07, 59.45, 0.00]),
        ],
    },
    PaperDataset {
        names: &["snowplow"],
        theoretical: &[
            (Alone, 0.00),
            (Guidance, 0.80),
            (Llamacpp, 0.74),
            (Outlines, 0.58),
            (OpenAI, 0.29),
        ],
        coverage: &[(Guidance, [0.87, 0.82, 0.94]), (OpenAI, [0.21, 0.21, 1.00])],
        llama_cpp: &[
            (Alone, [0.00, 0.11, 16.23, 1.01, 55.31, 0.00]),
            (Guidance, [0.00, 0.28, 6.55, 0.51, 36.77, 14.50]),
            (Llamacpp, [0.05, 0.20, 28.90, 1.24, 37.21, 0.00]),
            (Outlines, [3.91, 4.14, 42.66, 5.65, 35.65, 0.00]),
        ],
        transformers: &[],
    },
    PaperDataset {
        names: &["githubmedium"],
        theoretical: &[
            (Alone, 0.00),
            (Guidance, 0.73),
            (Llamacpp, 0.69),
            (Outlines, 0.57),
            (XGrammar, 0.49),
            (OpenAI, 0.22),
        ],
        coverage: &[
            (Guidance, [0.79, 0.69, 0.87]),
            (Llamacpp, [0.77, 0.57, 0.74]),
            (Outlines, [0.72, 0.29, 0.40]),
            (XGrammar, [0.79, 0.52, 0.66]),
            (OpenAI, [0.13, 0.12, 0.92]),
        ],
        llama_cpp: &[
            (Alone, [0.00, 0.20, 16.68, 2.56, 142.10, 0.00]),
            (Guidance, [0.01, 0.54, 7.57, 1.29, 99.66, 31.42]),
            (Llamacpp, [0.06, 0.30, 29.08, 2.85, 87.71, 0.00]),
            (Outlines, [8.05, 8.38, 46.57, 12.23, 84.64, 0.00]),
        ],
        transformers: &[
            (Guidance, [0.01, 0.55, 44.21, 4.84, 96.31, 26.93]),
            (XGrammar, [0.20, 0.48, 65.51, 6.53, 92.93, 0.00]),
        ],
    },
    PaperDataset {
        names: &["kubernetes"],
        theoretical: &[
            (Alone, 0.00),
            (Guidance, 0.58),
            (Llamacpp, 0.58),
            (Outlines, 0.58),
            (XGrammar, 0.58),
            (OpenAI, 0.40),
        ],
        coverage: &[
            (Guidance, [0.98, 0.91, 0.92]),
            (Llamacpp, [0.98, 0.76, 0.78]),
            (Outlines, [0.98, 0.57, 0.58]),
            (XGrammar, [0.12, 0.07, 0.58]),
            (OpenAI, [0.21, 0.21, 1.00]),
        ],
        llama_cpp: &[
            (Alone, [0.00, 0.16, 15.32, 0.84, 44.38, 0.00]),
            (Guidance, [0.01, 0.45, 9.47, 0.71, 28.75, 4.40]),
            (Llamacpp, [0.05, 0.28, 28.04, 1.06, 28.09, 0.00]),
            (Outlines, [5.29, 5.55, 46.10, 6.56, 22.26, 0.00]),
        ],
        transformers: &[],
    },
    PaperDataset {
        names: &["washingtonpost"],
        theoretical: &[
            (Alone, 0.00),
            (Guidance, 0.70),
            (Llamacpp, 0.64),
            (Outlines, 0.63),
            (XGrammar, 0.62),
            (OpenAI, 0.29),
        ],
        coverage: &[
            (Guidance, [0.86, 0.86, 1.00]),
            (Llamacpp, [0.97, 0.94, 0.97]),
            (Outlines, [0.97, 0.22, 0.23]),
            (XGrammar, [0.85, 0.64, 0.75]),
            (OpenAI, [0.13, 0.13, 1.00]),
        ],
        llama_cpp: &[],
        transformers: &[],
    },
    PaperDataset {
        names: &["githubhard"],
        theoretical: &[
            (Alone, 0.00),
            (Guidance, 0.54),
            (Llamacpp, 0.49),
            (Outlines, 0.38),
            (XGrammar, 0.33),
            (OpenAI, 0.00),
        ],
        coverage: &[
            (Guidance, [0.60, 0.41, 0.69]),
            (Llamacpp, [0.61, 0.39, 0.63]),
            (Outlines, [0.47, 0.03, 0.06]),
            (XGrammar, [0.69, 0.28, 0.41]),
            (OpenAI, [0.09, 0.09, 1.00]),
        ],
        llama_cpp: &[],
        transformers: &[
            (Guidance, [0.01, 0.73, 35.88, 10.25, 211.40, 101.40]),
            (XGrammar, [0.30, 0.65, 65.20, 14.99, 221.40, 0.00]),
        ],
    },
    PaperDataset {
        names: &["jsonschemastore"],
        theoretical: &[
            (Alone, 0.00),
            (Guidance, 0.31),
            (Llamacpp, 0.24),
            (Outlines, 0.20),
            (XGrammar, 0.13),
            (OpenAI, 0.00),
        ],
        coverage: &[
            (Guidance, [0.35, 0.30, 0.88]),
            (XGrammar, [0.76, 0.33, 0.43]),
            (OpenAI, [0.06, 0.06, 1.00]),
        ],
        llama_cpp: &[],
        transformers: &[],
    },
];

//! The figures that the JSONSchemaBench paper prints, to stand beside ours.
//!
//! Table 4 has the coverage (Llama-3.2-1B-Instruct; the providers' own models for OpenAI and Gemini), table 11 the
//! theoretical coverage, tables 2 and 12 the efficiency with llama.cpp and tables 3 and 13 with Hugging Face
//! Transformers (Llama-3.1-8B-Instruct, NVIDIA A100), tables 5 and 6 the JSON Schema Test Suite. Cells of table 4 that
//! the text at hand garbles (Snowplow and JsonSchemaStore of some engines) are left out.

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
            "xgrammar" => Some(Self::XGrammar),
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
    /// Numbers of the tables that the cells are from, and what the engines ran on.
    pub fn describe(self) -> &'static str {
        match self {
            Self::Table4 => "4, 11",
            Self::Table12 => "2, 12 (llama.cpp)",
            Self::Table13 => "3, 13 (Transformers)",
        }
    }
}

/// Shares of a dataset's schemas.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Coverage {
    /// Declared coverage.
    pub declared: f64,
    /// Empirical coverage.
    pub empirical: f64,
    /// Compliance rate.
    pub compliance: f64,
}

/// Medians over a dataset's schemas.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Efficiency {
    /// Grammar compilation time, in seconds.
    pub gct_s: Option<f64>,
    /// Time to first token, in seconds.
    pub ttft_s: f64,
    /// Time per output token, in milliseconds.
    pub tpot_ms: f64,
    /// Total generation time, in seconds.
    pub tgt_s: f64,
    /// Tokens of the answer.
    pub output_tokens: f64,
    /// Those of them that were fast-forwarded.
    pub forced_tokens: f64,
}

/// Categories of the Test Suite that the paper ran (appendix D).
pub const SUITE_CATEGORIES: usize = 43;

/// Categories of the JSON Schema Test Suite, of [`SUITE_CATEGORIES`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SuiteCounts {
    /// The row.
    pub engine: PaperRow,
    /// Table 5: with a compile error, over-constrained, under-constrained.
    pub failures: [usize; 3],
    /// Table 6: coverage above 0, 25, 50 and 75 %, and of 100 %.
    pub levels: [usize; 5],
    /// Table 6: tied for the highest coverage, and alone with it.
    pub highest: [usize; 2],
}

/// A dataset of the paper: its names, without case and punctuation, and its figures.
struct Dataset {
    names: &'static [&'static str],
    theoretical: &'static [(PaperRow, f64)],
    coverage: &'static [(PaperRow, [f64; 3])],
    llama_cpp: &'static [(PaperRow, [f64; 6])],
    transformers: &'static [(PaperRow, [f64; 6])],
}

/// The paper's theoretical coverage (table 11).
pub fn theoretical(dataset: &str, engine: PaperRow) -> Option<f64> {
    pick(find(dataset)?.theoretical, engine)
}

/// The paper's coverage (table 4).
pub fn coverage(dataset: &str, engine: PaperRow) -> Option<Coverage> {
    let [declared, empirical, compliance] = pick(find(dataset)?.coverage, engine)?;
    Some(Coverage {
        declared,
        empirical,
        compliance,
    })
}

/// The paper's efficiency: tables 12 and 13, whose first columns are tables 2 and 3.
pub fn efficiency(dataset: &str, engine: PaperRow) -> Vec<(Source, Efficiency)> {
    let Some(dataset) = find(dataset) else {
        return Vec::new();
    };
    let tables = [
        (Source::Table12, dataset.llama_cpp),
        (Source::Table13, dataset.transformers),
    ];
    let read = |[gct_s, ttft_s, tpot_ms, tgt_s, output_tokens, forced_tokens]: [f64; 6]| Efficiency {
        gct_s: (engine != PaperRow::Alone).then_some(gct_s),
        ttft_s,
        tpot_ms,
        tgt_s,
        output_tokens,
        forced_tokens,
    };
    let found = tables.into_iter();
    found
        .filter_map(|(source, cells)| Some((source, read(pick(cells, engine)?))))
        .collect()
}

/// The paper's counts of Test Suite categories (tables 5 and 6).
pub fn suite(engine: PaperRow) -> Option<&'static SuiteCounts> {
    SUITE.iter().find(|counts| counts.engine == engine)
}

fn find(dataset: &str) -> Option<&'static Dataset> {
    let plain: String = dataset.chars().filter(char::is_ascii_alphanumeric).collect();
    let plain = plain.to_ascii_lowercase();
    DATASETS.iter().find(|known| known.names.contains(&plain.as_str()))
}

fn pick<T: Copy>(cells: &[(PaperRow, T)], engine: PaperRow) -> Option<T> {
    cells.iter().find(|(row, _)| *row == engine).map(|(_, cell)| *cell)
}

use PaperRow::{Alone, Gemini, Guidance, Llamacpp, OpenAI, Outlines, XGrammar};

/// Tables 5 and 6.
const SUITE: &[SuiteCounts] = &[
    SuiteCounts {
        engine: Outlines,
        failures: [42, 16, 8],
        levels: [20, 11, 2, 0, 0],
        highest: [4, 1],
    },
    SuiteCounts {
        engine: Llamacpp,
        failures: [37, 18, 7],
        levels: [21, 11, 5, 2, 1],
        highest: [6, 0],
    },
    SuiteCounts {
        engine: XGrammar,
        failures: [3, 5, 38],
        levels: [28, 16, 3, 1, 1],
        highest: [14, 10],
    },
    SuiteCounts {
        engine: Guidance,
        failures: [25, 7, 1],
        levels: [30, 25, 21, 17, 13],
        highest: [25, 19],
    },
];

/// Tables 4, 11, 12 and 13: theoretical share; declared, empirical, compliance; GCT (s), TTFT (s), TPOT (ms), TGT (s),
/// tokens, fast-forwarded ones. The first figure of `Alone` stands for NA.
const DATASETS: &[Dataset] = &[
    Dataset {
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
    Dataset {
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
    Dataset {
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
    Dataset {
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
    Dataset {
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
    Dataset {
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
    Dataset {
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
    Dataset {
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The one cell whose three figures do not go together in the paper.
    const MISPRINT: (&str, PaperRow) = ("githubeasy", Outlines);

    #[test]
    fn compliance_is_empirical_over_declared_up_to_rounding() {
        let mut cells = 0;
        for dataset in DATASETS {
            for &(engine, [declared, empirical, compliance]) in dataset.coverage {
                let low = (empirical - 0.005) / (declared + 0.005);
                let high = (empirical + 0.005) / (declared - 0.005);
                let agrees = low - 0.005 <= compliance && compliance <= high + 0.005;
                assert_eq!(
                    agrees,
                    (dataset.names[0], engine) != MISPRINT,
                    "{:?} {engine:?}",
                    dataset.names
                );
                assert!(empirical <= declared && declared <= 1.0);
                cells += 1;
            }
        }
        // 6 + 6 + 2 + 5 + 5 + 5 + 5 + 3 rows of table 4.
        assert_eq!(cells, 37);
    }

    #[test]
    fn times_and_counts_go_together() {
        for dataset in DATASETS {
            for &(engine, [gct, ttft, tpot, tgt, tokens, forced]) in
                dataset.llama_cpp.iter().chain(dataset.transformers)
            {
                let about = ttft + tpot / 1e3 * tokens;
                assert!(
                    gct <= ttft && ttft <= tgt && forced < tokens,
                    "{:?} {engine:?}",
                    dataset.names
                );
                // Medians of each need not add up, but are of one size.
                assert!(
                    (0.4..2.5).contains(&(tgt / about)),
                    "{:?} {engine:?}: {tgt} {about}",
                    dataset.names
                );
            }
        }
        for counts in SUITE {
            assert!(counts.levels.is_sorted_by(|more, fewer| more >= fewer), "{counts:?}");
            assert!(
                counts.highest[0] >= counts.highest[1]
                    && counts.failures.iter().all(|&count| count <= SUITE_CATEGORIES)
            );
        }
        // Each category has at most one engine alone with the highest coverage.
        assert!(SUITE.iter().map(|counts| counts.highest[1]).sum::<usize>() <= SUITE_CATEGORIES);
    }

    #[test]
    fn cells_are_found_by_our_names() {
        let guidance = PaperRow::of_framework("llguidance").unwrap();
        assert_eq!(coverage("Glaiveai2K", guidance), coverage("GlaiveAI-2K", Guidance));
        assert_eq!(coverage("Github_easy", guidance).unwrap().declared, 0.90);
        let of = |dataset| -> Vec<(Source, Option<f64>)> {
            let cells = efficiency(dataset, guidance).into_iter();
            cells.map(|(source, cell)| (source, cell.gct_s)).collect()
        };
        assert_eq!(
            of("Github_medium"),
            [(Source::Table12, Some(0.01)), (Source::Table13, Some(0.01))]
        );
        assert_eq!(of("WashingtonPost"), []);
        assert_eq!(efficiency("Snowplow", Alone)[0].1.gct_s, None);
        assert_eq!(
            (coverage("builtin", Guidance), theoretical("Kubernetes", OpenAI)),
            (None, Some(0.40))
        );
        assert_eq!(suite(Guidance).unwrap().levels[4], 13);
        assert_eq!(PaperRow::of_framework("maskwright"), None);
    }
}

//! The figures that the JSONSchemaBench paper prints, to stand beside ours.
//!
//! Table 4 has the coverage (Llama-3.2-1B-Instruct; the providers' own models for OpenAI and Gemini), table 11 the
//! theoretical coverage, tables 2 and 12 the efficiency with llama.cpp and tables 3 and 13 with Hugging Face
//! Transformers (Llama-3.1-8B-Instruct, NVIDIA A100), tables 5 and 6 the JSON Schema Test Suite, table 7
//! the quality of answers ([`quality`]). Cells of table 4 that
//! the text at hand garbles (Snowplow and JsonSchemaStore of some engines) are left out.

mod figures;
pub mod quality;
mod rows;

pub use figures::SuiteCounts;
use figures::{DATASETS, PaperDataset, SUITE};
pub use rows::{PaperRow, Source};

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
    /// Tokens of the answer that were fast-forwarded.
    pub forced_tokens: f64,
}

/// Categories of the Test Suite that the paper ran (appendix D).
pub const SUITE_CATEGORIES: usize = 43;

/// The paper's theoretical coverage (table 11).
pub fn theoretical(dataset: &str, paper_row: PaperRow) -> Option<f64> {
    pick(find(dataset)?.theoretical, paper_row)
}

/// The paper's coverage (table 4).
pub fn coverage(dataset: &str, paper_row: PaperRow) -> Option<Coverage> {
    let [declared, empirical, compliance] = pick(find(dataset)?.coverage, paper_row)?;
    Some(Coverage {
        declared,
        empirical,
        compliance,
    })
}

/// The paper's efficiency: tables 12 and 13, whose first columns are tables 2 and 3.
pub fn efficiency(dataset: &str, paper_row: PaperRow) -> Vec<(Source, Efficiency)> {
    let Some(dataset) = find(dataset) else {
        return Vec::new();
    };
    let tables = [
        (Source::Table12, dataset.llama_cpp),
        (Source::Table13, dataset.transformers),
    ];
    let read = |[gct_s, ttft_s, tpot_ms, tgt_s, output_tokens, forced_tokens]: [f64; 6]| Efficiency {
        gct_s: (paper_row != PaperRow::Alone).then_some(gct_s),
        ttft_s,
        tpot_ms,
        tgt_s,
        output_tokens,
        forced_tokens,
    };
    let found = tables.into_iter();
    found
        .filter_map(|(source, cells)| Some((source, read(pick(cells, paper_row)?))))
        .collect()
}

/// The paper's counts of Test Suite categories (tables 5 and 6).
pub fn suite(paper_row: PaperRow) -> Option<&'static SuiteCounts> {
    SUITE.iter().find(|counts| counts.paper_row == paper_row)
}

fn find(dataset: &str) -> Option<&'static PaperDataset> {
    let plain: String = dataset.chars().filter(char::is_ascii_alphanumeric).collect();
    let plain = plain.to_ascii_lowercase();
    DATASETS.iter().find(|known| known.names.contains(&plain.as_str()))
}

fn pick<T: Copy>(cells: &[(PaperRow, T)], paper_row: PaperRow) -> Option<T> {
    cells.iter().find(|(row, _)| *row == paper_row).map(|(_, cell)| *cell)
}

#[cfg(test)]
mod tests {
    use super::PaperRow::{Alone, Guidance, OpenAI, Outlines};
    use super::*;

    /// The one cell whose three figures do not go together in the paper.
    const MISPRINT: (&str, PaperRow) = ("githubeasy", Outlines);

    #[test]
    fn compliance_is_empirical_over_declared_up_to_rounding() {
        let mut cells = 0;
        for dataset in DATASETS {
            for &(paper_row, [declared, empirical, compliance]) in dataset.coverage {
                let low = (empirical - 0.005) / (declared + 0.005);
                let high = (empirical + 0.005) / (declared - 0.005);
                let agrees = low - 0.005 <= compliance && compliance <= high + 0.005;
                assert_eq!(
                    agrees,
                    (dataset.names[0], paper_row) != MISPRINT,
                    "{:?} {paper_row:?}",
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
            for &(paper_row, [gct, ttft, tpot, tgt, tokens, forced]) in
                dataset.llama_cpp.iter().chain(dataset.transformers)
            {
                let about = ttft + tpot / 1e3 * tokens;
                assert!(
                    gct <= ttft && ttft <= tgt && forced < tokens,
                    "{:?} {paper_row:?}",
                    dataset.names
                );
                // Medians of each need not add up, but are of one size.
                assert!(
                    (0.4..2.5).contains(&(tgt / about)),
                    "{:?} {paper_row:?}: {tgt} {about}",
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
        // Each category has at most one row alone with the highest coverage.
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
        // Its XGrammar ran without strict mode.
        assert_eq!(PaperRow::of_framework("xgrammar-standard"), Some(PaperRow::XGrammar));
        assert_eq!(PaperRow::of_framework("xgrammar"), None);
    }
}

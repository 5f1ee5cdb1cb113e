//! The paper's accuracies (table 7: Llama-3.1-8B-Instruct).

use maskwright_suites::quality::QualityTask;

use super::PaperRow::{self, Alone, Guidance, Llamacpp, Outlines, XGrammar};

/// Shares of right answers to Last Letter, Shuffle Objects and GSM8K.
const ACCURACY: [(PaperRow, [f64; 3]); 5] = [
    (Alone, [0.507, 0.526, 0.801]),
    (XGrammar, [0.512, 0.527, 0.837]),
    (Llamacpp, [0.520, 0.526, 0.824]),
    (Outlines, [0.533, 0.530, 0.816]),
    (Guidance, [0.540, 0.559, 0.838]),
];

/// The paper's share of right answers.
pub fn accuracy(task: QualityTask, paper_row: PaperRow) -> Option<f64> {
    let column = match task {
        QualityTask::LastLetter | QualityTask::LastLetterPublic => 0,
        QualityTask::Shuffle => 1,
        QualityTask::Gsm8k => 2,
        QualityTask::ShuffleThree | QualityTask::ShuffleSeven => return None,
    };
    let row = ACCURACY.iter().find(|(row, _)| *row == paper_row);
    row.map(|(_, accuracies)| accuracies[column])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Table 7 read again, line by line and in per cent; only the row of the model alone comes first in both.
    #[test]
    fn figures_are_those_of_table_7() {
        let table = [
            (QualityTask::LastLetter, [50.7, 51.2, 52.0, 53.3, 54.0]),
            (QualityTask::Shuffle, [52.6, 52.7, 52.6, 53.0, 55.9]),
            (QualityTask::Gsm8k, [80.1, 83.7, 82.4, 81.6, 83.8]),
        ];
        for (task, line) in table {
            for (row, percent) in [Alone, XGrammar, Llamacpp, Outlines, Guidance].into_iter().zip(line) {
                let found = 100.0 * accuracy(task, row).unwrap();
                assert!((found - percent).abs() < 1e-9, "{task:?} {row:?}: {found}");
            }
        }
    }

    #[test]
    fn every_constrained_row_is_at_least_as_good_as_the_model_alone() {
        // Section 6.2 says so of the table.
        for task in [QualityTask::LastLetter, QualityTask::Shuffle, QualityTask::Gsm8k] {
            let alone = accuracy(task, Alone).unwrap();
            for row in [XGrammar, Llamacpp, Outlines, Guidance] {
                assert!(accuracy(task, row).unwrap() >= alone, "{task:?} {row:?}");
            }
        }
        assert_eq!(accuracy(QualityTask::ShuffleSeven, Guidance), None);
        assert_eq!(accuracy(QualityTask::Gsm8k, PaperRow::Gemini), None);
    }
}

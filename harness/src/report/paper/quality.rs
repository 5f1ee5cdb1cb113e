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

    #[test]
    fn every_constrained_row_is_at_least_as_good_as_the_model_alone() {
        // Section 6.2 says so of the table.
        for task in [QualityTask::LastLetter, QualityTask::Shuffle, QualityTask::Gsm8k] {
            let alone = accuracy(task, Alone).unwrap();
            for row in [XGrammar, Llamacpp, Outlines, Guidance] {
                assert!(accuracy(task, row).unwrap() >= alone, "{task:?} {row:?}");
            }
        }
        assert_eq!(accuracy(QualityTask::Gsm8k, Guidance), Some(0.838));
        assert_eq!(accuracy(QualityTask::ShuffleSeven, Guidance), None);
        assert_eq!(accuracy(QualityTask::Gsm8k, PaperRow::Gemini), None);
    }
}

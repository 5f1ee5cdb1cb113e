//! [`QualityTask`]: the tasks, and the form of their answers.

use clap::ValueEnum;
use serde::{Deserialize, Serialize};

use super::answers::AnswerForm;
use super::choices;

/// A task with known answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum QualityTask {
    /// Last Letter: one letter of each of some names; the questions are generated
    LastLetter,
    /// Last Letter with the questions of the public file (`maskwright fetch last-letter`)
    LastLetterPublic,
    /// Shuffle Objects: who has what after five people exchanged things (BIG-Bench Hard; `maskwright fetch bbh`)
    Shuffle,
    /// Shuffle Objects with three people (`maskwright fetch bbh`)
    ShuffleThree,
    /// Shuffle Objects with seven people (`maskwright fetch bbh`)
    ShuffleSeven,
    /// GSM8K: grade school mathematics (`maskwright fetch gsm8k`)
    Gsm8k,
}

impl QualityTask {
    /// The name in commands, records and tables.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::LastLetter => "last-letter",
            Self::LastLetterPublic => "last-letter-public",
            Self::Shuffle => "shuffle",
            Self::ShuffleThree => "shuffle-three",
            Self::ShuffleSeven => "shuffle-seven",
            Self::Gsm8k => "gsm8k",
        }
    }

    /// The [source](crate::fetch::SOURCES) of the questions; `None` where they are generated.
    #[must_use]
    pub fn source(self) -> Option<&'static str> {
        match self {
            Self::LastLetter => None,
            Self::LastLetterPublic => Some("last-letter"),
            Self::Shuffle | Self::ShuffleThree | Self::ShuffleSeven => Some("bbh"),
            Self::Gsm8k => Some("gsm8k"),
        }
    }

    /// The form of the answers.
    #[must_use]
    pub fn form(self) -> AnswerForm {
        match self {
            Self::LastLetter | Self::LastLetterPublic => AnswerForm::Letters,
            Self::ShuffleThree => AnswerForm::Choice(3),
            Self::Shuffle => AnswerForm::Choice(5),
            Self::ShuffleSeven => AnswerForm::Choice(7),
            Self::Gsm8k => AnswerForm::Number,
        }
    }

    /// The JSON Schema of an answer (paper, section 6.1): its reasoning, of as many characters at most as in the experiments
    /// that the paper follows, and the answer in its form.
    #[must_use]
    pub fn schema(self) -> String {
        let (characters, answer) = match self.form() {
            AnswerForm::Letters => (1000, r#"{"type": "string", "pattern": "^[a-z]+$"}"#.to_owned()),
            AnswerForm::Number => (1000, r#"{"type": "number"}"#.to_owned()),
            AnswerForm::Choice(count) => {
                let choices = choices::letters(count).map(|letter| format!("\"({letter})\""));
                let choices = choices.collect::<Vec<_>>().join(", ");
                (1200, format!(r#"{{"type": "string", "enum": [{choices}]}}"#))
            }
        };
        format!(
            r#"{{"type": "object", "properties": {{"reasoning": {{"type": "string", "maxLength": {characters}}}, "answer": {answer}}}, "required": ["reasoning", "answer"], "additionalProperties": false}}"#
        )
    }
}

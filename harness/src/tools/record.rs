//! [`CallRecord`]: the reply of one row to one request, with the verdict on its calls.

use maskwright_models::FinishReason;
use maskwright_suites::tool_calls::CallJudgement;
use serde::{Deserialize, Serialize};

use crate::bench::record::{CompileRecord, GenerationRecord};
use crate::run::directory::Recorded;

/// One line of `records.jsonl` of a run of `maskwright bench --tools`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CallRecord {
    /// Model, framework and request of the record.
    #[serde(flatten)]
    pub key: CallKey,
    /// The format of calls that was asked for.
    pub format: String,
    /// Number of right calls; 0 where no call is right.
    pub expected: usize,
    /// Reason why the request could not be asked at all, such as a choice of a function that it does not have. It counts for no row.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unusable: Option<String>,
    /// The compilation of the structural tag; absent for the model alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compile: Option<CompileRecord>,
    /// The generation; absent where the tag did not compile. Special tokens stand in its text by their names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generation: Option<GenerationRecord>,
    /// The verdict on the calls; absent where nothing was generated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judgement: Option<CallJudgement>,
}

/// Model, framework and request of a record.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct CallKey {
    /// The model, as the user named it.
    pub model: String,
    /// The framework, or `none` for the model alone.
    pub framework: String,
    /// The set of requests.
    pub dataset: String,
    /// The request's name in the set.
    pub request: String,
}

impl Recorded for CallRecord {
    type Key = CallKey;

    fn key(&self) -> &CallKey {
        &self.key
    }

    fn is_final(&self) -> bool {
        true
    }
}

impl CallRecord {
    /// Makes a record without any result.
    pub fn empty(key: CallKey, format: &str, expected: usize) -> Self {
        Self {
            key,
            format: format.to_owned(),
            expected,
            unusable: None,
            compile: None,
            generation: None,
            judgement: None,
        }
    }

    /// Whether there is a judgement of which `holds` is true.
    pub fn is(&self, holds: impl Fn(&CallJudgement) -> bool) -> bool {
        self.judgement.as_ref().is_some_and(holds)
    }

    /// Whether the calls are right, with accepted arguments; where no call is right, whether the reply has no call.
    pub fn is_right(&self) -> bool {
        self.is(|judgement| judgement.accepted)
    }

    /// Whether the structural tag was refused.
    pub fn was_refused(&self) -> bool {
        self.compile.as_ref().is_some_and(|compile| compile.error.is_some())
    }

    /// The framework's words, where it failed during the reply.
    pub fn failure(&self) -> Option<&str> {
        self.generation.as_ref()?.failure()
    }

    fn finish(&self) -> Option<FinishReason> {
        self.generation.as_ref().and_then(|generation| generation.finish)
    }

    /// Whether the prompt did not fit into the model's context, so that nothing could be answered.
    pub fn lacked_room(&self) -> bool {
        let generation = self.generation.as_ref();
        let is_empty = generation.is_some_and(|generation| generation.output_tokens == 0);
        is_empty && self.finish() == Some(FinishReason::ContextFull)
    }

    /// Whether the reply was cut off: by the limit on tokens, by that on time, or by the end of the model's context.
    pub fn was_cut_off(&self) -> bool {
        let cut = [
            FinishReason::TokenLimit,
            FinishReason::TimeLimit,
            FinishReason::ContextFull,
        ];
        self.finish().is_some_and(|finish| cut.contains(&finish))
    }
}

//! [`Shard`]: the part of a run that one task of a cluster measures.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

/// One of several equal parts of a run, each measured by a process of its own into a directory of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Unchecked")]
pub struct Shard {
    /// Number of the part, from 1.
    pub number: u32,
    /// Number of parts of the run.
    pub count: u32,
}

/// A part as a manifest has it, before it is known to be one.
#[derive(Deserialize)]
struct Unchecked {
    number: u32,
    count: u32,
}

impl TryFrom<Unchecked> for Shard {
    type Error = ShardError;

    fn try_from(Unchecked { number, count }: Unchecked) -> Result<Self, ShardError> {
        Self::new(number, count).ok_or_else(|| ShardError::Form(format!("{number}/{count}")))
    }
}

/// A text names no part of a run.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum ShardError {
    /// The text has another form.
    #[error("`{0}` is no part of a run: write I/N with I from 1 to N, such as 2/6, and N up to {MOST_PARTS}, or auto")]
    Form(String),
    /// `auto`, where no scheduler has numbered the process.
    #[error(
        "auto takes the part from Slurm's SLURM_ARRAY_TASK_ID, or from JOB_COMPLETION_INDEX and JOB_COMPLETIONS: \
         neither is set"
    )]
    NoScheduler,
    /// A scheduler's variable is missing or has no number.
    #[error("auto takes the part from {variables}: {problem}")]
    Variables {
        /// The names of the variables.
        variables: &'static str,
        /// The problem with the variables.
        problem: String,
    },
}

const SLURM: &str = "SLURM_ARRAY_TASK_ID, SLURM_ARRAY_TASK_MIN, SLURM_ARRAY_TASK_MAX and SLURM_ARRAY_TASK_COUNT";
/// Largest number of parts of a run: more than any scheduler has tasks in an array.
const MOST_PARTS: u32 = 100_000;
const KUBERNETES: &str = "JOB_COMPLETION_INDEX and JOB_COMPLETIONS";

impl Shard {
    /// The part that `text` names: `I/N`, or `auto` for that of the process's task in a Slurm job array or a Kubernetes Indexed Job.
    /// `variable` reads variables of the environment.
    ///
    /// # Errors
    ///
    /// [`ShardError`], where the text has another form or no scheduler has numbered the process.
    pub fn read(text: &str, variable: &dyn Fn(&str) -> Option<String>) -> Result<Self, ShardError> {
        if text != "auto" {
            return text.parse();
        }
        if let Some(task) = variable("SLURM_ARRAY_TASK_ID") {
            let of_slurm = |name: &str| number(SLURM, name, variable(name));
            let task = number(SLURM, "SLURM_ARRAY_TASK_ID", Some(task))?;
            let (first, last) = (of_slurm("SLURM_ARRAY_TASK_MIN")?, of_slurm("SLURM_ARRAY_TASK_MAX")?);
            let count = of_slurm("SLURM_ARRAY_TASK_COUNT")?;
            return match last.checked_sub(first).and_then(|span| span.checked_add(1)) {
                Some(tasks) if tasks == count && (first..=last).contains(&task) => {
                    Self::new(task - first + 1, count).ok_or_else(|| ShardError::Form(format!("{task}/{count}")))
                }
                _ => Err(ShardError::Variables {
                    variables: SLURM,
                    problem: format!(
                        "the array has {count} tasks from {first} to {last}: number them without gaps, such as --array=0-5, or name \
                         the part as I/N"
                    ),
                }),
            };
        }
        match variable("JOB_COMPLETION_INDEX") {
            Some(index) => {
                let index = number(KUBERNETES, "JOB_COMPLETION_INDEX", Some(index))?;
                let count = number(KUBERNETES, "JOB_COMPLETIONS", variable("JOB_COMPLETIONS"))?;
                let place = index.checked_add(1).and_then(|place| Self::new(place, count));
                place.ok_or_else(|| ShardError::Variables {
                    variables: KUBERNETES,
                    problem: format!("index {index} is not below {count}"),
                })
            }
            None => Err(ShardError::NoScheduler),
        }
    }

    fn new(number: u32, count: u32) -> Option<Self> {
        (count <= MOST_PARTS && (1..=count).contains(&number)).then_some(Self { number, count })
    }

    /// Whether this part has the question of the model at `model` of `models`.
    ///
    /// Models come first, so that a part has as few models as possible, and within a model questions are spread by a hash of their names: the same
    /// question is in the same part wherever and however often the run is begun.
    fn has(self, model: usize, models: usize, question: &str) -> bool {
        let digest = Sha256::digest(question.as_bytes());
        let hash = digest
            .iter()
            .take(8)
            .fold(0_u64, |hash, &byte| hash << 8 | u64::from(byte));
        // Where the question stands among all, which end at `models`; 32 bits of the hash keep the product within 128.
        let position = (model as u128) << 32 | u128::from(hash >> 32);
        let part = position * u128::from(self.count) / ((models.max(1) as u128) << 32);
        part + 1 == u128::from(self.number)
    }
}

fn number(variables: &'static str, name: &str, value: Option<String>) -> Result<u32, ShardError> {
    let value = value.ok_or_else(|| ShardError::Variables {
        variables,
        problem: format!("{name} is not set"),
    })?;
    value.parse().map_err(|_| ShardError::Variables {
        variables,
        problem: format!("{name} is `{value}`, no number"),
    })
}

impl FromStr for Shard {
    type Err = ShardError;

    fn from_str(text: &str) -> Result<Self, ShardError> {
        let parts = text
            .split_once('/')
            .and_then(|(number, count)| Some((number.parse().ok()?, count.parse().ok()?)));
        parts
            .and_then(|(number, count)| Self::new(number, count))
            .ok_or_else(|| ShardError::Form(text.to_owned()))
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.count)
    }
}

/// Questions of a run that a process measures: all, or those of its shard.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Division {
    /// The part; all, where there is none.
    pub shard: Option<Shard>,
    /// The models of the whole run, each once, in the order in which they are asked. A run that judges frameworks has none.
    models: Vec<String>,
}

impl Division {
    /// The questions of `shard` in a run of these models.
    pub fn new(shard: Option<Shard>, models: impl IntoIterator<Item = String>) -> Self {
        let mut unique: Vec<String> = Vec::new();
        for model in models {
            if !unique.contains(&model) {
                unique.push(model);
            }
        }
        Self { shard, models: unique }
    }

    /// Whether the process measures `question` with `model`. A run that judges frameworks has no model, and `model` is empty.
    pub fn has(&self, model: &str, question: &str) -> bool {
        let index = self.models.iter().position(|known| known == model).unwrap_or(0);
        self.shard
            .is_none_or(|shard| shard.has(index, self.models.len(), question))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    fn auto(variables: &[(&str, &str)]) -> Result<Shard, ShardError> {
        let variables: HashMap<&str, &str> = variables.iter().copied().collect();
        Shard::read("auto", &|name| variables.get(name).map(|value| (*value).to_owned()))
    }

    #[test]
    fn parts_are_named_or_told_by_a_scheduler() {
        let second = Shard { number: 2, count: 6 };
        assert_eq!("2/6".parse(), Ok(second));
        assert_eq!(
            serde_json::from_str::<Shard>(r#"{"number": 2, "count": 6}"#).unwrap(),
            second
        );
        assert!(serde_json::from_str::<Shard>(r#"{"number": 0, "count": 0}"#).is_err());
        for text in ["0/6", "7/6", "2", "2/", "a/6", "-1/6", "1/4000000000", ""] {
            assert_eq!(text.parse::<Shard>(), Err(ShardError::Form(text.to_owned())));
        }
        let slurm = |id, first, last, count| {
            auto(&[
                ("SLURM_ARRAY_TASK_ID", id),
                ("SLURM_ARRAY_TASK_MIN", first),
                ("SLURM_ARRAY_TASK_MAX", last),
                ("SLURM_ARRAY_TASK_COUNT", count),
            ])
        };
        assert_eq!(slurm("1", "0", "5", "6"), Ok(second));
        assert_eq!(slurm("2", "1", "6", "6"), Ok(second));
        for (id, first, last, count) in [("3", "1", "7", "3"), ("x", "0", "5", "6"), ("6", "0", "5", "6")] {
            assert!(
                matches!(slurm(id, first, last, count), Err(ShardError::Variables { .. })),
                "{id}"
            );
        }
        assert_eq!(
            auto(&[("JOB_COMPLETION_INDEX", "1"), ("JOB_COMPLETIONS", "6")]),
            Ok(second)
        );
        assert!(auto(&[("JOB_COMPLETION_INDEX", "6"), ("JOB_COMPLETIONS", "6")]).is_err());
        assert!(auto(&[("JOB_COMPLETION_INDEX", "1")]).is_err());
        assert_eq!(auto(&[]), Err(ShardError::NoScheduler));
    }

    #[test]
    fn every_question_is_in_one_part_and_parts_have_few_models() {
        let models = ["a", "b", "c"].map(str::to_owned);
        let questions: Vec<String> = (0..1000).map(|number| format!("question {number}")).collect();
        for count in [1, 2, 3, 6, 7] {
            let parts = (1..=count).map(|number| Division::new(Some(Shard { number, count }), models.clone()));
            let parts: Vec<Division> = parts.collect();
            let all = models
                .iter()
                .flat_map(|model| questions.iter().map(move |question| (model, question)));
            let mut sizes = vec![0_usize; parts.len()];
            for (model, question) in all {
                let own = parts.iter().map(|part| part.has(model, question));
                let own: Vec<usize> = own.enumerate().filter_map(|(place, is)| is.then_some(place)).collect();
                assert_eq!(own.len(), 1, "{model}, {question}, {count} parts");
                sizes[own[0]] += 1;
            }
            let fair = 3000 / count as usize;
            assert!(
                sizes.iter().all(|size| size.abs_diff(fair) < fair / 4),
                "{count}: {sizes:?}"
            );
            if count % 3 == 0 {
                for part in &parts {
                    let own = models
                        .iter()
                        .filter(|model| questions.iter().any(|question| part.has(model, question)));
                    assert_eq!(own.count(), 1, "{count} parts");
                }
            }
        }
        let whole = Division::new(None, models);
        assert!(
            questions
                .iter()
                .all(|question| whole.has("b", question) && whole.has("", question))
        );
    }
}

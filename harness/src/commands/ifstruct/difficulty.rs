//! [`DifficultyArguments`]: the difficulty of generated samples.

use clap::Args;
use maskwright_suites::ifstruct::Difficulty;

/// Options of the difficulty of generated samples; the default is that of the public test set.
#[derive(Debug, Args)]
#[command(next_help_heading = "Difficulty of generated samples")]
pub struct DifficultyArguments {
    /// Fields of an item, without those within others, such as 8..12; entities have 8 to 12 in all [default: mostly 4..9]
    #[arg(long, value_parser = range, value_name = "LOW..HIGH")]
    fields: Option<(usize, usize)>,
    /// Fields with fields of their own, exactly so many where the entity has them [default: one or more, in most samples]
    #[arg(long, value_name = "N")]
    nested: Option<usize>,
    /// Percent of the samples whose texts need escaping [default: about 20]
    #[arg(long, value_parser = clap::value_parser!(u32).range(..=100), value_name = "PERCENT")]
    escaping: Option<u32>,
}

impl DifficultyArguments {
    /// Returns the difficulty of the samples to generate.
    pub fn difficulty(&self) -> Difficulty {
        Difficulty {
            fields: self.fields,
            nested: self.nested,
            escaping: self.escaping,
        }
    }
}

fn range(text: &str) -> Result<(usize, usize), String> {
    let bounds = text
        .split_once("..")
        .and_then(|(low, high)| Some((low.parse().ok()?, high.parse().ok()?)));
    match bounds {
        Some((low, high)) if 1 <= low && low <= high => Ok((low, high)),
        _ => Err("must be LOW..HIGH with 1 <= LOW <= HIGH, such as 8..12".to_owned()),
    }
}

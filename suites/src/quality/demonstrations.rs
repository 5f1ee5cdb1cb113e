//! [`Demonstration`]: examples of a question with its answer, for prompts. All are our own; of generated questions, those that are examples are
//! not asked.

use rand::seq::SliceRandom as _;
use rand::{Rng as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

use super::choices;
use super::last_letter::{self, LetterOptions};
use super::tasks::QualityTask;

/// Most examples of a prompt.
pub const MAX_SHOTS: usize = 8;

/// A question with its answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Demonstration {
    /// The question.
    pub question: String,
    /// The way to the answer.
    pub reasoning: String,
    /// The answer as JSON text.
    pub answer: String,
}

/// The first `count` examples of a task, at most [`MAX_SHOTS`].
pub(super) fn demonstrations(task: QualityTask, letters: LetterOptions, count: usize) -> Vec<Demonstration> {
    let numbers = 0..count.min(MAX_SHOTS);
    match task {
        QualityTask::LastLetter => last_letter::demonstrations(letters, numbers.len()),
        QualityTask::LastLetterPublic => {
            let options = LetterOptions {
                words: 4,
                ..LetterOptions::default()
            };
            last_letter::demonstrations(options, numbers.len())
        }
        QualityTask::ShuffleThree => numbers.map(|number| exchange(3, number)).collect(),
        QualityTask::Shuffle => numbers.map(|number| exchange(5, number)).collect(),
        QualityTask::ShuffleSeven => numbers.map(|number| exchange(7, number)).collect(),
        QualityTask::Gsm8k => MATHEMATICS[numbers].iter().map(written).collect(),
    }
}

/// Worked problems of grade school mathematics: question, reasoning, answer.
const MATHEMATICS: [(&str, &str, &str); MAX_SHOTS] = [
    (
        "Mira has 3 boxes with 8 pencils each. She gives 5 pencils to her brother. How many pencils does she have left?",
        "In the 3 boxes there are 3 * 8 = 24 pencils. After she gives 5 away, 24 - 5 = 19 are left.",
        "19",
    ),
    (
        "A ticket for the tram costs $4 for adults and half of that for children. How many dollars do 2 adults and 3 children pay together?",
        "The adults pay 2 * 4 = 8 dollars. A child pays 4 / 2 = 2 dollars, so that 3 children pay 3 * 2 = 6 dollars. Together they pay 8 + 6 = 14 dollars.",
        "14",
    ),
    (
        "Jonas reads 15 pages on each day from Monday to Friday, and 40 pages on each day of the weekend. How many pages does he read in two weeks?",
        "From Monday to Friday he reads 5 * 15 = 75 pages, at the weekend 2 * 40 = 80 pages. In a week these are 75 + 80 = 155 pages, in two weeks 2 * 155 = 310 pages.",
        "310",
    ),
    (
        "A jug holds 1.5 litres. How many litres do 7 jugs hold?",
        "7 jugs hold 7 * 1.5 = 10.5 litres.",
        "10.5",
    ),
    (
        "A baker bakes 240 rolls. In the morning she sells a third of them, in the afternoon half of the rest. How many rolls are left?",
        "In the morning she sells 240 / 3 = 80 rolls, so that 240 - 80 = 160 are left. In the afternoon she sells 160 / 2 = 80. Then 160 - 80 = 80 are left.",
        "80",
    ),
    (
        "Lena is 6 years older than Tim. In 4 years, the two will be 32 years old together. How old is Lena today?",
        "Today they are 32 - 2 * 4 = 24 years old together. Twice Tim's age is 24 - 6 = 18, so Tim is 9 and Lena is 9 + 6 = 15.",
        "15",
    ),
    (
        "A cyclist rides for 2 hours at 18 km per hour and for 3 hours at 14 km per hour. How many kilometres does she ride?",
        "In the first 2 hours she rides 2 * 18 = 36 km, in the next 3 hours 3 * 14 = 42 km. In all these are 36 + 42 = 78 km.",
        "78",
    ),
    (
        "A coat costs $80. Its price falls by 25 %. How many dollars do 2 such coats cost then?",
        "25 % of 80 dollars are 80 / 4 = 20 dollars, so that a coat costs 80 - 20 = 60 dollars. 2 coats cost 2 * 60 = 120 dollars.",
        "120",
    ),
];

fn written((question, reasoning, answer): &(&str, &str, &str)) -> Demonstration {
    Demonstration {
        question: (*question).to_owned(),
        reasoning: (*reasoning).to_owned(),
        answer: (*answer).to_owned(),
    }
}

const PEOPLE: [&str; 7] = ["Fatima", "George", "Hilde", "Igor", "Jane", "Kofi", "Lotte"];
const THINGS: [&str; 8] = ["apple", "book", "candle", "drum", "flag", "kite", "lamp", "mug"];
/// Number that examples of exchanges are drawn by.
const EXCHANGE_SEED: u64 = 0x5eed;

/// Writes an example in which `people` people exchange things, as many times.
fn exchange(people: usize, number: usize) -> Demonstration {
    let mut random = ChaCha8Rng::seed_from_u64(EXCHANGE_SEED ^ ((people as u64) << 32) ^ number as u64);
    let mut things = THINGS;
    things.shuffle(&mut random);
    let (names, things) = (&PEOPLE[..people.min(PEOPLE.len())], &things[..people.min(PEOPLE.len())]);
    let listed = |items: Vec<String>| match items.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, before)) => format!("{}, and {last}", before.join(", ")),
        None => String::new(),
    };
    let start = names
        .iter()
        .zip(things)
        .map(|(name, thing)| format!("{name} has the {thing}"));
    let start = listed(start.collect());
    let mut held: Vec<usize> = (0..names.len()).collect();
    let (mut events, mut reasoning) = (Vec::new(), vec![format!("At the start, {start}.")]);
    for step in 0..names.len() {
        let one = random.random_range(0..names.len() as u32) as usize;
        let other = (one + random.random_range(1..names.len() as u32) as usize) % names.len();
        held.swap(one, other);
        let word = match step {
            0 => "First",
            _ if step + 1 == names.len() => "Finally",
            _ => "Then",
        };
        events.push(format!("{word}, {} and {} swap.", names[one], names[other]));
        reasoning.push(format!(
            "{} and {} swap, so that {} has the {} and {} has the {}.",
            names[one], names[other], names[one], things[held[one]], names[other], things[held[other]]
        ));
    }
    let asked = random.random_range(0..names.len() as u32) as usize;
    let letter = choices::letters(names.len() as u8).nth(held[asked]).unwrap_or_default();
    reasoning.push(format!(
        "At the end, {} has the {}, which is ({letter}).",
        names[asked], things[held[asked]]
    ));
    let options = choices::letters(names.len() as u8).zip(things);
    let options: String = options.map(|(letter, thing)| format!("\n({letter}) {thing}")).collect();
    let everyone = listed(names.iter().map(|name| (*name).to_owned()).collect());
    Demonstration {
        question: format!(
            "{everyone} each have something: {start}.\nAs they play, pairs of them swap what they have. {} At the end, {} has the\nOptions:{options}",
            events.join(" "),
            names[asked]
        ),
        reasoning: reasoning.join(" "),
        answer: format!("\"({letter})\""),
    }
}

//! Last Letter: one letter of each of some names, put together. The names are a list of our own.

use std::collections::HashSet;
use std::fmt;
use std::str::FromStr;

use rand::seq::SliceRandom as _;
use rand::{RngCore as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

use super::demonstrations::{Demonstration, MAX_SHOTS};
use super::questions::Question;

/// Most names of a question.
pub const MAX_WORDS: usize = 16;

/// Given names, each of at least four letters of ASCII.
const NAMES: [&str; 128] = [
    "Abigail", "Adela", "Agnes", "Akira", "Alban", "Aldo", "Alma", "Amara", "Anders", "Anika", "Anton", "Arjun",
    "Asher", "Astrid", "Aurora", "Beatrix", "Benedict", "Bianca", "Boris", "Bruno", "Camila", "Carlos", "Cecily",
    "Chidi", "Clara", "Conrad", "Cosima", "Cyril", "Dalia", "Damian", "Daphne", "Darius", "Delia", "Desmond", "Diego",
    "Dorothy", "Edgar", "Edith", "Elena", "Elias", "Eliza", "Emeka", "Emil", "Erik", "Esther", "Fabian", "Farah",
    "Felix", "Fergus", "Fiona", "Flora", "Frank", "Freya", "Gabriel", "Gemma", "Gideon", "Giulia", "Gloria", "Gregor",
    "Hamid", "Hannah", "Harold", "Heidi", "Hugo", "Ibrahim", "Imogen", "Ingrid", "Isaac", "Isabel", "Jakub", "Jasmine",
    "Jerome", "Joanna", "Jonas", "Judith", "Julian", "Kaito", "Karim", "Katrin", "Kenneth", "Laila", "Lars", "Leila",
    "Leon", "Linus", "Livia", "Lorenz", "Lucia", "Magnus", "Malik", "Marcel", "Margot", "Mateo", "Meera", "Milan",
    "Miriam", "Morgan", "Nadia", "Naomi", "Niklas", "Noor", "Octavia", "Olaf", "Oscar", "Otto", "Patrick", "Pavel",
    "Petra", "Philip", "Priya", "Quentin", "Rafael", "Ramona", "Robert", "Rosalind", "Rufus", "Samir", "Selma",
    "Silvan", "Sophie", "Stefan", "Tamsin", "Theo", "Ursula", "Victor", "Wanda", "Yusuf", "Zelda",
];

/// Letter of each name that is asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Letter {
    /// The first.
    First,
    /// The second, third or fourth.
    Nth(u8),
    /// The last.
    #[default]
    Last,
}

/// Options of generated questions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LetterOptions {
    /// Names of each question, from 1 to [`MAX_WORDS`].
    pub words: usize,
    /// Letter of each name that is asked for.
    pub letter: Letter,
    /// Seed of the choice of names.
    pub seed: u64,
}

impl FromStr for Letter {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "first" | "1" => Ok(Self::First),
            "last" => Ok(Self::Last),
            "2" => Ok(Self::Nth(2)),
            "3" => Ok(Self::Nth(3)),
            "4" => Ok(Self::Nth(4)),
            _ => Err("expected first, last, or a number from 2 to 4: the shortest names have four letters".to_owned()),
        }
    }
}

impl fmt::Display for Letter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::First => "first",
            Self::Nth(2) => "second",
            Self::Nth(3) => "third",
            Self::Nth(_) => "fourth",
            Self::Last => "last",
        })
    }
}

impl Letter {
    /// This letter of a name, in lower case.
    fn of(self, name: &str) -> char {
        let letter = match self {
            Self::First => name.chars().next(),
            Self::Nth(number) => name.chars().nth(usize::from(number).saturating_sub(1)),
            Self::Last => name.chars().last(),
        };
        letter.unwrap_or_default().to_ascii_lowercase()
    }
}

/// Names that are asked for, in order.
type Names = Vec<&'static str>;

/// The names that are drawn with the number `number`: different ones, but perhaps those of another number.
fn drawn(options: LetterOptions, stream: u64, number: u64) -> Names {
    let mut random = ChaCha8Rng::seed_from_u64(options.seed);
    random.set_stream(stream);
    // Questions do not depend on how many there are.
    let mut random = ChaCha8Rng::seed_from_u64(random.next_u64() ^ number);
    let mut names = NAMES;
    let (chosen, _) = names.partial_shuffle(&mut random, words(options));
    chosen.to_vec()
}

fn words(options: LetterOptions) -> usize {
    options.words.clamp(1, MAX_WORDS)
}

/// The names of all [`MAX_SHOTS`] examples, different from one another.
fn examples(options: LetterOptions) -> Vec<Names> {
    let mut seen = HashSet::new();
    let drawn = (0..).map(|number| drawn(options, 1, number));
    drawn
        .filter(|names| seen.insert(names.clone()))
        .take(MAX_SHOTS)
        .collect()
}

/// Returns the number of different questions that are no example.
pub(super) fn available(options: LetterOptions) -> usize {
    let lists = (0..words(options)).fold(1_usize, |lists, at| lists.saturating_mul(NAMES.len() - at));
    lists - MAX_SHOTS
}

/// Writes the question about `names`.
fn question(letter: Letter, names: &[&str]) -> String {
    format!(
        "Take the {letter} letter of each word in \"{}\" and put them together, in lower case.",
        names.join(" ")
    )
}

/// The letters of `names`.
fn letters(letter: Letter, names: &[&str]) -> String {
    names.iter().map(|name| letter.of(name)).collect()
}

/// Generates `count` questions, at most as many as are [`available`]: all different, and none an example. Their names carry their
/// options, so that questions of other options are not taken for the same.
pub(super) fn generated(options: LetterOptions, count: usize) -> Vec<Question> {
    let mut seen: HashSet<Names> = examples(options).into_iter().collect();
    let drawn = (0..).map(|number| drawn(options, 0, number));
    let different = drawn.filter(|names| seen.insert(names.clone()));
    let letter = options.letter;
    let question = |(number, names): (usize, Names)| Question {
        id: format!("{letter}-{}-{}-{number:06}", words(options), options.seed),
        text: question(letter, &names),
        answer: letters(letter, &names),
    };
    let count = count.min(available(options));
    different.take(count).enumerate().map(question).collect()
}

/// The first `count` examples, at most [`MAX_SHOTS`].
pub(super) fn demonstrations(options: LetterOptions, count: usize) -> Vec<Demonstration> {
    let letter = options.letter;
    let demonstration = |names: Names| {
        let single: Vec<String> = names
            .iter()
            .map(|name| format!("The {letter} letter of {name} is {}.", letter.of(name)))
            .collect();
        let answer = letters(letter, &names);
        Demonstration {
            question: question(letter, &names),
            reasoning: format!("{} Put together, they are {answer}.", single.join(" ")),
            answer: format!("\"{answer}\""),
        }
    };
    examples(options).into_iter().take(count).map(demonstration).collect()
}

//! Many threads on one compiled schema: masks per second, and how long they wait for one another.
//!
//! `cargo run --release -p maskwright-benches --example threads`: each of N threads replays a document of its own by a copy
//! of one compiled masker; beside it, by a masker that was compiled for it alone. `first`: no document was read before;
//! `again`: the same documents once more. A thread that neither computes nor is ready to is blocked: on the lock of the
//! compiled schema, for there is no other. Linux tells both times (`schedstat`); elsewhere they are missing.

use std::fmt::Write as _;
use std::fs;
use std::io::{self, Write as _};
use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use maskwright::{Compiler, ExactCompiler, ExactOptions, Masker, TokenId};
use maskwright_benches::{on_large_stack, vocabulary};

const THREADS: [usize; 5] = [1, 2, 4, 8, 16];
/// Documents that a thread reads, one after the other.
const DOCUMENTS: usize = 20;
const ITEMS: usize = 200;
/// Runs of which the one with most masks per second counts: other work on the machine only takes from it.
const RUNS: usize = 5;

const SCHEMA: &str = r#"{
    "type": "array",
    "items": {
        "type": "object",
        "properties": {
            "id": {"type": "string", "pattern": "^[A-Z]{2}-[0-9]{4}$"},
            "name": {"type": "string", "maxLength": 60},
            "kind": {"enum": ["small", "large", "other"]},
            "count": {"type": "integer", "minimum": 0, "maximum": 5000},
            "tags": {"type": "array", "items": {"type": "string"}, "maxItems": 5}
        },
        "required": ["id", "name", "kind"],
        "additionalProperties": false
    }
}"#;

/// A document that no other thread has.
fn document(thread: usize) -> String {
    let mut text = String::from("[");
    for item in 0..ITEMS {
        let number = (item * 7919 + thread * 104_729) % 10_000;
        let (first, second) = (
            (b'A' + (number % 26) as u8) as char,
            (b'A' + (thread % 26) as u8) as char,
        );
        let kind = ["small", "large", "other"][(item + thread) % 3];
        let count = number / 2;
        // Writing to a string cannot fail.
        let _ = write!(
            text,
            r#"{}{{"id": "{first}{second}-{number:04}", "name": "somebody {number} of {thread}", "kind": "{kind}", "count": {count}, "tags": ["t{number}", "of {thread}"]}}"#,
            if item > 0 { ", " } else { "" },
        );
    }
    text + "]"
}

/// Times of a thread.
struct Times {
    start: Instant,
    end: Instant,
    computing: Duration,
    /// Ready, but no core was free.
    ready: Duration,
}

impl Times {
    fn elapsed(&self) -> Duration {
        self.end - self.start
    }

    fn blocked(&self) -> Duration {
        self.elapsed().saturating_sub(self.computing).saturating_sub(self.ready)
    }
}

/// Times of this thread so far, computing and ready.
fn scheduled() -> Option<(Duration, Duration)> {
    let text = fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let mut numbers = text.split_whitespace().map_while(|word| word.parse().ok());
    Some((
        Duration::from_nanos(numbers.next()?),
        Duration::from_nanos(numbers.next()?),
    ))
}

fn main() {
    on_large_stack(|| {
        let vocabulary = vocabulary();
        let tokenizer = vocabulary.tokenizer().expect("it comes with its tokenizer");
        let compiler = ExactCompiler::new(vocabulary.clone(), ExactOptions::judging());
        let compile = || compiler.compile(SCHEMA).expect("a sound schema");
        let mut out = io::stdout().lock();
        let mut line = |text: &str| writeln!(out, "{text}").expect("standard output takes it");
        line(
            "| threads | compiled | documents | masks per second | per second of processor time | computing | no core free | blocked |",
        );
        line("|--:|---|---|--:|--:|--:|--:|--:|");
        for threads in THREADS {
            let documents: Vec<Vec<TokenId>> = (0..threads)
                .map(|thread| tokenizer.tokenize(document(thread).as_bytes()))
                .collect();
            for shared in [true, false] {
                let mut best = [Measured::default(); 2];
                for _ in 0..RUNS {
                    let one = compile();
                    let maskers: Vec<Box<dyn Masker>> = (0..threads)
                        .map(|_| match shared {
                            true => one.fork().expect("a masker can be copied"),
                            false => compile(),
                        })
                        .collect();
                    for (best, copies) in best.iter_mut().zip([1, DOCUMENTS]) {
                        let measured = replay(&maskers, &documents, copies);
                        if measured.per_second > best.per_second {
                            *best = measured;
                        }
                    }
                }
                for (visit, measured) in ["first", "again"].iter().zip(best) {
                    let [computing, ready, blocked] = measured.shares.map(|share| 100.0 * share);
                    line(&format!(
                        "| {threads} | {} | {visit} | {:.0} | {:.0} | {computing:.0} % | {ready:.0} % | {blocked:.0} % |",
                        if shared { "once" } else { "for each" },
                        measured.per_second,
                        measured.per_processor_second,
                    ));
                }
            }
        }
    });
}

/// A run.
#[derive(Clone, Copy, Default)]
struct Measured {
    /// Masks of all threads.
    per_second: f64,
    per_processor_second: f64,
    /// Shares of the threads' time: computing, ready, blocked.
    shares: [f64; 3],
}

/// Every masker's copies over its document, one after the other; all maskers at once.
fn replay(maskers: &[Box<dyn Masker>], documents: &[Vec<TokenId>], copies: usize) -> Measured {
    let barrier = Barrier::new(maskers.len() + 1);
    thread::scope(|scope| {
        let mut threads = Vec::new();
        for (masker, document) in maskers.iter().zip(documents) {
            let copies = (0..copies).map(|_| masker.fork().expect("a masker can be copied"));
            let (copies, barrier): (Vec<_>, _) = (copies.collect(), &barrier);
            threads.push(scope.spawn(move || {
                barrier.wait();
                read(copies, document)
            }));
        }
        barrier.wait();
        let times = threads
            .into_iter()
            .map(|thread| thread.join().expect("replays do not panic"));
        let times: Vec<Times> = times.collect();
        let elapsed = times
            .iter()
            .map(|times| times.end)
            .max()
            .zip(times.iter().map(|times| times.start).min());
        let elapsed = elapsed.map_or(Duration::ZERO, |(end, start)| end - start);
        let sum = |time: fn(&Times) -> Duration| times.iter().map(time).sum::<Duration>().as_secs_f64();
        let total = sum(Times::elapsed);
        let masks = copies * documents.iter().map(Vec::len).sum::<usize>();
        Measured {
            per_second: masks as f64 / elapsed.as_secs_f64(),
            per_processor_second: masks as f64 / sum(|times| times.computing),
            shares: [
                sum(|times| times.computing),
                sum(|times| times.ready),
                sum(Times::blocked),
            ]
            .map(|time| time / total),
        }
    })
}

/// Does one thread's work.
fn read(copies: Vec<Box<dyn Masker>>, document: &[TokenId]) -> Times {
    let (start, before) = (Instant::now(), scheduled());
    for mut masker in copies {
        for &token in document {
            masker.mask().expect("a mask");
            masker.advance(token).expect("the document is valid");
        }
    }
    let (end, after) = (Instant::now(), scheduled());
    let (computing, ready) = match before.zip(after) {
        Some((before, after)) => (after.0 - before.0, after.1 - before.1),
        None => Default::default(),
    };
    Times {
        start,
        end,
        computing,
        ready,
    }
}

//! Explanations against the evaluator of loaded schemas, and against their own definition.

mod corpus;

use rand::{Rng as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

use super::conflict::{Excluded, excludes};
use super::relax::Relaxable;
use super::*;
use crate::automaton::tests::{Regexes, SCHEMAS, document};
use crate::json::{Document, Value};
use crate::schema::evaluate::is_valid;
use crate::Limits;

fn explainer(schema: &str) -> Explainer {
    Explainer::new(schema, &ExactOptions::default()).unwrap()
}

/// Whether `text` is a valid document; none where it is not JSON.
fn judge(schema: &SchemaSet, text: &[u8]) -> Option<bool> {
    let text = std::str::from_utf8(text).ok()?;
    let document = Document::parse(text, &Limits::default()).ok()?;
    Some(is_valid(schema, &Regexes, &Value::new(&document, 0).unwrap()))
}

/// Whether a schema without some of its keywords still excludes something.
struct Without {
    relaxable: Relaxable,
    places: Vec<Vec<SchemaPlace>>,
}

impl Without {
    fn new(set: &SchemaSet, root: NodeId) -> Self {
        let relaxable = Relaxable::new(set, root);
        let places = |candidate| {
            let places = relaxable.places(candidate).into_iter();
            let place = |(document, pointer): (Option<&str>, _)| SchemaPlace {
                document: document.map(str::to_owned),
                pointer,
            };
            places.map(place).collect()
        };
        let places = (0..relaxable.len()).map(places).collect();
        Self { relaxable, places }
    }

    /// With the keywords for which `kept` says so.
    fn excludes(&mut self, kept: &dyn Fn(&SchemaPlace) -> bool, excluded: Excluded<'_>) -> bool {
        let all = 0..self.places.len();
        let kept: Vec<usize> = all.filter(|candidate| self.places[*candidate].iter().any(kept)).collect();
        self.relaxable.keep(&kept);
        let (set, root) = self.relaxable.set();
        excludes(
            &mut Automaton::lazy(set, Formats::Annotation, Style::rfc8259()),
            root,
            excluded,
        )
        .unwrap()
    }

    /// That a conflict is what it should be.
    fn check_conflict(&mut self, conflict: &Conflict, excluded: Excluded<'_>) {
        let keywords = &conflict.keywords;
        assert!(conflict.minimal && !keywords.is_empty());
        assert!(self.excludes(&|place| keywords.contains(place), excluded), "{conflict}");
        for one in keywords {
            let others = |place: &SchemaPlace| place != one && keywords.contains(place);
            assert!(!self.excludes(&others, excluded), "{conflict} without {one}");
        }
    }

    /// That a remedy is what it should be.
    fn check_remedy(&mut self, remedy: &Conflict, excluded: Excluded<'_>) {
        let keywords = &remedy.keywords;
        assert!(remedy.minimal && !keywords.is_empty());
        assert!(!self.excludes(&|place| !keywords.contains(place), excluded), "{remedy}");
        for one in keywords {
            let fewer = |place: &SchemaPlace| place == one || !keywords.contains(place);
            assert!(self.excludes(&fewer, excluded), "{remedy} with {one}");
        }
    }
}

/// A random document, now and then with a byte too many, one too few, or another one.
fn text(random: &mut ChaCha8Rng) -> Vec<u8> {
    let mut text = document(random, 3).into_bytes();
    let at = random.random_range(0..text.len());
    match random.random_range(0..12) {
        0 => text.truncate(at),
        1 => drop(text.remove(at)),
        2 => text.insert(at, b"{}[],:\"1a"[random.random_range(0..9)]),
        _ => {}
    }
    text
}

#[test]
fn forbidden_bytes_are_blamed_on_a_minimal_set_of_keywords() {
    let mut random = ChaCha8Rng::seed_from_u64(3);
    for schema in SCHEMAS {
        let mut explainer = explainer(schema);
        let set = explainer.set.clone();
        let mut without = Without::new(&set, set.root());
        for _ in 0..60 {
            let text = text(&mut random);
            let shown = format!("{schema}\n{}", String::from_utf8_lossy(&text));
            let verdict = judge(&set, &text);
            let Some(forbidden) = explainer.forbidden(&text).unwrap() else {
                assert_eq!(verdict, Some(true), "{shown}");
                continue;
            };
            assert_ne!(verdict, Some(true), "{shown}\n{forbidden}");
            let before = &text[..forbidden.offset];
            let excluded = match forbidden.byte {
                Some(byte) => Excluded::Byte(before, byte),
                None => Excluded::End(before),
            };
            match &forbidden.cause {
                Cause::Keywords { conflict, remedy } => {
                    without.check_conflict(conflict, excluded);
                    without.check_remedy(remedy, excluded);
                }
                Cause::Style => panic!("any style will do: {shown}"),
                Cause::Syntax | Cause::RepeatedName(_) => assert_eq!(verdict, None, "{shown}\n{forbidden}"),
            }
        }
    }
}

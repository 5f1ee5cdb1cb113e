//! The decode loop against a model and a framework that do exactly as told.

use std::cell::Cell;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use maskwright::{Compiler as _, ExactCompiler, ExactOptions, TokenId, TokenMask, Vocabulary};
use maskwright_models::{
    Constraint, DecodeError, DecodeOptions, Family, FinishReason, Generation, LanguageModel as _, SamplingOptions,
    generate,
};

use crate::checkpoints::{open, write};
use crate::scripted::{Counter, EOS, Endless, Interrupted, Nested, OTHER_EOS, Scripted, Speculating, Step, VOCABULARY};

fn constraint(script: Vec<Step>) -> Option<Constraint> {
    Some(Constraint {
        framework: "scripted".to_owned(),
        masker: Box::new(Scripted {
            script,
            position: 0,
            mask: TokenMask::none(VOCABULARY),
        }),
    })
}

fn options() -> DecodeOptions {
    DecodeOptions::new(SamplingOptions::default(), vec![EOS, OTHER_EOS], 100)
}

fn run(model: &mut Counter, script: Option<Vec<Step>>, options: &DecodeOptions) -> Generation {
    generate(
        model,
        &[1, 2],
        script.and_then(constraint),
        options,
        &AtomicBool::new(false),
    )
}

fn finish(generation: &Generation) -> FinishReason {
    *generation.finish.as_ref().expect("no error")
}

#[test]
fn unconstrained_until_an_end_of_sequence_token() {
    let mut model = Counter::new();
    let generation = run(&mut model, None, &options());
    assert_eq!(finish(&generation), FinishReason::EndOfSequence);
    assert_eq!(
        generation.token_ids(),
        (3..38).collect::<Vec<_>>(),
        "38 ends it and is not counted"
    );
    assert_eq!(generation.forward_passes, 36);
    assert_eq!(generation.mask_times.masks, 0);
    let times: Vec<Duration> = generation.tokens.iter().map(|token| token.at).collect();
    assert!(times.is_sorted() && *times.last().unwrap() <= generation.total);
    assert_eq!(generation.time_to_first_token(), Some(times[0]));
}

#[test]
fn limits_end_an_answer() {
    let limited = DecodeOptions {
        max_tokens: 5,
        ..options()
    };
    let generation = run(&mut Counter::new(), None, &limited);
    assert_eq!(
        (finish(&generation), generation.tokens.len()),
        (FinishReason::TokenLimit, 5)
    );

    let mut small = Counter::new();
    small.max_positions = 6;
    let generation = run(&mut small, None, &options());
    assert_eq!(
        (finish(&generation), generation.tokens.len()),
        (FinishReason::ContextFull, 5)
    );

    small.max_positions = 1;
    let generation = run(&mut small, None, &options());
    assert_eq!(
        (finish(&generation), generation.tokens.len()),
        (FinishReason::ContextFull, 0)
    );

    let none = DecodeOptions {
        time_limit: Some(Duration::ZERO),
        ..options()
    };
    assert_eq!(finish(&run(&mut Counter::new(), None, &none)), FinishReason::TimeLimit);

    let cancelled = generate(&mut Counter::new(), &[1], None, &options(), &AtomicBool::new(true));
    assert_eq!(finish(&cancelled), FinishReason::Cancelled);
}

#[test]
fn an_answer_without_a_token_limit_reserves_no_more_memory_than_a_long_one() {
    let unlimited = DecodeOptions {
        max_tokens: usize::MAX,
        ..options()
    };
    // The prompt has two tokens.
    let mut model = Counter {
        reservable: 2 + 4096,
        ..Counter::new()
    };
    let generation = run(&mut model, None, &unlimited);
    assert_eq!(
        (finish(&generation), generation.tokens.len()),
        (FinishReason::EndOfSequence, 35)
    );
    model.reservable = 2 + 4095;
    let generation = run(&mut model, None, &unlimited);
    assert!(
        matches!(generation.finish, Err(DecodeError::Model(_))),
        "{:?}",
        generation.finish
    );
}

#[test]
fn a_long_prompt_is_given_up_between_its_parts() {
    let directory = write(Family::Llama, |checkpoint| {
        checkpoint.config["max_position_embeddings"] = 4096.into();
    });
    let prompt: Vec<TokenId> = (0..2100).map(|place| place % 256).collect();
    let limit = Duration::from_millis(500);
    for (asks, time_limit, reason) in [
        (true, None, FinishReason::Cancelled),
        (false, Some(limit), FinishReason::TimeLimit),
    ] {
        for script in [None, Some(vec![Step::Allow(vec![4])])] {
            let cancel = AtomicBool::new(false);
            let mut model = Interrupted {
                model: open(directory.path()).unwrap().model,
                cancel: asks.then_some(&cancel),
                pause: time_limit.unwrap_or_default(),
                asked: Cell::new(0),
            };
            let options = DecodeOptions {
                time_limit,
                ..options()
            };
            let generation = generate(&mut model, &prompt, script.and_then(constraint), &options, &cancel);
            assert_eq!((finish(&generation), generation.tokens.len()), (reason, 0));
            let read = (model.asked.get(), model.position());
            assert_eq!(read, (1, 0), "after the first of five parts");
        }
    }
}

#[test]
fn effects_of_masks_are_those_of_the_logits_they_hold_for() {
    // A token n above the favourite has the logit -n.
    let all: f64 = (0..VOCABULARY).map(|above| (-(above as f64)).exp()).sum();
    let script = || {
        vec![
            Step::Allow(vec![20, 10]),
            Step::Force(vec![11, 30]),
            Step::Allow(vec![30]),
            Step::Allow(vec![31, 33]),
            Step::Allow(vec![EOS]),
        ]
    };
    for overlap in [true, false] {
        let mask_effects = true;
        let options = DecodeOptions {
            overlap,
            mask_effects,
            ..options()
        };
        let generation = run(&mut Counter::new(), Some(script()), &options);
        // The favourites are 3, 31 and 32; of the forced tokens nothing is said.
        let expected = [
            ((-17.0_f64).exp() + (-7.0_f64).exp(), true),
            (1.0 + (-2.0_f64).exp(), false),
            ((-7.0_f64).exp(), true),
        ];
        assert_eq!(generation.mask_effects.len(), expected.len());
        for (effect, (allowed, forbidden)) in generation.mask_effects.iter().zip(expected) {
            assert!((effect.removed - (1.0 - allowed / all)).abs() < 1e-6, "{effect:?}");
            assert_eq!(effect.first_choice_forbidden, forbidden);
        }
    }
    assert!(
        run(&mut Counter::new(), Some(script()), &options())
            .mask_effects
            .is_empty()
    );
}

#[test]
fn masks_decide_and_forced_tokens_share_a_forward_pass() {
    let script = || {
        vec![
            Step::Allow(vec![20, 10]),
            Step::Force(vec![11, 30]),
            Step::Allow(vec![30]),
            Step::Allow(vec![5, EOS]),
            Step::Allow(vec![EOS]),
        ]
    };
    for overlap in [true, false] {
        let mut model = Counter::new();
        let generation = run(&mut model, Some(script()), &DecodeOptions { overlap, ..options() });
        assert_eq!(finish(&generation), FinishReason::EndOfSequence);
        let tokens: Vec<(TokenId, bool)> = generation.tokens.iter().map(|token| (token.id, token.forced)).collect();
        assert_eq!(
            tokens,
            [(10, false), (11, true), (30, true)],
            "39 is nearer to 30 than 5 is"
        );
        assert_eq!(generation.forced_tokens(), 2);
        assert_eq!(*model.batches.lock().unwrap(), [vec![1, 2], vec![10, 11, 30]]);
        assert_eq!(generation.mask_times.masks, 2);
        assert!(generation.mask_times.exposed <= generation.total);
    }
    let mut model = Counter::new();
    let generation = run(
        &mut model,
        Some(script()),
        &DecodeOptions {
            fast_forward: false,
            ..options()
        },
    );
    assert_eq!(generation.token_ids(), [10, 11, 30], "the same answer, sampled");
    assert_eq!(generation.forced_tokens(), 0);
    assert_eq!(model.batches.lock().unwrap().len(), 4);
}

#[test]
fn a_forced_end_needs_no_forward_pass() {
    let mut model = Counter::new();
    let generation = run(
        &mut model,
        Some(vec![Step::Allow(vec![7]), Step::Force(vec![EOS])]),
        &options(),
    );
    assert_eq!(
        (finish(&generation), generation.token_ids()),
        (FinishReason::EndOfSequence, vec![7])
    );
    assert_eq!(generation.forward_passes, 1);
}

#[test]
fn forced_tokens_stop_at_the_token_limit() {
    let script = vec![Step::Allow(vec![7]), Step::Force((8..30).collect())];
    let steps: Vec<Step> = script
        .into_iter()
        .chain((9..30).map(|token| Step::Allow(vec![token])))
        .collect();
    let generation = run(
        &mut Counter::new(),
        Some(steps),
        &DecodeOptions {
            max_tokens: 4,
            ..options()
        },
    );
    assert_eq!(
        (finish(&generation), generation.token_ids()),
        (FinishReason::TokenLimit, vec![7, 8, 9, 10])
    );
}

#[test]
fn nothing_is_sampled_from_a_dead_end() {
    let generation = run(
        &mut Counter::new(),
        Some(vec![Step::Allow(vec![4]), Step::Allow(vec![])]),
        &options(),
    );
    assert_eq!(generation.token_ids(), [4], "what came before is kept");
    let error = generation.finish.unwrap_err();
    assert!(matches!(&error, DecodeError::DeadEnd { position: 1, .. }), "{error}");
    assert_eq!(
        error.to_string(),
        "framework scripted allows no token after 1 tokens: a dead end"
    );
}

#[test]
fn a_failing_framework_is_named_and_ends_only_the_answer() {
    for (step, said) in [
        (Step::Panic, "panicked: as scripted"),
        (Step::Fail, "reached a limit: as scripted"),
    ] {
        for overlap in [true, false] {
            let script = vec![Step::Allow(vec![4]), step.clone()];
            let generation = run(
                &mut Counter::new(),
                Some(script),
                &DecodeOptions { overlap, ..options() },
            );
            assert_eq!(generation.token_ids(), [4]);
            let error = generation.finish.unwrap_err().to_string();
            assert!(error.contains("framework scripted") && error.contains(said), "{error}");
        }
    }
    let lies = vec![Step::Allow(vec![4]), Step::Force(vec![5, 6]), Step::Allow(vec![7])];
    let generation = run(&mut Counter::new(), Some(lies), &options());
    assert_eq!(generation.token_ids(), [4, 5]);
    assert!(
        generation
            .finish
            .unwrap_err()
            .to_string()
            .contains("token 6 is not allowed after 2 tokens")
    );
}

#[test]
fn a_hanging_framework_is_left_behind_at_the_time_limit() {
    let script = vec![Step::Allow(vec![4]), Step::Hang];
    let limited = DecodeOptions {
        time_limit: Some(Duration::from_millis(300)),
        ..options()
    };
    let generation = run(&mut Counter::new(), Some(script), &limited);
    assert_eq!(
        (finish(&generation), generation.token_ids()),
        (FinishReason::TimeLimit, vec![4])
    );
    assert!(generation.total < Duration::from_secs(10));
}

#[test]
fn answers_end_before_the_limit_where_the_framework_can_tell_how() {
    let nested = || Constraint {
        framework: "nested".to_owned(),
        masker: Box::new(Nested {
            depths: vec![0],
            mask: TokenMask::none(VOCABULARY),
        }),
    };
    let generation = |max_tokens: usize, finish_in_time: bool| {
        let options = DecodeOptions {
            max_tokens,
            finish_in_time,
            ..options()
        };
        let cancel = AtomicBool::new(false);
        generate(&mut Counter::new(), &[1, 2], Some(nested()), &options, &cancel)
    };
    assert_eq!(generation(24, false).finish.unwrap(), FinishReason::TokenLimit);
    for max_tokens in 2..40 {
        let generation = generation(max_tokens, true);
        let tokens = generation.token_ids();
        let closed = tokens.iter().filter(|token| **token == 31).count();
        assert!(tokens.len() <= max_tokens);
        if max_tokens > 12 {
            // As deep as there is room for, and every parenthesis closed.
            assert_eq!(generation.finish.unwrap(), FinishReason::EndOfSequence, "{max_tokens}");
            assert_eq!(2 * closed, tokens.len());
            assert!(tokens[..2] == [3, 4] && tokens.len() + 12 >= max_tokens, "{tokens:?}");
        }
    }
}

#[test]
fn a_document_that_could_go_on_for_ever_is_ended_where_nothing_longer_fits() {
    let vocabulary = (0..OTHER_EOS).fold(Vocabulary::builder(), |builder, id| {
        builder.text(id, id.to_string()).unwrap()
    });
    let vocabulary = vocabulary.special(EOS, "end").unwrap().eos([EOS]).build().unwrap();
    let compiler = ExactCompiler::new(Arc::new(vocabulary), ExactOptions::judging());
    for max_tokens in 2..10 {
        let constraint = Constraint {
            framework: "maskwright".to_owned(),
            masker: compiler.compile(r#"{"type": "integer", "minimum": 1}"#).unwrap(),
        };
        let limited = DecodeOptions {
            max_tokens,
            ..options()
        };
        let cancel = AtomicBool::new(false);
        let generation = generate(&mut Counter::new(), &[1, 2], Some(constraint), &limited, &cancel);
        // After "1" the model likes more digits than are passed over one by one better than the end.
        assert_eq!(
            (finish(&generation), generation.token_ids()),
            (FinishReason::EndOfSequence, vec![1]),
            "{max_tokens}"
        );
    }
}

#[test]
fn a_token_after_which_the_document_cannot_be_ended_is_taken_back_with_what_it_forces() {
    for overlap in [true, false] {
        let mut model = Counter::new();
        let masker = Endless {
            tokens: Vec::new(),
            mask: TokenMask::none(VOCABULARY),
        };
        let constraint = Constraint {
            framework: "endless".to_owned(),
            masker: Box::new(masker),
        };
        let options = DecodeOptions { overlap, ..options() };
        let cancel = AtomicBool::new(false);
        // The model likes 5 best after 4.
        let generation = generate(&mut model, &[1, 4], Some(constraint), &options, &cancel);
        assert_eq!(finish(&generation), FinishReason::EndOfSequence);
        assert_eq!(generation.token_ids(), [6], "the next best, by the logits of its place");
        assert_eq!(model.sequence, [1, 4, 6]);
        assert_eq!(*model.batches.lock().unwrap(), [vec![1, 4], vec![5, 6], vec![6]]);
    }
}

#[test]
fn likely_tokens_are_prepared_while_the_model_runs() {
    let script: Vec<Step> = (0..6)
        .map(|turn| Step::Allow(vec![10 + turn, 20, 22 + turn]))
        .chain([Step::Allow(vec![EOS])])
        .collect();
    for overlap in [true, false] {
        let speculated = Arc::<Mutex<Vec<(usize, TokenId)>>>::default();
        let constraint = Constraint {
            framework: "speculating".to_owned(),
            masker: Box::new(Speculating {
                masker: Scripted {
                    script: script.clone(),
                    position: 0,
                    mask: TokenMask::none(VOCABULARY),
                },
                speculated: speculated.clone(),
            }),
        };
        let mut model = Counter {
            pause: Duration::from_millis(40),
            ..Counter::new()
        };
        let options = DecodeOptions { overlap, ..options() };
        let generation = generate(&mut model, &[1, 2], Some(constraint), &options, &AtomicBool::new(false));
        assert_eq!(finish(&generation), FinishReason::EndOfSequence);
        assert_eq!(generation.token_ids(), [10, 11, 12, 13, 14, 15]);
        let speculated = speculated.lock().unwrap();
        assert_eq!(!speculated.is_empty(), overlap, "{speculated:?}");
        assert!(speculated.iter().all(|&(position, token)| match &script[position] {
            Step::Allow(tokens) => tokens.contains(&token),
            _ => false,
        }));
        assert_eq!(generation.mask_times.speculation > Duration::ZERO, overlap);
    }
}

//! Tests with workers that crash, hang, use up memory or break the protocol; they are shell scripts.

use maskwright_worker::{Purpose, StyleChanges};
use std::collections::BTreeMap;
use std::time::Duration;

use maskwright::{CompileErrorKind, Compiler, MaskError, Vocabulary};

use super::*;
use crate::worker::trial::{Compilation, EndingKind, Trial, TrialOptions};

const LIMITS: Limits = Limits {
    time: Duration::from_secs(20),
    memory_mib: 200,
};

/// A worker that answers as it should, unless a schema or a token asks for something else: `BODY` comes first for
/// each request, whose text is `$line`.
fn script(body: &str) -> Launch {
    let script = format!(
        r#"while IFS= read -r line; do
        {body}
        case "$line" in
            *'"op":"hello"'*) echo '{{"name":"script","version":"1","options":"none"}}' ;;
            *'"op":"setup"'* | *'"op":"drop"'*) echo '{{}}' ;;
            *'"op":"compile"'*) echo '{{"masker":7,"wall_ns":1000,"cpu_ns":900}}' ;;
            *'"op":"replay"'*) echo '{{"accepted":1,"complete":true,"wall_ns":[5],"cpu_ns":[4]}}' ;;
            *'"op":"mask"'*) printf '{{"wall_ns":1,"bytes":4}}\n\002\000\000\000' ;;
            *'"op":"advance"'*) echo '{{"wall_ns":1}}' ;;
            *) echo '{{"error":"not offered"}}' ;;
        esac
    done"#
    );
    Launch::new("sh", vec!["-c".to_owned(), script])
}

fn worker(body: &str) -> Worker {
    let vocabulary = Vocabulary::builder()
        .text(0, *b"{")
        .and_then(|builder| builder.text(1, *b"}"))
        .and_then(|builder| builder.special(2, "<eos>"))
        .and_then(|builder| builder.eos([2]).build())
        .unwrap();
    let provision = Provision::new(
        &vocabulary,
        None,
        &BTreeMap::new(),
        false,
        Purpose::Judge,
        &StyleChanges::default(),
    );
    Worker::new(script(body), provision, LIMITS)
}

fn trial(worker: &mut Worker, schema: &str, limits: Limits) -> Trial {
    let options = TrialOptions {
        limits,
        first_mask: true,
        forced: false,
    };
    Trial::run(worker, schema, &BTreeMap::new(), &[vec![0]], &options)
}

/// The worker does `body` where a schema says "bad"; the schemas before and after it must not notice.
fn survives(body: &str, limits: Limits) -> EndingKind {
    let mut worker = worker(&format!(r#"case "$line" in *bad*) {body} ;; esac"#));
    let good = |worker: &mut Worker| {
        let trial = trial(worker, "good", LIMITS);
        let Compilation::Done { time, .. } = trial.compilation else {
            panic!("{trial:?}");
        };
        assert_eq!((time.wall_ns, time.cpu_ns), (1000, 900));
        assert_eq!(trial.replays[0].as_ref().unwrap().wall_ns, [5]);
    };
    good(&mut worker);
    let outcome = trial(&mut worker, "bad", limits);
    good(&mut worker);
    assert_eq!(worker.generation(), 2, "a fresh process after the failure");
    match outcome.compilation {
        Compilation::Failed(ending) => ending.kind,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_run_survives_a_segmentation_fault() {
    assert_eq!(survives("kill -SEGV $$", LIMITS), EndingKind::Crash);
}

#[test]
fn a_run_survives_a_worker_that_exits() {
    assert_eq!(survives("echo broken >&2; exit 3", LIMITS), EndingKind::Crash);
}

#[test]
fn a_run_survives_an_endless_loop() {
    let limits = Limits {
        time: Duration::from_millis(300),
        ..LIMITS
    };
    assert_eq!(survives("while :; do :; done", limits), EndingKind::Timeout);
}

#[test]
fn a_run_survives_a_worker_that_sleeps_through_its_limit() {
    let limits = Limits {
        time: Duration::from_millis(100),
        ..LIMITS
    };
    assert_eq!(survives("sleep 1000", limits), EndingKind::Timeout);
}

#[test]
fn a_run_survives_a_worker_that_eats_memory() {
    let limits = Limits {
        memory_mib: 60,
        ..LIMITS
    };
    let eat = "a=xxxxxxxxxxxxxxxx; while :; do a=$a$a; done";
    assert_eq!(survives(eat, limits), EndingKind::Memory);
}

#[test]
fn a_run_survives_replies_that_are_none() {
    for nonsense in ["echo oops", "echo '[1,2]'", r#"echo '{"bytes":99999999999}'"#] {
        assert_eq!(survives(&format!("{nonsense}; continue"), LIMITS), EndingKind::Protocol);
    }
}

#[test]
fn a_failure_tells_how_the_worker_ended_and_what_it_said() {
    let mut worker = worker(r#"case "$line" in *bad*) echo out of luck >&2; exit 3 ;; esac"#);
    let failure = worker.compile("bad", &BTreeMap::new(), false, &LIMITS).unwrap_err();
    let text = failure.to_string();
    assert!(
        text.contains("exit status: 3") && text.contains("out of luck"),
        "{text}"
    );
}

#[test]
fn a_crash_while_replaying_is_told_of_that_instance() {
    let mut worker = worker(r#"case "$line" in *'"op":"replay"'*) kill -ABRT $$ ;; esac"#);
    let trial = trial(&mut worker, "good", LIMITS);
    assert!(matches!(trial.compilation, Compilation::Done { .. }));
    assert_eq!(trial.replays.len(), 1);
    assert_eq!(trial.replays[0].as_ref().unwrap_err().kind, EndingKind::Crash);
}

/// A worker prepares nothing before it describes itself, so that it is not waited for as long as for a compilation.
#[test]
fn a_worker_that_never_says_what_it_is_is_given_up_after_half_a_minute() {
    let silent = Launch::new("sleep", vec!["1000".to_owned()]);
    let limits = Limits {
        time: Duration::from_secs(3600),
        ..LIMITS
    };
    let start = std::time::Instant::now();
    let failure = describe(&silent, &limits).unwrap_err();
    let limit = Duration::from_secs(30);
    assert_eq!(failure, WorkerFailure::TimedOut { limit });
    assert!((limit..2 * limit).contains(&start.elapsed()), "{:?}", start.elapsed());
}

#[test]
fn a_program_that_does_not_exist_is_named() {
    let launch = Launch::new("/nonexistent/worker", Vec::new());
    let text = describe(&launch, &LIMITS).unwrap_err().to_string();
    assert!(text.contains("/nonexistent/worker"), "{text}");
}

#[test]
fn a_request_that_is_not_offered_does_not_end_the_worker() {
    let compiler = compiler("");
    let mut masker = compiler.compile("good").unwrap();
    assert!(matches!(masker.is_complete(), Err(MaskError::Internal(_))));
    masker.advance(1).unwrap();
    assert_eq!(masker.position(), 1);
}

fn compiler(body: &str) -> WorkerCompiler {
    WorkerCompiler::new(worker(body), LIMITS, LIMITS, 3, false)
}

/// Replies of a wrong length are breaches of the protocol, and not verdicts on the framework.
#[test]
fn replies_of_a_wrong_length_are_refused() {
    for reply in [
        r#"{"accepted":1,"complete":true,"wall_ns":[],"cpu_ns":[4]}"#,
        r#"{"accepted":101,"complete":true,"wall_ns":[5],"cpu_ns":[4]}"#,
        r#"{"accepted":1,"complete":true,"wall_ns":[]}"#,
        r#"{"accepted":1,"complete":true,"wall_ns":[5,6]}"#,
    ] {
        let mut worker = worker(&format!(
            r#"case "$line" in *'"op":"replay"'*) echo '{reply}'; continue ;; esac"#
        ));
        let trial = trial(&mut worker, "good", LIMITS);
        let ending = trial.replays[0].as_ref().unwrap_err();
        assert_eq!(ending.kind, EndingKind::Protocol, "{ending:?}");
    }
    let short = r#"printf '{"wall_ns":1,"bytes":3}\n\002\000\000'"#;
    let compiler = compiler(&format!(
        r#"case "$line" in *'"op":"mask"'*) {short}; continue ;; esac"#
    ));
    let error = compiler.compile("good").unwrap().mask().unwrap_err().to_string();
    assert!(error.contains("a mask of 3 bytes instead of 4"), "{error}");
}

#[test]
fn masks_come_through_and_maskers_of_a_dead_worker_say_so() {
    let compiler = compiler(r#"case "$line" in *bad*) kill -SEGV $$ ;; esac"#);
    let mut masker = compiler.compile("good").unwrap();
    assert_eq!(masker.mask().unwrap().iter().collect::<Vec<_>>(), [1]);
    let error = compiler.compile("bad").map(|_| ()).unwrap_err();
    assert_eq!(error.kind(), CompileErrorKind::Internal);
    assert!(error.message().contains("SIGSEGV"), "{error}");
    // The mask that was handed out is still there; anything new is not.
    masker.mask().unwrap();
    assert!(matches!(masker.advance(1), Err(MaskError::Internal(_))));
    compiler.compile("good").unwrap().mask().unwrap();
}

//! Explanations of JSONSchemaBench's schemas, where they are at hand. Slow, and so run on demand.

use std::time::Instant;

use super::*;

/// Every schema without a value and every part without one is explained, in bounded time.
#[test]
#[ignore = "slow"]
fn what_no_value_satisfies_is_explained() {
    let Some(root) = crate::schema::tests::public_data("jsonschemabench") else {
        return;
    };
    let work = move || {
        let (mut schemas, mut with_parts, mut parts) = (0, 0, 0);
        for path in crate::schema::tests::json_files(&root.join("data")) {
            let text = std::fs::read_to_string(&path).unwrap();
            let Ok(mut explainer) = Explainer::new(&text, &ExactOptions::judging()) else {
                continue;
            };
            let begun = Instant::now();
            if let Ok(Some(conflict)) = explainer.conflict() {
                schemas += 1;
                println!("{}\n  {:?}: {conflict}", path.display(), begun.elapsed());
                assert!(!conflict.keywords.is_empty());
            } else if explainer.refused().is_empty()
                && let Ok(found) = explainer.unsatisfiable_parts()
                && !found.is_empty()
            {
                with_parts += 1;
                parts += found.len();
                println!("{}\n  {:?}", path.display(), begun.elapsed());
                for part in &found {
                    println!("  {part}");
                }
            }
        }
        println!("{schemas} without a value; {parts} parts without one in {with_parts} others");
    };
    let thread = std::thread::Builder::new().stack_size(1 << 30).spawn(work).unwrap();
    thread.join().unwrap();
}

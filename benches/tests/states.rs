//! The states can be measured: our engine reaches each, and a mask that is not trivial is computed there.

use std::collections::HashSet;

use maskwright::{ExactCompiler, ExactOptions};
use maskwright_benches::{SCHEMAS_TO_COMPILE, Visit, on_large_stack, states, vocabulary};

#[test]
fn the_engine_reaches_every_state() {
    on_large_stack(|| {
        let vocabulary = vocabulary();
        let compiler = ExactCompiler::new(vocabulary.clone(), ExactOptions::judging());
        let states = states();
        for state in &states {
            let visit = Visit::new(state, &vocabulary);
            let mut fresh = visit.fresh(&compiler, &state.schema).expect(state.name);
            let allowed = fresh.mask().expect(state.name).count();
            assert!(allowed > 1, "{}: nothing to choose", state.name);
            let mut again = visit.visited(&compiler, &state.schema).expect(state.name).arrive();
            assert_eq!(again.position(), fresh.position(), "{}", state.name);
            assert_eq!(again.mask(), fresh.mask(), "{}", state.name);
            visit.step(fresh.as_mut());
        }
        let names: HashSet<&str> = states.iter().map(|state| state.name).collect();
        assert_eq!(names.len(), states.len());
        assert!(SCHEMAS_TO_COMPILE.iter().all(|name| names.contains(name)));
    });
}

//! The frameworks of this program, under the contract.

#[path = "contract.rs"]
mod contract;

use std::collections::BTreeMap;

use contract::Subject;
use maskwright_worker::{Purpose, Setup};

use super::BUILT_IN_FRAMEWORKS;

fn subjects() -> impl Iterator<Item = Subject> {
    BUILT_IN_FRAMEWORKS.iter().map(|framework| Subject {
        name: framework.name,
        prepare: Box::new(|vocabulary| {
            let documents = BTreeMap::new();
            let setup = Setup {
                vocabulary,
                documents,
                assert_formats: false,
                purpose: Purpose::Judge,
            };
            (framework.prepare)(&setup).unwrap()
        }),
    })
}

//! The frameworks of this program, under the contract.

#[path = "contract.rs"]
mod contract;

use std::collections::BTreeMap;
use std::sync::Arc;

use ::maskwright::Vocabulary;
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
                style: Default::default(),
            };
            (framework.prepare)(&setup).unwrap()
        }),
    })
}

/// A run's changes to the style hold where a model writes, and not where documents are judged.
#[test]
fn the_style_of_a_run_reaches_our_engine() {
    let mut builder = Vocabulary::builder();
    for byte in 0..=u8::MAX {
        builder = builder.text(byte.into(), [byte]).unwrap();
    }
    let vocabulary = Arc::new(builder.special(256, "<end>").unwrap().eos([256]).build().unwrap());
    let schema = r#"{"type": "object", "properties": {"a": {"type": "integer"}}}"#;
    let takes = |name: &str, purpose, style: &str| {
        let framework = BUILT_IN_FRAMEWORKS
            .iter()
            .find(|framework| framework.name == name)
            .unwrap();
        let setup = Setup {
            vocabulary: vocabulary.clone(),
            documents: BTreeMap::new(),
            assert_formats: true,
            purpose,
            style: serde_json::from_str(style).unwrap(),
        };
        let mut masker = (framework.prepare)(&setup).unwrap().compile(schema).unwrap();
        br#"{"b":1}"#.iter().all(|byte| masker.advance(u32::from(*byte)).is_ok())
    };
    let closed = r#"{"closed": true}"#;
    assert!(takes("maskwright", Purpose::Generate, "{}") && !takes("maskwright", Purpose::Generate, closed));
    assert!(takes("maskwright", Purpose::Judge, closed));
    assert!(takes("maskwright-generation", Purpose::Judge, "{}"));
    assert!(!takes("maskwright-generation", Purpose::Judge, closed));
}

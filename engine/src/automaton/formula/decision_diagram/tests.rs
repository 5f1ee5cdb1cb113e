use super::*;

#[test]
fn decisions_are_looked_up_assertion_by_assertion() {
    let mut diagrams = DecisionDiagrams::default();
    let second = diagrams.branch(1, DiagramId::ALWAYS, DiagramId::NEVER);
    let both = diagrams.branch(0, second, DiagramId::NEVER);
    let either = diagrams.branch(0, DiagramId::ALWAYS, second);
    assert!(diagrams.admits(both, |_| true) && !diagrams.admits(both, |assertion| assertion == 1));
    assert!(diagrams.admits(either, |assertion| assertion == 1) && !diagrams.admits(either, |_| false));
    assert_eq!(
        (diagrams.forced(both, 0), diagrams.forced(both, 1)),
        (Some(true), Some(true))
    );
    assert_eq!((diagrams.forced(either, 0), diagrams.forced(either, 1)), (None, None));
    assert_eq!(diagrams.branch(0, second, second), second);
}

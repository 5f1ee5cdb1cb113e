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

/// All diagrams over three assertions, with all values that these tell apart.
#[test]
fn a_diagram_admits_the_vectors_it_was_made_of() {
    let vector = |number: u32| {
        (0..3)
            .map(|assertion| number & (4 >> assertion) != 0)
            .collect::<Vec<bool>>()
    };
    let satisfied = |number| (0..3).filter(|at| vector(number)[*at as usize]).collect::<Vec<u32>>();
    let values: Vec<Vec<u32>> = (0..8).map(satisfied).collect();
    for admitted in 0..256_u32 {
        let is_admitted: Vec<bool> = (0..8).map(|number| admitted >> number & 1 == 1).collect();
        let vectors: Vec<Vec<bool>> = (0..8)
            .rev()
            .filter(|at| is_admitted[*at as usize])
            .map(vector)
            .collect();
        let mut diagrams = DecisionDiagrams::default();
        let diagram = diagrams.among(&vectors, 3);
        let alone = |value: &Vec<u32>| diagrams.admits(diagram, |assertion| value.contains(&assertion));
        assert_eq!(values.iter().map(alone).collect::<Vec<_>>(), is_admitted);
        assert_eq!(
            diagrams.admits_each(diagram, values.iter().map(|value| &value[..])),
            is_admitted
        );
    }
}

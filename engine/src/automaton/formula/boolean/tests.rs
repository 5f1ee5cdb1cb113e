use super::*;

#[test]
fn formulas_have_one_form() {
    let mut formulas = Formulas::default();
    let [a, b, c] = [0, 1, 2].map(|atom| formulas.atom(Atom(atom), false));
    let ab = formulas.and([a, b]);
    let nested = formulas.and([ab, c, a]);
    let flat = formulas.and([c, b, a]);
    assert_eq!(nested, flat);
    let not_a = formulas.not(a);
    assert_eq!(formulas.and([a, not_a]), FormulaId::FALSE);
    assert_eq!(formulas.or([a, not_a]), FormulaId::TRUE);
    assert_eq!(formulas.not(not_a), a);
    assert_eq!(formulas.and([]), FormulaId::TRUE);
    assert_eq!(formulas.atoms(flat), [Atom(0), Atom(1), Atom(2)]);
}

/// Checks "exactly one" against its truth table, with its parts decided one after the other in every way.
#[test]
fn exactly_one_is_decided_part_by_part() {
    let mut formulas = Formulas::default();
    let atoms = [0, 1, 2].map(|atom| formulas.atom(Atom(atom), atom == 1));
    for parts in [vec![0, 1, 2], vec![0, 0, 1], vec![0, 1, 1, 2, 2], vec![2]] {
        let one = formulas.one(parts.iter().map(|part| atoms[*part]).collect());
        let holds = |holds: &dyn Fn(usize) -> bool| parts.iter().filter(|part| holds(**part)).count() == 1;
        assert_eq!(formulas.at_end(one), holds(&|part| part == 1));
        for row in 0..8_u32 {
            let mut left = one;
            for (bit, atom) in (0..).zip([Atom(0), Atom(1), Atom(2)]) {
                let value = FormulaId::constant(row >> bit & 1 == 1);
                left = formulas.substitute(left, &mut |other| (other == atom).then_some(value));
            }
            assert_eq!(
                left.decided(),
                Some(holds(&|part| row >> part & 1 == 1)),
                "{parts:?} {row:b}"
            );
        }
    }
}

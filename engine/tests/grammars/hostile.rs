//! Grammars that are large or deep: they are compiled or refused, and neither takes long nor overflows a stack.

use maskwright::CompileErrorKind::{LimitExceeded, Unsupported};
use maskwright::TokenId;

use super::{accepts, compile, masker};

#[test]
fn long_lists_of_rules_and_alternatives_are_compiled() {
    let words: Vec<String> = (0..6_000)
        .map(|number| format!("\"word{number}\" | [x] \"{number}\""))
        .collect();
    let choice = masker(&format!("root ::= {}", words.join(" | ")));
    assert!(accepts(&*choice, "word4711") && accepts(&*choice, "x59") && !accepts(&*choice, "word6000"));
    let sequence = masker(&format!("root ::= {}", "[ab] \"c\" ".repeat(5_000)));
    assert!(accepts(&*sequence, &"acbc".repeat(2_500)) && !accepts(&*sequence, "ac"));
    let chain: Vec<String> = (1..3_000)
        .map(|number| format!("r{number} ::= \"a\" r{} | \"b\"", number + 1))
        .collect();
    let chain = masker(&format!("root ::= r1\n{}\nr3000 ::= \"c\"", chain.join("\n")));
    assert!(
        accepts(&*chain, &format!("{}c", "a".repeat(2_999))) && accepts(&*chain, "aab") && !accepts(&*chain, "aac")
    );
}

#[test]
fn circles_of_many_rules_are_compiled_or_refused() {
    let circle = |count: usize, last: &str| {
        let rules: Vec<String> = (0..count)
            .map(|number| format!("r{number} ::= \"a\" r{} | \"b\"", (number + 1) % count))
            .collect();
        format!("root ::= r0 {last}\n{}", rules.join("\n"))
    };
    let regular = masker(&circle(200, "\"!\""));
    assert!(accepts(&*regular, "aab!") && accepts(&*regular, &format!("{}b!", "a".repeat(450))));
    let nested = masker(&circle(600, "\"!\""));
    assert!(accepts(&*nested, &format!("{}b!", "a".repeat(1_450))) && !accepts(&*nested, "aa!"));
    let error = compile(&circle(5_000, "")).err().unwrap();
    assert_eq!(error.kind(), Unsupported, "{error}");
}

#[test]
fn what_grows_without_end_is_refused() {
    let doubled: Vec<String> = (0..60)
        .map(|number| format!("r{number} ::= r{0} r{0}", number + 1))
        .collect();
    let error = compile(&format!("root ::= r0\n{}\nr60 ::= [ab] \"c\"", doubled.join("\n")))
        .err()
        .unwrap();
    assert_eq!(error.kind(), LimitExceeded, "{error}");
    let nested: Vec<String> = (0..40)
        .map(|number| format!("r{number} ::= r{0} root? r{0} | \"x\"", number + 1))
        .collect();
    let error = compile(&format!(
        "root ::= \"(\" r0 \")\"\n{}\nr40 ::= \"a\" root",
        nested.join("\n")
    ))
    .err()
    .unwrap();
    assert_eq!(error.kind(), Unsupported, "{error}");
    // Grammars for which the rewritings of nested rules do not terminate: inlining in the first, remaining items in the second.
    for grammar in [
        "root ::= a | b\na ::= [xy] a \"a\" | \"z\"\nb ::= [xy] b \"b\" | \"z\"",
        "root ::= a\na ::= \"x\" a [y]{0,3} | \"z\" b\nb ::= a? [y]{0,9} b | \"y\"",
    ] {
        let error = compile(grammar).err().unwrap();
        assert_eq!(error.kind(), Unsupported, "{error}");
    }
}

#[test]
fn many_signs_in_a_row_are_one() {
    let masker = masker(&format!("start: \"a\"{} \"b\"**++", "?".repeat(300_000)));
    assert!(accepts(&*masker, "abb") && accepts(&*masker, "") && !accepts(&*masker, "aab"));
}

#[test]
fn deep_replies_are_read_and_ended() {
    let mut masker = masker("root ::= \"[\" (root (\",\" root)*)? \"]\"");
    for byte in "[".repeat(100_000).bytes() {
        masker.advance(TokenId::from(byte)).unwrap();
    }
    assert_eq!(masker.completion_bytes().unwrap(), Some(100_000));
    for byte in "]".repeat(99_999).bytes() {
        masker.advance(TokenId::from(byte)).unwrap();
    }
    assert!(!masker.is_complete().unwrap());
    masker.advance(TokenId::from(b']')).unwrap();
    masker.assert_done().unwrap();
}

//! Tests of the meaning of both notations, and of the places that errors name.

use super::{check, compile, ebnf, lark};
use crate::{CompileErrorKind, GrammarSyntax};

#[test]
fn ebnf_is_read() {
    let masker = ebnf(
        "# a comment\nroot ::= greeting \" \" [A-Z] [a-z]* mark? # another\ngreeting ::=\n  \"hello\" | \"bye\" |\n\nmark ::= [!?.]{1,2}",
    );
    check(
        &*masker,
        &["hello Ada", "bye X!?", " Bo."],
        &["hello ada", "hello Ada!!!", "hello", "Ada"],
    );
    let masker = ebnf(r#"root ::= "\x41\u00e9\U0001F600\n\"\\" [^\n\]a-c] [\-\\^x-] ."#);
    check(
        &*masker,
        &["Aé😀\n\"\\d-\n", "Aé😀\n\"\\é\\€", "Aé😀\n\"\\-^x"],
        &["Aé😀\n\"\\a-x", "Aé😀\n\"\\]-x", "Aé😀\n\"\\dax"],
    );
    let masker = ebnf("root::=(\"a\"|\"b\"){2}\"c\"{2,}\"d\"{0}(\"e\"*)+");
    check(&*masker, &["abcc", "bacccee"], &["abc", "aabcc", "abccd"]);
    let masker = ebnf("root ::= a-rule | 1\n | \"z\"\na-rule ::= \"x\"\n1 ::= \"y\"");
    check(&*masker, &["x", "y", "z"], &["", "xy"]);
}

#[test]
fn lark_is_read() {
    let masker = lark(
        r#"
        // A list of assignments.
        start: (pair ";")*
        ?pair: NAME "=" _value -> assignment  # an alias
             | NAME "!"
        _value.2: INT | ESCAPED_STRING | "yes"i | LETTER ~ 2..3 | ["-"] "0".."9" "$"
        NAME.3: ("a".."c") /[xy.]/*
        %import common.INT
        %import common (ESCAPED_STRING, LETTER)
        %import common.WS_INLINE -> BLANKS
        %ignore BLANKS
        %ignore /\#[a-z]*\#/
        "#,
    );
    let inside = [
        "",
        " a=1;",
        "ax. = \"s\\\"t\" ; b!; #note# ",
        "c=YeS;",
        "a=bc;",
        "a=b c d;",
        "a=-7$;",
        "a= - 7 $ ;",
        "a = 12 ;",
    ];
    check(
        &*masker,
        &inside,
        &[
            "a=1",
            "d=1;",
            "a=;",
            "a=b;",
            "a=bcde;",
            "a=- ;",
            "a x=1;",
            "a=1 2;",
            "a=\"s\\\";",
            "a=1;\n",
        ],
    );
    let masker = lark("start: a b?\n?a: /x.z/s\n!b: /y/i | B\nB: \"\\n\" C~2\nC: /[^a]\\/?/");
    check(&*masker, &["x\nz", "xyzY", "xyz\nb/b"], &["xz", "xyz\nab"]);
    // Lark reads few escapes; before other characters the backslash stays.
    let masker = lark(r#"start: "a\.b\d" | "\x41\\\"""#);
    check(&*masker, &[r"a\.b\d", "A\\\""], &["a.bd", "a.b\\d", "A\\\\\""]);
}

#[test]
fn notations_are_told_apart() {
    for (grammar, syntax) in [
        ("root ::= \"a\"", GrammarSyntax::Ebnf),
        ("# x\n  a-1   ::= \"a\"", GrammarSyntax::Ebnf),
        ("start: \"::=\"", GrammarSyntax::Lark),
        ("start: NAME\nNAME: /a/", GrammarSyntax::Lark),
    ] {
        assert_eq!(GrammarSyntax::of(grammar), syntax, "{grammar}");
    }
}

#[test]
fn errors_say_where_and_what_to_do() {
    use CompileErrorKind::{LimitExceeded, Malformed, Unsatisfiable, Unsupported};
    let deep = format!("root ::= {}", "(".repeat(2000));
    for (grammar, kind, told) in [
        ("root ::= \"a", Malformed, "line 1, column 10: this text does not end"),
        ("root ::= x", Malformed, "line 1: `x` is not defined"),
        ("a ::= \"a\"", Malformed, "there is no rule `root`"),
        (
            "root ::= \"a\"\nroot ::= \"b\"",
            Malformed,
            "line 2, column 1: `root` is defined twice",
        ),
        (
            "root ::= (\"a\"",
            Malformed,
            "line 1, column 10: this group does not end",
        ),
        (
            "root ::= \"a\"{99999999999999999999}",
            Malformed,
            "column 14: this number of repetitions is too large",
        ),
        ("root ::= \"a\")", Malformed, "column 13: no group is open"),
        ("root ::= * \"a\"", Malformed, "nothing stands here"),
        ("root ::= \"a\"{3,2}", Malformed, "exchange the numbers"),
        ("root ::= \"a\"{,2}", Malformed, "a number of repetitions"),
        ("root ::= [z-a]", Malformed, "exchange its ends"),
        ("root ::= [a", Malformed, "this class does not end"),
        ("root ::= \"\\q\"", Malformed, "no escape that is known"),
        ("root ::= \"\\ud800\"", Malformed, "4 hexadecimal digits"),
        ("root = \"a\"", Malformed, "a rule is expected"),
        ("root ::= \"a\" (=\"b\")", Unsupported, "lookaheads"),
        ("root ::= <think>", Unsupported, "tokens are not supported"),
        (
            "root ::= TagDispatch((\"a\", b))",
            Unsupported,
            "the macro `TagDispatch",
        ),
        ("root ::= \"a\" root", Unsatisfiable, "no text"),
        ("root ::= []", Unsatisfiable, "no text"),
        (&deep, LimitExceeded, "the limit `depth`"),
    ] {
        let error = compile(grammar, GrammarSyntax::Ebnf)
            .err()
            .unwrap_or_else(|| panic!("{grammar} is compiled"));
        assert!(
            error.kind() == kind && error.to_string().contains(told),
            "{grammar:.80}: {error}"
        );
        assert_eq!(error.keyword(), Some("grammar"));
    }
    for (grammar, kind, told) in [
        ("start: A\nA: /(/", Malformed, "line 2: `(`"),
        ("start: A\nA: /(a)\\1/", Unsupported, "line 2"),
        ("start: A\nA: b\nb: \"x\"", Malformed, "has the rule `b` in it"),
        ("a: \"x\"", Malformed, "there is no rule `start`"),
        ("start: \"a\"..\"bc\"", Malformed, "from one character to another"),
        ("start: \"a\" ~ 3..2", Malformed, "exchange the numbers"),
        ("start: a{\"x\"}\na{y}: y", Unsupported, "templates"),
        ("start: \"a\"\n%declare X", Unsupported, "`%declare`"),
        ("start: %json {}", Unsupported, "`%json`"),
        ("start: /if\\b/ \"x\"", Unsupported, "line 1: anchors, word boundaries"),
        ("start: A \"b\"\nA: /a$/", Unsupported, "line 2: anchors"),
        ("start: /[a-z]+(?=\\()/ \"()\"", Unsupported, "lookaheads"),
        ("start: /(?<!a)b/", Unsupported, "lookbehinds"),
        ("start: X\n%import python.X", Unsupported, "only `common`"),
        ("start: X\n%import common.NOPE", Unsupported, "`NOPE`"),
        ("start: <|end|>", Unsupported, "special tokens"),
        (
            "start: T\nT[stop=\"]:\"]: /a/",
            Unsupported,
            "line 2, column 2: attributes of rules (`lazy`",
        ),
        ("start[lazy]: [\"a\"]", Unsupported, "column 6: attributes"),
        ("start: \"a\"{2,3}", Unsupported, "write `~2..3`"),
        (
            "start: T\nT: /b/ ~/a/",
            Unsupported,
            "line 2, column 8: extensions of llguidance",
        ),
        ("start: [\"a\")", Malformed, "no such group"),
        ("start: a\n\n\na: \"x", Malformed, "line 4, column 4"),
    ] {
        let error = compile(grammar, GrammarSyntax::Lark)
            .err()
            .unwrap_or_else(|| panic!("{grammar} is compiled"));
        assert!(
            error.kind() == kind && error.to_string().contains(told),
            "{grammar}: {error}"
        );
    }
}

#[test]
fn rules_that_recurse_at_one_end_are_regular() {
    let right = ebnf("root ::= \"a\" b | \"x\"\nb ::= \"b\" root | (\"c\" root)? | \"d\" e\ne ::= \"e\" | root");
    check(
        &*right,
        &["x", "a", "abx", "aba", "acx", "ade", "adabx"],
        &["", "b", "ab", "ad", "xx"],
    );
    let left = ebnf("root ::= root \",\" item | item | other \"!\"\nother ::= root \"?\" | \"o\"\nitem ::= [0-9]+");
    check(
        &*left,
        &["1", "1,22", "o!", "1?!,3", "o!?!"],
        &["", "o", "1,", "1?", ",1"],
    );
    // Units in a circle, rules without texts, and rules that nothing leads to.
    let units = ebnf(
        "root ::= a | none \"x\"\na ::= root | b | a\nb ::= \"b\" | a\nnone ::= none \"y\"\nlost ::= lost \"l\" lost",
    );
    check(&*units, &["b"], &["", "x", "bb"]);
}

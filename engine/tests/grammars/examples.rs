//! Grammars of common kinds, such as expressions, programs and markup.

use maskwright::{CompileErrorKind, ExactOptions, GrammarSyntax, ReplyCompiler, TokenId, Vocabulary};
use rand::SeedableRng as _;
use rand_chacha::ChaCha8Rng;

use super::{accepts, compile, masker, vocabulary, walk};

/// Documents of JSON, with blanks where they may be.
const JSON: &str = r#"
root   ::= value
value  ::= (object | list | string | number | "true" | "false" | "null") blanks
object ::= "{" blanks (member ("," blanks member)*)? "}"
member ::= string blanks ":" blanks value
list   ::= "[" blanks (value ("," blanks value)*)? "]"
string ::= "\"" ([^"\\\x00-\x1f] | "\\" (["\\/bfnrt] | "u" [0-9a-fA-F]{4}))* "\""
number ::= "-"? ("0" | [1-9] [0-9]{0,15}) ("." [0-9]+)? ([eE] [-+]? [0-9]+)?
blanks ::= ([ \t\n] blanks)?
"#;

/// Sums and products, each with itself on its left.
const SUMS: &str = "
start: sum
?sum: sum \"+\" product | sum \"-\" product | product
?product: product \"*\" atom | atom
?atom: NUMBER | NAME | \"-\" atom | \"(\" sum \")\" | NAME \"(\" [sum (\",\" sum)*] \")\"
%import common (NUMBER, WS)
NAME: /[a-z]+/
%ignore WS
";

/// Statements, of which names and calls begin alike.
const STATEMENTS: &str = r#"
root       ::= statement+
statement  ::= name ws "=" ws expression ";" ws | name ws "(" arguments? ")" ws ";" ws | "if" ws "(" ws expression ")" ws block ("else" ws block)?
block      ::= "{" ws statement* "}" ws
expression ::= term ([-+] ws term)*
term       ::= name ws | [0-9]+ ws | name ws "(" ws arguments? ")" ws | "(" ws expression ")" ws
arguments  ::= expression ("," ws expression)*
name       ::= [a-hj-z] [a-z0-9]*
ws         ::= [ \n]*
"#;

/// Lines of equations: blanks end both a term and a line.
const LINES: &str = r#"
root ::= (sum "=" ws term "\n")+
sum  ::= term ([-+*/] term)*
term ::= name | number | "(" ws sum ")" ws
name ::= [a-z] [a-z0-9_]* ws
number ::= [0-9]+ ws
ws   ::= [ \t\n]*
"#;

/// Queries in queries.
const QUERIES: &str = r#"
start: query
query: "SELECT"i columns "FROM"i source ["WHERE"i condition]
columns: "*" | column ("," column)*
column: NAME ["." NAME]
source: NAME | "(" query ")" ["AS"i NAME]
condition: test (("AND"i | "OR"i) test)*
test: column OPERATOR operand | "NOT"i test | "(" condition ")" | "EXISTS"i "(" query ")"
operand: column | /'[^']*'/ | /[0-9]+/
OPERATOR: "=" | "<" [">" | "="] | ">" ["="]
NAME: /[a-z][a-z0-9_]*/
%ignore / +/
"#;

/// Elements whose beginning and end begin alike, and text between them.
const ELEMENTS: &str = r#"
root    ::= element
element ::= "<" name attribute* (">" (text | element)* "</" name ">" | "/>")
text    ::= [^<&]+ | "&" name ";"
name    ::= [a-z]+
attribute ::= " "+ name "=\"" [^"<]* "\""
"#;

/// Atoms that need no blanks between them, and a branch that may follow or not.
const LISTS: &str = r#"
root ::= ws expression+
expression ::= atom ws | "(" ws expression* ")" ws | "'" expression | "?" expression block ("else" block)?
block ::= "{" ws expression* "}" ws
atom ::= [a-z+*/<>=-]+ | [0-9]+ | "\"" [^"]* "\""
ws   ::= [ \n]*
"#;

fn check_all(grammar: &str, inside: &[&str], outside: &[&str]) {
    let (masker, vocabulary) = (masker(grammar), vocabulary());
    for text in inside {
        assert!(accepts(&*masker, text), "{text:?} is not accepted");
    }
    for text in outside {
        assert!(!accepts(&*masker, text), "{text:?} is accepted");
    }
    for seed in 0..4 {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        walk(masker.fork().unwrap(), &vocabulary, &mut random, 24, grammar);
    }
}

#[test]
fn json_in_a_grammar() {
    let inside = [
        r#"{}"#,
        r#"[1, -2.5e+3, "a\u00e9é\"", {"a": {"b": [ ]}}, null ] "#,
        "{\n\t\"a\":true}\n",
        "[[[[]]],[]]",
        "\"\u{10FFFF}\"",
        "0",
    ];
    check_all(
        JSON,
        &inside,
        &["", "[", "[1,]", "{\"a\"}", "{a:1}", "01", "[1}", "[]]", "\"\n\"", " 1"],
    );
}

#[test]
fn left_recursion_is_read_as_repetition() {
    let inside = ["1", "a+b*c-d", "-(a + 1) * f(2, g()) ", "( ( 1 ) )", " a ( ) "];
    check_all(SUMS, &inside, &["", "+1", "1+", "(1", "f(,)", "a b", "1)(", "f(1,)"]);
    // By way of other rules, of rules without a text of their own, and of the empty text.
    let grammar = "root ::= a \"!\"\na ::= b \"x\" | \"(\" a \")\"\nb ::= a \"y\" | none? c\nc ::= b \"z\" | \"\" | none\nnone ::= none a";
    check_all(
        grammar,
        &["x!", "zx!", "xyx!", "(x)!", "((x)yzzx)yx!"],
        &["!", "y!", "xy!", "(x!", "(x)x!"],
    );
}

#[test]
fn what_begins_alike_is_written_in() {
    let inside = [
        "a=1;",
        "f(x, 2);g=f(f(1));",
        "if (a) { b = c; } else { f(); }\n",
        "a=(b+c)-d(e);",
    ];
    check_all(
        STATEMENTS,
        &inside,
        &["", "a", "a=;", "f(x", "if(a){b=c}", "a=b(;", "i=1;"],
    );
}

#[test]
fn rules_are_called_once_they_are_told_apart() {
    let inside = [
        "<a/>",
        "<a b=\"c\">x<b></b>&amp;<c/>y</a>",
        "<a></b>",
        "<a><a><a/></a></a>",
    ];
    check_all(
        ELEMENTS,
        &inside,
        &["", "<a>", "<a", "</a>", "<a><b></a>", "<a>&</a>", "<a/>x", "<a><></a>"],
    );
    let inside = [
        "a",
        "(+ 1 2)",
        "'(ab 'c) d",
        "?x{(y)}else{z}",
        "??a{}else{}{?b{}}else{()}",
        "?(a){}b",
        "elsea",
        "?a{}elsea",
    ];
    check_all(LISTS, &inside, &["", "(", "())", "(a", "?a{}else{", "'", "?a"]);
}

#[test]
fn rules_end_early_where_what_follows_may_belong_to_them() {
    check_all(
        LINES,
        &["a=b\n", "a +b = (c *2)\n\n\nx=1 \n", "(a\n)=1\n"],
        &["", "a=b", "a=\n", "a=b=c\n", "(a=b\n"],
    );
}

#[test]
fn queries_in_lark() {
    let inside = [
        "select * from t",
        "SELECT a, t.b FROM (select c from d where c <= 'x') as e WHERE NOT a=1 and (b<>c or exists(select * from t))",
        "select*from(select*from t)",
    ];
    check_all(
        QUERIES,
        &inside,
        &[
            "select from t",
            "select a from",
            "select * from (t)",
            "select a from t where a",
            "select * from t)",
        ],
    );
}

#[test]
fn rules_that_end_with_themselves_need_no_stack() {
    let masker = masker("root ::= item \",\" root | item\nitem ::= \"(\" root \")\" | \"a\"");
    let mut fork = masker.fork().unwrap();
    let before = fork.memory_bytes().unwrap();
    for byte in "a,".repeat(5000).bytes() {
        fork.advance(TokenId::from(byte)).unwrap();
    }
    assert!(fork.memory_bytes().unwrap() < before + 10_000);
    for byte in "(".repeat(5000).bytes() {
        fork.advance(TokenId::from(byte)).unwrap();
    }
    let mut rest = Vec::new();
    assert!(fork.completion(&mut rest).unwrap());
    assert_eq!(vocabulary().text_bytes(&rest).len(), 5001);
}

#[test]
fn what_cannot_be_told_apart_is_refused_with_a_reason() {
    for (grammar, told) in [
        // Palindromes: nothing says where the middle is.
        (
            "root ::= \"a\" root \"a\" | \"b\" root \"b\" | \"a\" | \"b\"",
            "line 1: in the rule `root`",
        ),
        (
            "root ::= s\ns ::= \"a\" s \"b\"? | \"c\"",
            "line 2: in the rule `s` what may go on and what may follow both begin with 'b'",
        ),
        (
            "root ::= x | y\nx ::= \"a\" x \"b\" | \"c\"\ny ::= \"a\" y \"bb\" | \"c\"",
            "line 1: in the rule `root` `x` and `y` may both begin with 'a'",
        ),
        (
            "start: a | a \"x\"\na: \"(\" a \")\" | a a | \"b\"",
            "line 2: in the rule `a`",
        ),
    ] {
        let error = compile(grammar)
            .err()
            .unwrap_or_else(|| panic!("{grammar} is compiled"));
        assert!(
            error.kind() == CompileErrorKind::Unsupported && error.to_string().contains(told),
            "{grammar}: {error}"
        );
    }
    let error = compile("root ::= \"(\" root \")\"").err().unwrap();
    assert_eq!(error.kind(), CompileErrorKind::Unsatisfiable);
    let error = compile("root ::= \"a\" (\"(\" root \")\"){0,100000}").err().unwrap();
    assert!(
        error.kind() == CompileErrorKind::Unsupported && error.to_string().contains("repetitions"),
        "{error}"
    );
}

#[test]
fn a_limit_on_tokens_keeps_the_end_in_reach() {
    let vocabulary = vocabulary();
    for (grammar, seed) in [JSON, SUMS, STATEMENTS, LINES].into_iter().zip(0..) {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        for limit in [8, 20, 40] {
            let mut masker = masker(grammar);
            if masker.completion_length().unwrap().unwrap() >= limit {
                continue;
            }
            let mut left = limit;
            loop {
                let tokens: Vec<TokenId> = masker.mask_within(left).unwrap().iter().collect();
                let token = *rand::seq::IndexedRandom::choose(&tokens[..], &mut random).unwrap();
                masker.advance(token).unwrap();
                left -= 1;
                if vocabulary.is_eos(token) {
                    break;
                }
            }
            masker.assert_done().unwrap();
        }
    }
}

#[test]
fn maskers_fork_and_roll_back() {
    let mut masker = masker(JSON);
    for byte in "[[{\"a\":[".bytes() {
        masker.advance(TokenId::from(byte)).unwrap();
    }
    let mask = masker.mask().unwrap().clone();
    let mut fork = masker.fork().unwrap();
    for byte in "1]}]".bytes() {
        fork.advance(TokenId::from(byte)).unwrap();
    }
    assert!(fork.mask().unwrap().allows(TokenId::from(b']')));
    fork.rollback(4).unwrap();
    assert_eq!(*fork.mask().unwrap(), mask);
    assert_eq!(*masker.mask().unwrap(), mask);
}

#[test]
fn characters_that_tokens_cannot_spell_are_left_out() {
    let mut builder = Vocabulary::builder();
    for byte in 0..0x80_u8 {
        builder = builder.text(byte.into(), [byte]).unwrap();
    }
    let vocabulary: Vocabulary = builder.special(0x80, "<end>").unwrap().eos([0x80]).build().unwrap();
    let compiler = ReplyCompiler::new(vocabulary.into(), ExactOptions::default());
    let masker = compiler
        .compile_grammar("root ::= \"(\" root \")\" | [aé] | \"é\" root", GrammarSyntax::Ebnf)
        .unwrap();
    assert!(accepts(&*masker, "((a))"));
    let error = compiler
        .compile_grammar("root ::= \"(\" root \")\" | \"é\"", GrammarSyntax::Ebnf)
        .err()
        .unwrap();
    assert_eq!(error.kind(), CompileErrorKind::Unsatisfiable);
}

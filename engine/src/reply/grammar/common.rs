//! The terminals of Lark's grammar `common`, as regular expressions.

/// Terminals by their names. Texts in quotes and comments end where a lexer takes them to end.
const TERMINALS: [(&str, &str); 25] = [
    ("DIGIT", "[0-9]"),
    ("HEXDIGIT", "[0-9a-fA-F]"),
    ("INT", "[0-9]+"),
    ("SIGNED_INT", "[+-]?[0-9]+"),
    ("DECIMAL", r"[0-9]+\.[0-9]*|\.[0-9]+"),
    (
        "FLOAT",
        r"[0-9]+[eE][+-]?[0-9]+|(?:[0-9]+\.[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?",
    ),
    (
        "SIGNED_FLOAT",
        r"[+-]?(?:[0-9]+[eE][+-]?[0-9]+|(?:[0-9]+\.[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)",
    ),
    ("NUMBER", r"(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"),
    (
        "SIGNED_NUMBER",
        r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?",
    ),
    ("ESCAPED_STRING", r#""(?:[^"\\\n]|\\[^\n])*""#),
    ("LCASE_LETTER", "[a-z]"),
    ("UCASE_LETTER", "[A-Z]"),
    ("LETTER", "[a-zA-Z]"),
    ("WORD", "[a-zA-Z]+"),
    ("CNAME", "[a-zA-Z_][a-zA-Z0-9_]*"),
    ("WS_INLINE", "[ \\t]+"),
    ("WS", "[ \\t\\f\\r\\n]+"),
    ("CR", "\\r"),
    ("LF", "\\n"),
    ("NEWLINE", "(?:\\r?\\n)+"),
    ("SH_COMMENT", "#[^\\n]*"),
    ("CPP_COMMENT", "//[^\\n]*"),
    ("C_COMMENT", r"/\*[^*]*\*+(?:[^/*][^*]*\*+)*/"),
    ("SQL_COMMENT", "--[^\\n]*"),
    ("_EXP", "[eE][+-]?[0-9]+"),
];

/// The expression of a terminal.
pub(super) fn terminal(name: &str) -> Option<&'static str> {
    TERMINALS
        .iter()
        .find(|(known, _)| *known == name)
        .map(|(_, pattern)| *pattern)
}

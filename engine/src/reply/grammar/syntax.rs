//! [`GrammarSyntax`]: the notations of grammars.

/// The notations in which [`ReplyCompiler::compile_grammar`](crate::ReplyCompiler::compile_grammar) reads grammars.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum GrammarSyntax {
    /// Rules `name ::= …`, as those of llama.cpp's GBNF and of XGrammar's EBNF; a reply is a text of the rule `root`.
    ///
    /// A body has texts `"…"`, classes of characters `[a-z]` and `[^a-z]`, `.` for any character, names of rules, groups `(…)`,
    /// alternatives between `|`, of which one may be empty, and repetitions `*`, `+`, `?`, `{m}`, `{m,}` and `{m,n}`. Comments begin with `#`.
    /// In texts and classes `\n`, `\r`, `\t`, `\xHH`, `\uHHHH` and `\UHHHHHHHH` stand for characters, and `\` escapes signs that mean themselves.
    Ebnf,
    /// Rules and terminals `name: …` of the Python package Lark; a reply is a text of the rule `start`.
    ///
    /// There is no lexer: a reply is admitted where it can be split into terminals in any way, whatever their priorities, and ignored texts
    /// (`%ignore`) may come before and behind each terminal.
    /// Expressions `/…/` are those of Python's module `re`. In texts `"…"`, `\\`, `\"`, `\n`, `\r`, `\t`, `\f`, `\xHH`, `\uHHHH` and `\UHHHHHHHH` stand
    /// for characters, and before any other sign `\` stands for itself. Not read are expressions with anchors, word boundaries, lookaheads or
    /// lookbehinds, as Lark matches them against text that is not known here, templates, `%declare`, imports of other grammars than `common`, and the
    /// extensions of llguidance.
    Lark,
}

impl GrammarSyntax {
    /// The notation that a grammar is probably in: EBNF where one of its lines begins with `name ::=`, and Lark elsewhere.
    pub fn of(grammar: &str) -> Self {
        let begins_rule = |line: &str| {
            let name = line.trim_start();
            let behind = name.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'));
            behind.len() < name.len() && behind.trim_start().starts_with("::=")
        };
        match grammar.lines().any(begins_rule) {
            true => Self::Ebnf,
            false => Self::Lark,
        }
    }
}

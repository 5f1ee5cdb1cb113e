"""Which grammars and structural tags are answered here, for servers that have another backend beside this one."""

from __future__ import annotations

from ._native import Compiled, CompileError, Compiler

# Members of a structural tag in which a schema or an expression stands.
_CONTENTS = {"json_schema", "schema", "pattern"}


def compile_own_tag(compiler: Compiler, tag: str) -> Compiled | None:
    """Compiles a structural tag; None where a format in it is not treated, or a grammar in it cannot be read, so that another
    backend may answer.

    Raises `CompileError` where the structural tag is malformed, or a schema in it cannot be compiled: another backend would drop what it does
    not know of the schema.
    """
    try:
        return compiler.compile_structural_tag(tag)
    except CompileError as error:
        in_content = not _CONTENTS.isdisjoint((error.pointer or "").split("/"))
        if not in_content and (error.kind == "unsupported" or _is_unread_grammar(error)):
            return None
        raise


def compile_own_grammar(compiler: Compiler, grammar: str) -> Compiled | None:
    """Compiles a grammar; None where it is not treated or cannot be read, as what another backend reads is not quite the same.

    Raises `CompileError` where no text is one of the grammar, or it is too large.
    """
    try:
        return compiler.compile_grammar(grammar)
    except CompileError as error:
        if error.kind == "unsupported" or _is_unread_grammar(error):
            return None
        raise


def _is_unread_grammar(error: CompileError) -> bool:
    return error.kind == "malformed" and error.keyword == "grammar"

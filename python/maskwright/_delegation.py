"""Choice between this engine and a server's own backend, for grammars and structural tags."""

from __future__ import annotations

from ._native import Compiled, CompileError, Compiler

# Members of a structural tag in which a schema or an expression stands.
_CONTENTS = {"json_schema", "schema", "pattern"}


def compile_own_tag(compiler: Compiler, tag: str) -> Compiled | None:
    """Compiles a structural tag. Returns None if a format or a grammar in it is not treated, or if it has more parts than are
    treated, so that another backend may answer.

    Raises `CompileError` if the structural tag is malformed, or a schema in it cannot be compiled: another backend would drop the
    keywords that it does not know.
    """
    try:
        return compiler.compile_structural_tag(tag)
    except CompileError as error:
        in_content = not _CONTENTS.isdisjoint((error.pointer or "").split("/"))
        if not in_content and (error.kind in ("unsupported", "limit_exceeded") or _is_unread_grammar(error)):
            return None
        raise


def compile_own_grammar(compiler: Compiler, grammar: str) -> Compiled | None:
    """Compiles a grammar. Returns None if the grammar is not treated or cannot be read, since another backend may read it.

    Raises `CompileError` if the grammar has no text, or is too large.
    """
    try:
        return compiler.compile_grammar(grammar)
    except CompileError as error:
        if error.kind == "unsupported" or _is_unread_grammar(error):
            return None
        raise


def _is_unread_grammar(error: CompileError) -> bool:
    return error.kind == "malformed" and error.keyword == "grammar"

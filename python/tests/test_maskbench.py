"""The class for MaskBench, driven as MaskBench's runner drives it."""

import pytest

import maskwright
from maskwright.maskbench import MaskwrightEngine


class Backend:
    """A tokenizer of transformers, as far as the class asks."""

    eos_token_id = 257

    def __init__(self, tokenizer_json: str) -> None:
        self.backend_tokenizer = self
        self.json = tokenizer_json

    def to_str(self) -> str:
        return self.json


@pytest.fixture
def engine(tokenizer_json: str) -> MaskwrightEngine:
    engine = MaskwrightEngine()
    engine.tokenizer = Backend(tokenizer_json)
    engine.init()
    return engine


def accepts(engine: MaskwrightEngine, text: str, *, whole: bool = True) -> bool:
    engine.reset()
    for token in [*text.encode(), *([257] if whole else [])]:
        engine.compute_mask()
        if not engine.commit_token(token):
            return False
    return True


def test_documents_are_judged_one_after_the_other(engine: MaskwrightEngine) -> None:
    engine.compile_grammar({"type": "integer", "minimum": 10})
    assert [accepts(engine, text) for text in ("12", "1", " 1e2 ", '"12"')] == [True, False, True, False]
    assert accepts(engine, "1", whole=False)
    engine.compile_grammar({"format": "ipv4", "type": "string"})
    assert [accepts(engine, text) for text in ('"1.2.3.4"', '"1.2.3"')] == [True, False]


def test_errors_are_exceptions(engine: MaskwrightEngine) -> None:
    with pytest.raises(RuntimeError, match="compile_grammar"):
        engine.reset()
    with pytest.raises(RuntimeError, match="reset"):
        engine.compute_mask()
    engine.compile_grammar({"const": 1})
    engine.reset()
    with pytest.raises(maskwright.CompileError):
        engine.compile_grammar({"type": "nothing"})
    with pytest.raises(RuntimeError, match="compile_grammar"):
        engine.reset()


def test_it_says_what_it_is(engine: MaskwrightEngine) -> None:
    assert (engine.get_id(), engine.get_module(), engine.get_version()) == ("maskwright", "maskwright", maskwright.__version__)
    assert engine.get_name() == "maskwright"

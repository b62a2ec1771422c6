"""Docstrings stand alone: they begin with a verb or a noun phrase, never with a word whose subject must be guessed."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

BACKEND = Path(__file__).resolve().parents[2]
PARTS = ("downlink", "study", "tools", "bench")
REFUSED = re.compile(
    r"(After|Also|And|As|At|Because|Before|Beside|Between|But|By|For|From|How|However|If|In|Like|Not|Of|On|Once|Only|Or|Over|Per"
    r"|Since|So|Such|Than|That|Then|There|These|They|This|Those|To|Under|Until|What|Whatever|When|Where|Whether|Which|While|Who"
    r"|Whoever|Whom|Whose|Why|With|Without)\b(?!-)"
)


def docstrings(source: str) -> Iterator[tuple[int, str]]:
    """Yield line and text of each docstring of a module, its classes, its functions, and its constants and fields."""
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if text := ast.get_docstring(node):
            yield node.body[0].lineno, text
        for before, after in pairwise(node.body):
            match before, after:
                case ast.Assign() | ast.AnnAssign(), ast.Expr(ast.Constant(str(text))):
                    yield after.lineno, text


def refused(source: str) -> list[tuple[int, str]]:
    return [(line, text[:60]) for line, text in docstrings(source) if REFUSED.match(text)]


def test_a_docstring_begins_with_a_verb_or_a_noun_phrase() -> None:
    files = [file for part in PARTS for file in sorted((BACKEND / part).rglob("*.py"))]
    assert {str(file.relative_to(BACKEND)): found for file in files if (found := refused(file.read_text()))} == {}


def test_a_fragment_is_refused_wherever_it_stands() -> None:
    fragments = '"""What it is."""\nclass A:\n    """Of a run."""\n    def b(self):\n        """Return it."""\nC = 1\n"""By the way."""\n'
    assert [line for line, _ in refused(fragments)] == [1, 7, 3]

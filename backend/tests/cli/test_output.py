"""No stored text reaches a terminal as it is: what steers one is replaced."""

from __future__ import annotations

import json

import pytest

from downlink.cli import output
from downlink.domain.errors import InvalidError
from downlink.main import run

NAME = "\x1b[31mred\ta\nb\x9b1m"


def test_a_table_keeps_its_columns_and_rows(capsys: pytest.CaptureFixture[str]) -> None:
    output.show([{"name": NAME}], [("name", lambda row: row["name"]), ("n", lambda _: 1)], as_json=False, empty="")
    assert capsys.readouterr().out == "name\tn\n\ufffd[31mred\ufffda\ufffdb\ufffd1m\t1\n"


def test_json_says_the_same_in_escapes(capsys: pytest.CaptureFixture[str]) -> None:
    output.print_json({"name": NAME + "\x7f\u2028"})
    said = capsys.readouterr().out
    assert json.loads(said) == {"name": NAME + "\x7f\u2028"}
    assert not {"\x1b", "\x9b", "\x7f", "\u2028"} & set(said)


def test_sentences_keep_their_lines_alone(capsys: pytest.CaptureFixture[str]) -> None:
    output.say(f"one\r\ntwo\t{NAME}")
    output.note(NAME)
    said = capsys.readouterr()
    assert said.out == "one\ntwo\t\ufffd[31mred\ta\nb\ufffd1m\n"
    assert "\x1b" not in said.err


def test_an_error_steers_no_terminal(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def refuse() -> None:
        raise InvalidError("name_invalid", f"There is {NAME} already.")

    monkeypatch.setattr("downlink.main.app", refuse)
    with pytest.raises(SystemExit):
        run()
    assert "\x1b" not in capsys.readouterr().err

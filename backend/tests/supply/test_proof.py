"""The runner of the proofs: what it reads of each test runner, what it prints, how it ends."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.fixtures import proofs
from tools import proof, proof_parts
from tools.proof_parts import Part
from tools.results import read_go, read_pytest, read_vitest

JUNIT = """<?xml version="1.0"?><testsuites><testsuite>
<testcase classname="tests.api.test_x" name="test_well" time="0.25"/>
<testcase classname="tests.api.test_x" name="test_ill" time="1.5"><failure message="no">assert 1 == 2</failure></testcase>
<testcase classname="tests.api.test_x" name="test_later" time="0"><skipped message="needs curl"/></testcase>
</testsuite></testsuites>"""


def events(*rows: dict[str, object]) -> str:
    return "".join(f"{json.dumps({'Package': 'downlink/agents/internal/server/spool', **row})}\n" for row in rows)


def test_pytests_file_is_read_as_tests(tmp_path: Path) -> None:
    (tmp_path / "out").write_text(JUNIT)
    well, ill, later = read_pytest(tmp_path / "out")
    assert (well.name, well.seconds, well.verdict) == ("api/test_x::test_well", 0.25, "passed")
    assert (ill.verdict, ill.why) == ("failed", "assert 1 == 2")
    assert (later.verdict, later.why) == ("left", "needs curl")


def test_gos_events_are_read_as_top_level_tests(tmp_path: Path) -> None:
    (tmp_path / "out").write_text(
        events(
            {"Action": "output", "Test": "TestA/part", "Output": "a_test.go:3: wrong\n"},
            {"Action": "fail", "Test": "TestA/part", "Elapsed": 0.1},
            {"Action": "fail", "Test": "TestA", "Elapsed": 0.2},
            {"Action": "pass", "Test": "TestB", "Elapsed": 0.3},
            {"Action": "output", "Test": "TestC", "Output": "verify: rates\n"},
            {"Action": "skip", "Test": "TestC", "Elapsed": 0},
            {"Action": "fail", "Elapsed": 0.6},
        )
    )
    a, b, c = read_go(tmp_path / "out")
    assert (a.name, a.verdict, a.why) == ("spool/TestA", "failed", "a_test.go:3: wrong\n")
    assert (b.verdict, b.seconds) == ("passed", 0.3)
    assert (c.verdict, c.why) == ("left", "verify: rates\n")


def test_a_package_that_crashes_or_does_not_build_is_a_failed_test(tmp_path: Path) -> None:
    rows = ({"Action": "output", "Output": "panic: no\n"}, {"Action": "fail", "Elapsed": 0.6})
    (tmp_path / "out").write_text("go: cannot load module\n" + events(*rows))
    (crashed,) = read_go(tmp_path / "out")
    assert (crashed.name, crashed.verdict, crashed.why) == ("spool (package)", "failed", "panic: no\n")


def test_vitests_file_is_read_as_tests_and_a_file_that_cannot_be_loaded_fails(tmp_path: Path) -> None:
    well = {"fullName": "adds", "status": "passed", "duration": 40}
    ill = {"fullName": "takes", "status": "failed", "duration": 1, "failureMessages": ["expected 1"]}
    suites = [
        {"name": "/x/src/lib/a.test.ts", "status": "failed", "assertionResults": [well, ill]},
        {"name": "/x/src/lib/b.test.ts", "status": "failed", "assertionResults": [], "message": "no such module"},
    ]
    (tmp_path / "out").write_text(json.dumps({"testResults": suites}))
    found = list(read_vitest(tmp_path / "out"))
    assert [(test.name, test.verdict) for test in found] == [
        ("lib/a.test.ts adds", "passed"),
        ("lib/a.test.ts takes", "failed"),
        ("lib/b.test.ts", "failed"),
    ]
    assert found[0].seconds == 0.04
    assert found[2].why == "no such module"


def part(name: str, command: str, *after: str) -> Part:
    return Part(name, "pytest", command, after, 1)


def prove(parts: list[Part], capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    status = proof.prove(["test"], parts, 2, 7)
    return status, capsys.readouterr().out


@pytest.fixture
def junit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "junit.xml").write_text(JUNIT.replace('<failure message="no">assert 1 == 2</failure>', ""))
    (tmp_path / "ill.xml").write_text(JUNIT)
    return tmp_path


def test_a_proof_that_passes_ends_with_one_line_and_what_was_left(
    junit: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status, said = prove([part("one", "cp junit.xml {out}; echo 40 >$PROOF_LEFT_FILE; test $PROOF_SEED = 7")], capsys)
    assert status == 0, said
    assert said.endswith("\ntest: 2 passed, 0 failed\n")
    assert "Left for `make verify`: 41 tests." in said
    assert "1.5 s  api/test_x::test_ill" in said


def test_a_failed_test_is_named_with_its_reason_and_hides_no_other_part(
    junit: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status, said = prove([part("ill", "cp ill.xml {out}; exit 1"), part("well", "cp junit.xml {out}")], capsys)
    assert status == 1
    assert "FAILED api/test_x::test_ill\n    assert 1 == 2" in said
    assert said.endswith("\ntest: 3 passed, 1 failed\n")


def test_a_part_that_breaks_off_fails_the_proof(junit: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, said = prove([part("broken", "echo no such program >&2; exit 3")], capsys)
    assert status == 1
    assert "no such program" in said
    assert said.endswith("\ntest: 0 passed, 1 failed\n")


def test_a_part_that_waits_for_one_that_failed_is_told_as_not_run(
    junit: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status, said = prove([part("ill", "cp ill.xml {out}; exit 1"), part("later", "cp junit.xml {out}", "ill")], capsys)
    assert status == 1
    assert "later did not run: it comes after ill" in said
    assert said.endswith("\ntest: 1 passed, 1 failed, 1 of 2 parts not run\n")


def test_each_part_of_the_long_proof_has_a_target_and_a_mark() -> None:
    makefile = (Path(__file__).parents[3] / "Makefile").read_text()
    assert proof_parts.LONG == proofs.PARTS
    assert f"LONG := {' '.join(proof_parts.LONG)}" in makefile
    assert all(f"\nverify-{name}: ##" in makefile for name in (*proof_parts.LONG, "sample"))


def test_the_commit_draws_unless_a_seed_is_named() -> None:
    assert proof.seed_of_commit({"PROOF_SEED": "12"}) == 12
    assert proof.seed_of_commit({}) == proof.seed_of_commit({})

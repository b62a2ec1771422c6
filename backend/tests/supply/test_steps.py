"""Steps side by side: what waits for what, what is kept of each, and that nothing is left running. Their processes are real."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from downlink.stack.process import start_time, wait_until
from tools.run_steps import read_step
from tools.steps import Outcome, Step, exit_status, run, without_jobserver
from tools.steps_shown import Bars, Lines, bar

RUN_STEPS = Path(__file__).resolve().parents[2] / "tools" / "run_steps.py"
NEVER = "read _ < <(sleep 600)"
"""A command of bash that ends only when it is ended, with a child of its own."""


class Quiet(Lines):
    """Shows nothing, and keeps what it was told."""

    def __init__(self) -> None:
        self.out = io.StringIO()
        super().__init__(self.out)


def run_quietly(
    steps: Sequence[Step], folder: Path, most_at_once: int = 2, **options: bool
) -> tuple[list[Outcome], str]:
    quiet = Quiet()
    return run(steps, most_at_once, quiet, folder=folder, **options), quiet.out.getvalue()


def test_a_step_begins_when_those_that_it_comes_after_have_ended_well(tmp_path: Path) -> None:
    steps = [
        Step("first", f"touch {tmp_path}/made"),
        Step("second", f"test -e {tmp_path}/made", after=["first"]),
    ]
    outcomes, _ = run_quietly(steps, tmp_path)
    assert [(outcome.name, outcome.status) for outcome in outcomes] == [("first", 0), ("second", 0)]


def test_steps_run_side_by_side(tmp_path: Path) -> None:
    """Each waits for the other by a pipe: one after the other they would never end."""
    os.mkfifo(tmp_path / "pipe")
    steps = [Step("writes", f"echo >{tmp_path}/pipe"), Step("reads", f"read _ <{tmp_path}/pipe")]
    outcomes, _ = run_quietly(steps, tmp_path)
    assert [outcome.status for outcome in outcomes] == [0, 0]


def test_no_more_than_so_many_run_at_once(tmp_path: Path) -> None:
    alone = f"mkdir {tmp_path}/busy && rmdir {tmp_path}/busy"
    outcomes, _ = run_quietly([Step(str(number), alone) for number in range(6)], tmp_path, most_at_once=1)
    assert [outcome.status for outcome in outcomes] == [0] * 6


def test_output_goes_to_a_log_of_each_and_the_status_beside_it(tmp_path: Path) -> None:
    run_quietly([Step("one", "echo out; echo err >&2"), Step("two", ["false"])], tmp_path)
    assert (tmp_path / "one.log").read_text() == "out\nerr\n"
    assert [(tmp_path / f"{name}.status").read_text() for name in ("one", "two")] == ["0\n", "1\n"]


def test_a_log_may_be_named_and_a_step_has_a_folder_and_settings(tmp_path: Path) -> None:
    (tmp_path / "within").mkdir()
    step = Step("one", "pwd; echo $WORD", log=tmp_path / "kept.txt", env={"WORD": "given"}, folder=tmp_path / "within")
    (outcome,), _ = run_quietly([step], tmp_path)
    assert outcome.log.read_text() == f"{tmp_path}/within\ngiven\n"


def test_a_failure_leaves_out_what_comes_after_it_and_nothing_else(tmp_path: Path) -> None:
    steps = [
        Step("bad", "exit 3"),
        Step("next", "true", after=["bad"]),
        Step("last", "true", after=["next"]),
        Step("other", "true"),
    ]
    outcomes, said = run_quietly(steps, tmp_path)
    assert [outcome.status for outcome in outcomes] == [3, None, None, 0]
    assert "next           not run" in said
    assert exit_status(outcomes) == 3


def test_a_failure_ends_the_others_when_asked_for(tmp_path: Path) -> None:
    outcomes, said = run_quietly([Step("bad", "exit 3"), Step("other", NEVER)], tmp_path, stops_at_failure=True)
    assert [outcome.status for outcome in outcomes] == [3, None]
    assert said.endswith("Stopped what was still under way.\n")


def test_of_a_failure_the_last_twenty_lines_are_shown_and_where_the_rest_is(tmp_path: Path) -> None:
    _, said = run_quietly([Step("bad", "seq 50; exit 7")], tmp_path)
    assert said.splitlines() == [
        "bad            begins",
        f"bad            failed with status 7 after 0 s. {tmp_path}/bad.log ends:",
        *(f"  {number}" for number in range(31, 51)),
        f"The whole log: {tmp_path}/bad.log",
    ]


def test_a_step_that_a_signal_ends_says_which_one(tmp_path: Path) -> None:
    outcomes, said = run_quietly([Step("killed", "kill -KILL $$")], tmp_path)
    assert "was ended by signal 9" in said
    assert exit_status(outcomes) == 137


def test_what_a_step_leaves_behind_ends_with_it(tmp_path: Path) -> None:
    (outcome,), _ = run_quietly([Step("forgets", "sleep 600 & echo $!")], tmp_path)
    left = int(outcome.log.read_text())
    assert wait_until(lambda: start_time(left) is None, timeout_s=30)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_all_steps_with_their_children(tmp_path: Path, number: signal.Signals) -> None:
    names = ["one", "two"]
    command = [sys.executable, str(RUN_STEPS), *(f"{name}=echo $$; sleep 600 & echo $!; wait" for name in names)]
    process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True)
    logs = [tmp_path / ".cache" / "steps" / f"{name}.log" for name in names]
    assert wait_until(lambda: all(log.exists() and log.read_text().count("\n") == 2 for log in logs), timeout_s=30)
    process.send_signal(number)
    said, _ = process.communicate(timeout=60)
    assert process.returncode == 130
    assert said.endswith("Stopped what was still under way.\n")
    for pid in [int(line) for log in logs for line in log.read_text().splitlines()]:
        assert wait_until(lambda pid=pid: start_time(pid) is None, timeout_s=30)


def test_a_step_that_ignores_being_asked_is_killed(tmp_path: Path) -> None:
    deaf = Step("deaf", f"trap '' INT TERM; touch {tmp_path}/deaf; {NEVER}", stop_s=0.1)
    bad = Step("bad", f"until test -e {tmp_path}/deaf; do sleep 0.01; done; exit 1")
    outcomes, _ = run_quietly([deaf, bad], tmp_path, stops_at_failure=True)
    assert [outcome.status for outcome in outcomes] == [None, 1]


def test_a_step_of_the_terminal_is_shown_as_it_is_and_its_end_ends_the_others(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    steps = [Step("first", "true"), Step("shown", "echo seen", after=["first"], has_terminal=True), Step("rest", NEVER)]
    outcomes, said = run_quietly(steps, tmp_path)
    assert [outcome.status for outcome in outcomes] == [0, 0, None]
    assert capfd.readouterr().out == "seen\n"
    assert said.count("\n") == 4  # two begin, one ends, the rest is stopped


def test_a_step_of_the_terminal_waits_by_the_status_of_what_goes_on(tmp_path: Path) -> None:
    waits = f"echo >{tmp_path}/pipe; until test -e {tmp_path}/slow.status; do sleep 0.01; done; exit $(cat {tmp_path}/slow.status)"
    os.mkfifo(tmp_path / "pipe")
    steps = [Step("slow", f"read _ <{tmp_path}/pipe; exit 4"), Step("shown", waits, has_terminal=True)]
    outcomes, said = run_quietly(steps, tmp_path)
    assert [outcome.status for outcome in outcomes] == [4, 4]
    assert "failed" not in said, "the terminal is not ours: who waits for it says it"


def test_a_failure_does_not_end_a_step_of_the_terminal_that_can_do_without(tmp_path: Path) -> None:
    steps = [
        Step("first", f"until test -e {tmp_path}/bad.status; do sleep 0.01; done"),
        Step("bad", "exit 3"),
        Step("shown", f"test -e {tmp_path}/bad.status", after=["first"], has_terminal=True),
    ]
    outcomes, _ = run_quietly(steps, tmp_path, stops_at_failure=True)
    assert [outcome.status for outcome in outcomes] == [0, 3, 0]


def test_a_failure_ends_all_when_the_step_of_the_terminal_needs_it(tmp_path: Path) -> None:
    steps = [Step("bad", "exit 3"), Step("slow", NEVER), Step("shown", "true", after=["bad"], has_terminal=True)]
    outcomes, _ = run_quietly(steps, tmp_path, stops_at_failure=True)
    assert [outcome.status for outcome in outcomes] == [3, None, None]


def test_a_status_of_an_earlier_time_is_gone_before_anything_begins(tmp_path: Path) -> None:
    (tmp_path / "late.status").write_text("0\n")
    steps = [Step("looks", f"test ! -e {tmp_path}/late.status"), Step("late", "true", after=["looks"])]
    assert run_quietly(steps, tmp_path)[0][0].status == 0


def test_steps_that_cannot_be_ordered_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="none stands before it"):
        run([Step("one", "true", after=["two"]), Step("two", "true")], folder=tmp_path)
    with pytest.raises(ValueError, match="same name"):
        run([Step("one", "true"), Step("one", "true")], folder=tmp_path)


def test_a_bar_fills_by_the_usual_time_and_never_before_the_end() -> None:
    step = Step("python", "true", usual_s=20)
    assert bar(step, 0).count("█") == 0
    assert bar(step, 10) == f"python         {'█' * 12}{'░' * 12}   10 s"
    assert bar(step, 100).count("░") == 1


def test_on_a_terminal_bars_are_drawn_over_and_an_end_stands_above_them(tmp_path: Path) -> None:
    out = io.StringIO()
    bars, one, two = Bars(out), Step("one", "true", usual_s=10), Step("two", "true", usual_s=10)
    bars.tick([(one, 1), (two, 1)])
    bars.tick([(one, 1), (two, 1)])  # nothing has changed
    bars.ended(one, Outcome("one", 1.2, 0, tmp_path))
    bars.tick([(two, 2)])
    first, second = out.getvalue().split("\x1b[2A\r\x1b[J")
    assert first == f"{bar(one, 1)}\n{bar(two, 1)}\n"
    assert second == f"one            done in 1 s\n{bar(two, 2)}\n"


def test_the_command_line_names_steps() -> None:
    assert read_step("a=x=1 y") == Step("a", "x=1 y")
    shown = read_step("demo:python,dashboard~12!=downlink")
    assert (shown.name, shown.after, shown.usual_s, shown.has_terminal) == ("demo", ("python", "dashboard"), 12, True)
    with pytest.raises(ValueError, match="is no step"):
        read_step("a b")


def test_the_command_line_ends_with_the_status_of_the_terminals_step(tmp_path: Path) -> None:
    for words, status in (
        (["a=exit 3"], 3),
        (["a=true", "b=true"], 0),
        ([f"a={NEVER}", "b!=exit 5"], 5),
        ([f"a={NEVER}", "b!=true"], 0),
    ):
        done = subprocess.run([sys.executable, RUN_STEPS, *words], cwd=tmp_path, capture_output=True, check=False)
        assert done.returncode == status, done


def test_a_make_below_does_not_hear_of_our_makes_jobserver() -> None:
    env = {"MAKEFLAGS": " --no-print-directory -j2 --jobserver-auth=3,4 -- N=5", "HOME": "/"}
    assert without_jobserver(env) == {"MAKEFLAGS": " --no-print-directory -- N=5", "HOME": "/"}

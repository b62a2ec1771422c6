"""The run's state machine: legal steps only, and always an end with a reason."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from downlink.domain.runs.next_step import Condemn, Finish, Move, Release, Start, Wait, decide, start_margin
from downlink.domain.runs.run import (
    ACTIVE,
    FINAL,
    LATEST_START_S,
    Ending,
    HostPhase,
    HostView,
    Reason,
    RunState,
    RunView,
    Trait,
    has_trait,
    is_retried,
    may_follow,
    transfer_deadline_s,
)
from downlink.domain.watch import API, CONDUCTOR, Pulse, next_pulse, watched_since
from tests.fixtures.properties import examples

ZERO = datetime(2026, 1, 1, tzinfo=UTC)
SENDER, RECEIVER = "server", "client"
FAILED = Ending(RunState.FAILED, Reason.LINK_LOST, "The link was lost.")
CANCELLED = Ending(RunState.CANCELLED, Reason.CANCELLED, "Cancelled.")


def make_run(
    state: RunState = RunState.LEASED, phases: tuple[HostPhase, HostPhase] = (HostPhase.ASSIGNED,) * 2
) -> RunView:
    hosts = tuple(HostView(name, phase, ZERO) for name, phase in zip((SENDER, RECEIVER), phases, strict=True))
    return RunView(state, ZERO, hosts, base_rtt_ms=600, deadline_s=90, watched_since=ZERO - timedelta(hours=1))


class Life:
    """A run that carries out its own steps, as actions/runs/progress.py does with rows, and notes every state."""

    def __init__(self) -> None:
        self.run = make_run()
        self.now = ZERO
        self.end: Ending | None = None
        self.states = [self.run.state]

    def go_on(self) -> None:
        while self.end is None and not isinstance(step := decide(self.run, self.now), Wait):
            self._apply(step)

    def _apply(self, step: Move | Start | Condemn | Release | Finish) -> None:
        match step:
            case Move(state):
                self._enter(state)
            case Start(start_at):
                self.run = replace(self.run, start_at=start_at, unstarted=frozenset())
                if self.run.state is not RunState.RUNNING:
                    self._enter(RunState.RUNNING)
            case Condemn(ending, given_up):
                self.condemn(ending, given_up)
            case Release():
                # Sealing and analysis end the run; they are jobs and need no decision.
                self._finish(self.run.ending or Ending(RunState.COMPLETE, Reason.INTERNAL, ""))
            case Finish(ending):
                self._finish(ending)

    def _enter(self, state: RunState) -> None:
        assert may_follow(self.run.state, state)
        self.run = replace(self.run, state=state, state_at=self.now)
        self.states.append(state)

    def _finish(self, ending: Ending) -> None:
        self._enter(ending.state)
        self.end = ending

    def condemn(self, ending: Ending, given_up: tuple[str, ...] = ()) -> None:
        def phase(host: HostView) -> HostPhase:
            if host.agent in given_up:
                return HostPhase.LOST
            return HostPhase.DONE if host.phase is HostPhase.ASSIGNED else host.phase

        hosts = tuple(replace(host, phase=phase(host)) for host in self.run.hosts)
        self.run = replace(self.run, ending=self.run.ending or ending, hosts=hosts)

    def hear(self, agent: str, phase: HostPhase) -> None:
        hosts = tuple(
            replace(host, phase=phase, heard_at=self.now)
            if host.agent == agent and host.phase is not HostPhase.LOST
            else host
            for host in self.run.hosts
        )
        self.run = replace(self.run, hosts=hosts)


happenings = st.one_of(
    st.tuples(st.just("hear"), st.sampled_from((SENDER, RECEIVER)), st.sampled_from(list(HostPhase))),
    st.tuples(st.just("wait"), st.floats(0, 200), st.none()),
    st.tuples(st.just("condemn"), st.sampled_from((FAILED, CANCELLED)), st.none()),
)


@given(st.lists(happenings, max_size=30))
@settings(max_examples=examples(300))
def test_whatever_happens_the_run_ends_in_a_final_state_with_a_reason(story: list[tuple[str, object, object]]) -> None:
    life = Life()
    for kind, what, phase in story:
        if life.end:
            break
        if kind == "hear":
            life.hear(what, phase)  # type: ignore[arg-type]
        elif kind == "wait":
            life.now += timedelta(seconds=what)  # type: ignore[arg-type]
        else:
            life.condemn(what)  # type: ignore[arg-type]
        life.go_on()
    for _ in range(20):  # silence from here on
        life.now += timedelta(seconds=200)
        life.go_on()
    assert life.end is not None
    assert life.run.state in FINAL
    assert life.run.state is RunState.COMPLETE or (life.end.reason and life.end.detail)


@given(
    st.sampled_from(sorted(ACTIVE)),
    st.tuples(*[st.sampled_from(list(HostPhase))] * 2),
    st.sampled_from((None, FAILED, CANCELLED)),
    st.floats(0, 1000),
)
@settings(max_examples=examples(500))
def test_every_step_is_legal_and_the_steps_come_to_rest(
    state: RunState, phases: tuple[HostPhase, HostPhase], ending: Ending | None, seconds: float
) -> None:
    life = Life()
    life.run = replace(make_run(state, phases), ending=ending, start_at=ZERO)
    life.now = ZERO + timedelta(seconds=seconds)
    life.go_on()
    assert len(life.states) <= len(RunState)


def test_a_run_goes_through_its_states() -> None:
    life = Life()
    for phase in (HostPhase.PREPARING, HostPhase.READY, HostPhase.FINISHED, HostPhase.RESTORED, HostPhase.UPLOADED):
        for agent in (SENDER, RECEIVER):
            life.hear(agent, phase)
            life.go_on()
    assert [str(state) for state in life.states] == [
        "leased",
        "preparing",
        "running",
        "restoring",
        "uploading",
        "complete",
    ]


def test_the_start_leaves_time_for_two_round_trips_of_each_message() -> None:
    run = make_run(RunState.PREPARING, (HostPhase.READY, HostPhase.READY))
    assert decide(run, ZERO) == Start(ZERO + start_margin(600))
    assert start_margin(600) >= timedelta(milliseconds=4 * 600)


def test_silence_during_a_transfer_is_no_failure_before_the_deadline() -> None:
    run = replace(make_run(RunState.RUNNING, (HostPhase.READY, HostPhase.READY)), start_at=ZERO)
    assert isinstance(decide(run, ZERO + timedelta(seconds=90)), Wait)
    late = decide(run, ZERO + timedelta(seconds=200))
    assert isinstance(late, Condemn)
    assert late.ending.reason is Reason.AGENT_LOST
    assert "server and client" in late.ending.detail


def test_a_host_that_cannot_be_restored_in_time_is_given_up_and_named() -> None:
    run = make_run(RunState.RESTORING, (HostPhase.RESTORED, HostPhase.FINISHED))
    step = decide(run, ZERO + timedelta(seconds=100))
    assert isinstance(step, Condemn)
    assert step.given_up == (RECEIVER,)
    assert RECEIVER in step.ending.detail


def test_a_failed_run_keeps_the_samples_it_has() -> None:
    run = replace(make_run(RunState.RESTORING, (HostPhase.RESTORED, HostPhase.DONE)), ending=FAILED)
    assert decide(run, ZERO) == Move(RunState.UPLOADING)
    assert decide(replace(run, ending=CANCELLED), ZERO) == Finish(CANCELLED)


@pytest.mark.parametrize("reason", [reason.value for reason in Reason if Trait.LASTING in reason.traits])
def test_what_would_fail_again_is_not_tried_again(reason: str) -> None:
    assert not is_retried(RunState.FAILED, reason, 1, 3)


def test_no_reason_is_symptom_and_cause_or_passes_and_lasts() -> None:
    for one, other in ((Trait.SYMPTOM, Trait.CAUSE), (Trait.PASSING, Trait.LASTING)):
        assert not [reason for reason in Reason if one in reason.traits and other in reason.traits]
    assert Trait.CAUSE in Reason("host_busy").traits
    assert not has_trait(None, Trait.CAUSE)
    assert not has_trait("of a later version", Trait.CAUSE)


def test_a_failed_run_is_tried_again_up_to_its_limit() -> None:
    assert is_retried(RunState.FAILED, "agent_restarted", 1, 2)
    assert not is_retried(RunState.FAILED, "agent_restarted", 2, 2)
    assert not is_retried(RunState.FAILED, "agent_restarted", 3, 2), "a late attempt beyond the last one"
    assert not is_retried(RunState.CANCELLED, "cancelled", 1, 2)


def test_deadlines_scale_with_the_path() -> None:
    assert transfer_deadline_s(60, None, 5, 600, 144_000_000) == 60 + 30 + 20 * 0.6
    slow = transfer_deadline_s(None, 80_000_000, 0, 600, 144_000_000)
    assert slow > 80_000_000 * 8 / 1_700_000  # 131,072 bytes of window per 0.6 s, and still in time
    assert transfer_deadline_s(None, 80_000_000, 0, 20, 1_000_000_000) < slow


class Model:
    """A server that comes and goes, two agents that do their work, and time in steps of a second."""

    def __init__(self, away: list[tuple[str, int, int]]) -> None:
        self.life = Life()
        self.second = 0
        self.away = [(who, start, start + length) for who, start, length in away]
        self.pulses: dict[str, Pulse] = {}
        self.agents = {name: Scripted(name) for name in (SENDER, RECEIVER)}

    def is_up(self, who: str) -> bool:
        return not any(name in (who, "both") and start <= self.second < end for name, start, end in self.away)

    def step(self) -> None:
        self.second += 1
        self.life.now = ZERO + timedelta(seconds=self.second)
        for who in (CONDUCTOR, API):
            if self.is_up(who):
                self.pulses[who] = next_pulse(self.pulses.get(who), self.life.now)
        for agent in self.agents.values():
            agent.work(self)
        if self.is_up(CONDUCTOR):
            self.decide()
            self.wake()

    def wake(self) -> None:
        """Who holds a poll hears at once what was decided."""
        for agent in self.agents.values():
            if agent.holds_poll(self):
                agent.obey(self)

    def has_split_start(self) -> bool:
        """One end alone had its start when the api went away (docs/decisions/0002): that attempt is lost."""
        return len({agent.begun_at is None for agent in self.agents.values()}) == 2

    def decide(self) -> None:
        since = watched_since(self.pulses.get(CONDUCTOR), self.pulses.get(API), self.life.now)
        waits = {name for name, agent in self.agents.items() if agent.waits_since(self.life.run.start_at)}
        self.life.run = replace(self.life.run, watched_since=since, unstarted=frozenset(waits))
        self.life.go_on()


class Scripted:
    """An agent: it works whether or not anybody hears it, and calls again after growing pauses when nobody does."""

    def __init__(self, name: str) -> None:
        self.name, self.phase, self.told = name, HostPhase.PREPARING, HostPhase.ASSIGNED
        self.ready_at, self.next_call, self.pause_s = 3, 0, 1
        self.begun_at: int | None = None
        self.said_ready_at: datetime | None = None

    def work(self, model: Model) -> None:
        if self.phase is HostPhase.PREPARING and model.second >= self.ready_at:
            self.phase = HostPhase.READY
        if self.begun_at is not None and self.phase is HostPhase.READY and model.second >= self.begun_at + 60:
            self.phase = HostPhase.RESTORED  # with `finished` before it in its outbox
        if model.second >= self.next_call:
            self._call(model)

    def _call(self, model: Model) -> None:
        if not model.is_up(API):
            self.next_call, self.pause_s = model.second + self.pause_s, min(2 * self.pause_s, 30)
            return
        self.next_call, self.pause_s = model.second + 1, 1
        is_measuring = self.begun_at is not None and self.phase is HostPhase.READY
        if is_measuring:
            return  # silent by design
        model.life.hear(self.name, self.phase)
        self.said_ready_at = model.life.now if self.phase is HostPhase.READY else None
        model.decide()
        self.obey(model)
        model.wake()

    def holds_poll(self, model: Model) -> bool:
        return model.is_up(API) and self.pause_s == 1 and self.next_call <= model.second + 1

    def obey(self, model: Model) -> None:
        run = model.life.run
        if run.state is RunState.RUNNING and self.phase is HostPhase.READY and run.start_at:
            late = model.life.now - run.start_at
            if self.begun_at is None and late <= timedelta(seconds=LATEST_START_S):
                self.begun_at = model.second
        elif run.state is RunState.UPLOADING and self.phase is HostPhase.RESTORED:
            self.phase = HostPhase.UPLOADED

    def waits_since(self, start_at: datetime | None) -> bool:
        if start_at is None or self.said_ready_at is None:
            return False
        return self.said_ready_at > start_at + timedelta(seconds=LATEST_START_S)


@given(
    st.lists(st.tuples(st.sampled_from((CONDUCTOR, API, "both")), st.integers(0, 400), st.integers(1, 600)), max_size=4)
)
@settings(max_examples=examples(300))
def test_no_outage_ends_a_run_whose_agents_do_their_work(away: list[tuple[str, int, int]]) -> None:
    model = Model(away)
    while model.life.end is None and model.second < 4000:
        model.step()
    assert model.life.end is not None
    assert model.life.end.state is RunState.COMPLETE or model.has_split_start(), (model.life.end, model.life.states)


def test_both_ends_begin_although_the_api_goes_away_a_second_after_they_were_ready() -> None:
    model = Model([(API, 4, 8)])
    while model.life.end is None and model.second < 4000:
        model.step()
    assert not model.has_split_start()
    assert model.life.end is not None
    assert model.life.end.state is RunState.COMPLETE

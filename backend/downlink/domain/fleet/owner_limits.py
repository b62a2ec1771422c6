"""The limits of hosts' owners, compared with a plan: runs that an agent would refuse or break off. Pure.

Policies are the owners' own (docs/operations.md). The agent enforces them; here they are foreseen, as it judges them
(agents/internal/agent/trial/policy.go, agents/internal/agent/rest.go).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any

from downlink.domain.campaigns.campaign import Campaign
from downlink.domain.campaigns.conflict import Conflict
from downlink.domain.campaigns.flow_plan import Tcp
from downlink.domain.campaigns.opening import Hours
from downlink.domain.campaigns.placing import PlannedRun
from downlink.domain.campaigns.run_size import deadline_s, run_bytes
from downlink.domain.fleet.hosts import Host, Use, uses_of
from downlink.domain.links.link import Link

START_MARGIN_S = 90.0
"""Time that preparation and the wait for the start may add before a run's zero, as the agent counts it."""
WEEK_MIN, DAY_MIN = 7 * 24 * 60, 24 * 60


@dataclass(frozen=True, slots=True)
class Month:
    """The monthly limit of a host, over all runs. resets_on: first day of the next month by its clock."""

    limit_bytes: int
    used_bytes: int
    resets_on: date

    @property
    def left_bytes(self) -> int:
        return max(0, self.limit_bytes - self.used_bytes)


@dataclass(frozen=True, slots=True)
class Policy:
    """The limits that an owner sets; None or empty for no limit. utc_offset: of the host's clock."""

    max_seconds: float | None
    max_bytes: int | None
    max_rate_bps: int | None
    month: Month | None
    quiet: tuple[Hours, ...]
    utc_offset: timedelta

    def local(self, moment: datetime) -> datetime:
        """Return the moment by the host's clock."""
        return (moment.astimezone(UTC) + self.utc_offset).replace(tzinfo=None)


def read_month(facts: Mapping[str, Any]) -> Month | None:
    """Read the monthly limit from an agent's facts."""
    month = (facts.get("policy") or {}).get("month")
    return Month(month["limit_bytes"], month["used_bytes"], date.fromisoformat(month["resets_on"])) if month else None


def read_policy(facts: Mapping[str, Any]) -> Policy | None:
    """Read the owner's limits from an agent's facts; None if it does not report them."""
    policy = facts.get("policy")
    if policy is None:
        return None
    return Policy(
        policy.get("max_seconds"),
        policy.get("max_bytes"),
        policy.get("max_rate_bps"),
        read_month(facts),
        tuple(Hours.parse(text) for text in policy.get("quiet_hours", ())),
        timedelta(seconds=policy["utc_offset_s"]),
    )


def find_disallowed(
    campaign: Campaign, links: Sequence[Link], hosts: Mapping[str, Host], runs: Sequence[PlannedRun], now: datetime
) -> Iterator[Conflict]:
    """Yield a conflict for each agent and limit that the plan exceeds; blocking if no such run can ever take place."""
    policies = {name: policy for name, host in hosts.items() if (policy := read_policy(host.facts))}
    uses = [use for use in uses_of(campaign, links) if use.agent in policies]
    seen: set[tuple[str, str]] = set()
    for use in uses:
        for conflict in _of_one_run(use, policies[use.agent]):
            if (use.agent, conflict.code) not in seen:
                seen.add((use.agent, conflict.code))
                yield conflict
    for agent in dict.fromkeys(use.agent for use in uses):
        own = {(use.link.name, use.condition.name): use for use in uses if use.agent == agent}
        due = [(run, own[run.link, run.condition]) for run in runs if (run.link, run.condition) in own]
        yield from _in_quiet_hours(agent, policies[agent], due, now)
        yield from _beyond_month(agent, policies[agent], due, now)


def _of_one_run(use: Use, policy: Policy) -> Iterator[Conflict]:
    yield from _too_long(use, policy)
    yield from _too_many_bytes(use, policy)
    yield from _too_fast(use, policy)


def _stop(use: Use) -> str:
    return f"conditions[{use.number}].stop"


def _too_long(use: Use, policy: Policy) -> Iterator[Conflict]:
    stop, most = use.condition.stop, policy.max_seconds
    asked = stop.seconds if stop.seconds is not None else deadline_s(use.condition, use.link)
    if most is None or asked <= most:
        return
    what = "lasts" if stop.seconds is not None else "may last, by its deadline,"
    message = (
        f"{use.condition.name}, on {use.agent}: a run {what} {asked:,.0f} s, and the host's owner allows {most:,.0f} s "
        "(max_seconds). Shorten the run, or have the owner raise it in the agent's policy."
    )
    yield Conflict("owner_seconds", message, True, place=_stop(use))


def _too_many_bytes(use: Use, policy: Policy) -> Iterator[Conflict]:
    """Yield the byte limits that one run exceeds. The agent refuses a run by bytes at once; a run by seconds is broken off if the
    link reaches its nominal rate."""
    volume, is_certain = _volume(use), use.condition.stop.bytes is not None
    of_month = policy.month.limit_bytes if policy.month else None
    for name, most in (("max_bytes", policy.max_bytes), ("monthly_bytes", of_month)):
        if most is not None and volume > most:
            does = "sends" if is_certain else "may carry, at the link's nominal rate,"
            then = "Every run is refused" if is_certain else "Then it is broken off and fails"
            message = (
                f"{use.condition.name}, on {use.agent}: a run {does} {_volume_text(volume)}, and the host's owner allows "
                f"{_volume_text(most)} ({name}). {then}: make it smaller, or have the owner raise it in the agent's policy."
            )
            yield Conflict(f"owner_{name}", message, is_certain, place=_stop(use))


def _too_fast(use: Use, policy: Policy) -> Iterator[Conflict]:
    if policy.max_rate_bps is None or use.part == "receiver":
        return
    sent = [(index, flow.transport) for index, flow in use.flows if isinstance(flow.transport, Tcp)]
    rates = [transport.pacing_rate_bps for _, transport in sent]
    if rates and (None in rates or sum(rate or 0 for rate in rates) > policy.max_rate_bps):
        message = (
            f"{use.condition.name}, on {use.agent}: the host's owner allows {policy.max_rate_bps / 1e6:g} Mb/s for all flows "
            "together (max_rate_bps). Give each TCP flow a pacing_rate_bps within that, or have the owner raise it."
        )
        yield Conflict(
            "owner_rate", message, True, place=f"conditions[{use.number}].flows[{sent[0][0]}].pacing_rate_bps"
        )


def _volume(use: Use) -> int:
    """Return the payload that one run moves at this host: its own flows by bytes, the whole link by seconds."""
    if use.condition.stop.bytes is not None:
        return use.condition.stop.bytes * len(use.flows)
    is_whole = len(use.flows) == len(use.condition.flows)
    return run_bytes(use.condition, use.link) * 1448 // 1500 if is_whole else 0


def _span_s(use: Use) -> float:
    """Return for how many seconds an agent must be free of quiet hours to take the run."""
    return deadline_s(use.condition, use.link) + START_MARGIN_S


def _in_quiet_hours(
    agent: str, policy: Policy, due: Sequence[tuple[PlannedRun, Use]], now: datetime
) -> Iterator[Conflict]:
    if not policy.quiet or not due:
        return
    quiet = _quiet_minutes(policy.quiet)
    hours = "; ".join(map(str, policy.quiet))
    longest_s = 60 * _longest_gap(quiet)
    use = max((use for _, use in due), key=_span_s)
    if _span_s(use) > longest_s:
        message = (
            f"{use.condition.name}, on {agent}: a run and its deadline take up to {_span_s(use) / 60:,.0f} minutes, and the longest "
            f"time without quiet hours ({hours}, by that host's clock) is {longest_s / 60:,.0f}. Shorten the run, or have the "
            "owner change quiet_hours in the agent's policy."
        )
        yield Conflict("owner_quiet", message, True, place=_stop(use))
        return
    hit = [run for run, use in due if _is_hit(quiet, policy.local(now + timedelta(seconds=run.due_s)), _span_s(use))]
    if hit:
        at = policy.local(now + timedelta(seconds=hit[0].due_s))
        message = (
            f"{len(hit)} of {len(due)} runs on {agent} would last into its owner's quiet hours ({hours}, by that host's clock), "
            f"the first at {at:%a %H:%M} there. They wait until these are over, and are missed where their time has passed by "
            "then: give the timetable opening hours outside of them."
        )
        yield Conflict("owner_quiet", message, place="timetable")


def _quiet_minutes(hours: Sequence[Hours]) -> list[bool]:
    """Return for each minute of a week, from Monday on, whether it is quiet."""
    quiet = [False] * WEEK_MIN
    for each in hours:
        lasts = each.closes - each.opens if each.closes > each.opens else each.closes - each.opens + DAY_MIN
        for day in each.days:
            for minute in range(lasts):
                quiet[(day * DAY_MIN + each.opens + minute) % WEEK_MIN] = True
    return quiet


def _longest_gap(quiet: Sequence[bool]) -> int:
    longest = length = 0
    for is_quiet in (*quiet, *quiet):  # a gap may go over Sunday's midnight
        length = 0 if is_quiet else length + 1
        longest = max(longest, length)
    return longest


def _is_hit(quiet: Sequence[bool], begins: datetime, span_s: float) -> bool:
    first = begins.weekday() * DAY_MIN + begins.hour * 60 + begins.minute
    return any(quiet[(first + minute) % WEEK_MIN] for minute in range(min(WEEK_MIN, int(span_s // 60) + 1)))


def _beyond_month(
    agent: str, policy: Policy, due: Sequence[tuple[PlannedRun, Use]], now: datetime
) -> Iterator[Conflict]:
    """Yield a conflict if the runs until the host's month ends would take more than is left of it."""
    month = policy.month
    if month is None:
        return
    here = policy.local(now).date()
    left = month.left_bytes if here < month.resets_on else month.limit_bytes
    taken = 0
    for number, (run, use) in enumerate(due, 1):
        if here < month.resets_on <= policy.local(now + timedelta(seconds=run.due_s)).date():
            return
        taken += _volume(use)
        if taken > left:
            message = (
                f"{agent} may move {_volume_text(month.limit_bytes)} a month (its owner's monthly_bytes), and {_volume_text(left)} are "
                f"left until {month.resets_on}: they may be used up in run {number} of {len(due)}. It then takes no run until that "
                "day. Plan fewer or smaller runs, start later, or have the owner raise it."
            )
            yield Conflict("owner_month", message, place="links")
            return


def _volume_text(volume: int) -> str:
    if volume < 1e6:
        return f"{volume / 1e3:,.0f} kB" if volume >= 1e3 else f"{volume} bytes"
    return f"{volume / 1e6:,.0f} MB"

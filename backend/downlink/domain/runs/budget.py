"""The budget of a run that starts: the most that it may carry, so that no limit is broken at any rate of the link. Pure.

A campaign's limit is shared by its runs on several links. What is reserved for those under way is theirs. Of the rest a run gets
what it is expected to take, as do those that could start beside it; what is then left over is shared evenly among all of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

DOES_NOT_HOLD = (
    "does not end a transfer at a budget: install the agent of this server's version there, or remove the campaign's limits.bytes "
    "and the link's allowance."
)


class BudgetOf(StrEnum):
    """The budget that leaves least: of the campaign or of the link."""

    CAMPAIGN = "campaign"
    LINK = "link"


@dataclass(frozen=True, slots=True)
class Budget:
    """The most payload that all flows of a run may carry together."""

    bytes: int
    of: BudgetOf


@dataclass(frozen=True, slots=True)
class Ends:
    """A flow's ends. content: its number, or that of the flow whose content it moves."""

    sender: str
    receiver: str
    content: int


def budget_of(
    expected_bytes: int, campaign_left: int | None, beside: Collection[int], link_left: int | None
) -> Budget | None:
    """Return the most that a run may carry; None if nothing limits it.

    expected_bytes: what it should take at most. campaign_left: of the campaign's limit, without what is reserved for its runs
    under way. beside: what runs of this campaign on other links are expected to take, which could start meanwhile.
    link_left: of the link's month, on which no other run is under way.
    """
    budgets = []
    if campaign_left is not None:
        spare = max(0, campaign_left - expected_bytes - sum(beside))
        share = expected_bytes + spare // (1 + len(beside))
        budgets.append(Budget(max(0, min(campaign_left, share)), BudgetOf.CAMPAIGN))
    if link_left is not None:
        budgets.append(Budget(link_left, BudgetOf.LINK))
    return min(budgets, key=lambda budget: budget.bytes, default=None)


def read_budget(row: Mapping[str, Any] | None) -> Budget | None:
    """Read the budget from a run's row."""
    return Budget(row["bytes"], BudgetOf(row["of"])) if row else None


def share_of(budget: Budget, flows: Collection[Ends], agent: str) -> Budget | None:
    """Return one agent's part of the budget; None for an agent that is an end of no flow, and only relays.

    An agent that takes part in every flow holds the run to all of it. Where there is no such agent, each has a share by the number
    of its flows. An agent counts a content that several flows share once, and the server counts it in each of them.
    """
    own = [flow for flow in flows if agent in (flow.sender, flow.receiver)]
    if not own:
        return None
    names = {name for flow in flows for name in (flow.sender, flow.receiver)}
    sees_all = any(all(name in (flow.sender, flow.receiver) for flow in flows) for name in names)
    share = budget.bytes if sees_all else budget.bytes * len(own) // len(flows)
    return Budget(share // max(Counter(flow.content for flow in own).values()), budget.of)

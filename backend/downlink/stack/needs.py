"""Needs of a campaign on one machine: which emulated links, of which profiles, with how many senders."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from downlink.domain.campaigns.campaign import Campaign
from downlink.domain.campaigns.flow_plan import SPLIT
from downlink.domain.errors import InvalidError

PROFILES = "profiles"
"""A folder beside a campaign file: NAME.yaml in it is the profile of the link NAME."""
_FURTHER = re.compile(r"(?P<profile>.+)\.[0-9]+")


@dataclass(frozen=True, slots=True)
class LinkNeed:
    """A link to build. profile: the name of one that comes with the agent, or the path of a file. senders: how many.

    has_router_hosts: its routers between two hops are hosts, for TCP that ends there.
    """

    name: str
    profile: str
    senders: int
    has_router_hosts: bool = False


def link_needs(
    campaign: Campaign, given: Sequence[str], known: Collection[str], folder: Path, least_senders: int = 1
) -> list[LinkNeed]:
    """The links that the campaign names, in its order.

    given: profiles of the user's, by name or path, each for the link of its name. known: the profiles that come with the
    agent. folder: where the campaign file is. A link `geo-viasat.2` is a further one of the profile geo-viasat.
    Raises InvalidError with one sentence that says what is missing.
    """
    senders = max([least_senders, *(number for each in campaign.conditions for number in each.senders)])
    named = {Path(profile).stem: profile for profile in given}
    is_split = any(flow.kind == SPLIT for each in campaign.conditions for flow in each.flows)
    return [LinkNeed(name, _profile(name, named, known, folder), senders, is_split) for name in campaign.links]


def refuse_unused(given: Sequence[str], links: Sequence[str]) -> None:
    """InvalidError when one of the user's profiles is of none of these links."""
    if unused := sorted(
        {Path(profile).stem for profile in given} - {profile_name(link) for link in links} - set(links)
    ):
        raise InvalidError(
            "profile_unused",
            f"The campaign names the links {', '.join(links)}, so the profile {unused[0]} is of no use to it.",
        )


def merge_needs(needs: Sequence[Sequence[LinkNeed]]) -> list[LinkNeed]:
    """The links of several campaigns, each once, with the most senders that any of them asks for, and hosts if one does.

    InvalidError where two campaigns want one link by two profiles.
    """
    merged: dict[str, LinkNeed] = {}
    for need in (each for one in needs for each in one):
        known = merged.get(need.name, need)
        if known.profile != need.profile:
            raise InvalidError(
                "profiles_differ",
                f"The campaigns want the link {need.name} by two profiles, {known.profile} and {need.profile}; "
                "start them one after the other.",
            )
        merged[need.name] = replace(
            need,
            senders=max(need.senders, known.senders),
            has_router_hosts=need.has_router_hosts or known.has_router_hosts,
        )
    return list(merged.values())


def profile_name(link: str) -> str:
    """The name of a link's profile: the link's own, without the number of a further link of the same profile."""
    further = _FURTHER.fullmatch(link)
    return further["profile"] if further else link


def _profile(link: str, named: dict[str, str], known: Collection[str], folder: Path) -> str:
    for name in (link, profile_name(link)):
        if name in named:
            return named[name]
        beside = folder / PROFILES / f"{name}.yaml"
        if beside.is_file():
            return str(beside.resolve())
        if name in known:
            return name
    raise InvalidError(
        "profile_missing",
        f"The campaign's link {link} is none of the profiles {', '.join(sorted(known))}; "
        f"give its profile with --profile FOLDER/{profile_name(link)}.yaml.",
    )

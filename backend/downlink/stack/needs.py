"""What a campaign needs to run on one machine: which emulated links, of which profiles, with how many senders."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from downlink.domain.campaign import SPLIT, Campaign
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
    if unused := sorted(set(named) - {profile_name(link) for link in campaign.links} - set(campaign.links)):
        raise InvalidError(
            "profile_unused",
            f"The campaign names the links {', '.join(campaign.links)}, so the profile {unused[0]} is of no use to it.",
        )
    is_split = any(flow.kind == SPLIT for each in campaign.conditions for flow in each.flows)
    return [LinkNeed(name, _profile(name, named, known, folder), senders, is_split) for name in campaign.links]


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

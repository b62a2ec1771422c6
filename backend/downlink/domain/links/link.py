"""A link: one path under test, with the agents at its ends."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from downlink.domain.errors import InvalidError
from downlink.domain.links.weather_source import check_position

MAX_SENDERS = 16
MAX_RELAYS = 16
MAX_RECEIVERS = 15


class Orbit(StrEnum):
    GEO = "GEO"
    MEO = "MEO"
    LEO = "LEO"
    TERRESTRIAL = "terrestrial"


@dataclass(frozen=True, slots=True)
class Link:
    """One receiver behind a terminal and the senders that reach it. Agents are named, `senders` in the order campaigns count them from 1.

    relays: agents on the way, in order from the senders to the receiver. further_receivers: others that hang at the way, which
    campaigns count from 2.

    allowance_bytes: the plan's data volume a month, None for unlimited. reset_day: on which the month begins, by the link's clock.
    profile: the name of an emulated link's profile.
    time_zone: the IANA name of the one in which its terminal is, None where nobody has said it.
    latitude, longitude: of its terminal, in degrees north and east, None where nobody has said them.
    """

    name: str
    orbit: Orbit
    operator: str
    nominal_rate_bps: int
    base_rtt_ms: float
    receiver: str
    senders: tuple[str, ...]
    allowance_bytes: int | None = None
    is_emulated: bool = False
    profile: str | None = None
    time_zone: str | None = None
    reset_day: int = 1
    relays: tuple[str, ...] = ()
    latitude: float | None = None
    longitude: float | None = None
    further_receivers: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_link(self)

    @property
    def agents(self) -> tuple[str, ...]:
        """Every agent of the link, the receivers first, the relays last."""
        return (*self.receivers, *self.senders, *self.relays)

    @property
    def receivers(self) -> tuple[str, ...]:
        """All receivers, in the order in which campaigns count them from 1."""
        return (self.receiver, *self.further_receivers)


def check_link(link: Link) -> None:
    """Raise InvalidError for a link that no run could use."""
    if not link.name.strip():
        raise InvalidError("link_invalid", "A link needs a name.")
    if link.nominal_rate_bps <= 0 or link.base_rtt_ms <= 0:
        raise InvalidError("link_invalid", f"Link {link.name}: nominal_rate_bps and base_rtt_ms must be above zero.")
    if not 1 <= len(link.senders) <= MAX_SENDERS:
        raise InvalidError("link_invalid", f"Link {link.name}: name 1 to {MAX_SENDERS} senders.")
    if len(set(link.agents)) != len(link.agents):
        raise InvalidError(
            "link_invalid",
            f"Link {link.name}: an agent may appear once only, as a receiver, as one of the senders or as a relay.",
        )
    if len(link.relays) > MAX_RELAYS:
        raise InvalidError("link_invalid", f"Link {link.name}: name at most {MAX_RELAYS} relays.")
    if len(link.receivers) > MAX_RECEIVERS:
        raise InvalidError("link_invalid", f"Link {link.name}: name at most {MAX_RECEIVERS} receivers.")
    if link.allowance_bytes is not None and link.allowance_bytes <= 0:
        raise InvalidError("link_invalid", f"Link {link.name}: allowance_bytes must be above zero, or null for none.")
    if not 1 <= link.reset_day <= 28:
        raise InvalidError("link_invalid", f"Link {link.name}: reset_day must be from 1 to 28.")
    check_position(link.latitude, link.longitude)

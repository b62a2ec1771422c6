"""Permissions as one table: role by verb by owner, and the scope that an API token needs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

Scope = Literal["read", "write", "admin"]
SCOPES: tuple[Scope, ...] = ("read", "write", "admin")


class Role(StrEnum):
    """A visitor reads the one campaign that a link was made for. A viewer looks, an operator measures, an admin also decides who and
    what takes part."""

    VISITOR = "visitor"
    VIEWER = "viewer"
    OPERATOR = "operator"
    ADMIN = "admin"


class Reach(StrEnum):
    """Reach of a role's verb."""

    NONE = "none"
    OWN = "own"
    ANY = "any"


class Verb(StrEnum):
    """READ: all that is planned, measured and computed, previews and exports included. READ_CAMPAIGN: the results of one campaign, which
    is a visitor's own when the link was made for it. SHARE_CAMPAIGN: make such links, list and revoke them.
    RUN: launch, pause, resume, cancel, run again.

    DESCRIBE: notes and tags. ANNOTATE: note what happened at a time.
    CHANGE_CAMPAIGN: a draft's file. DERIVE: sweeps and re-analysis. MANAGE_TOKENS: API tokens and sessions. MANAGE_CHANNELS: where
    notifications go. MANAGE_AGENTS: join and
    revoke them. PAUSE_AGENTS: let a host rest. MANAGE_ACCESS: who has an account with which role, and the record of such changes.
    """

    READ = "read"
    READ_CAMPAIGN = "read_campaign"
    SHARE_CAMPAIGN = "share_campaign"
    CREATE_CAMPAIGN = "create_campaign"
    CHANGE_CAMPAIGN = "change_campaign"
    DESCRIBE_CAMPAIGN = "describe_campaign"
    RUN_CAMPAIGN = "run_campaign"
    DELETE_CAMPAIGN = "delete_campaign"
    DERIVE = "derive"
    IMPORT = "import"
    CREATE_LINK = "create_link"
    CHANGE_LINK = "change_link"
    ANNOTATE = "annotate"
    CHANGE_ACCOUNT = "change_account"
    MANAGE_TOKENS = "manage_tokens"
    MANAGE_CHANNELS = "manage_channels"
    MANAGE_AGENTS = "manage_agents"
    PAUSE_AGENTS = "pause_agents"
    MANAGE_ACCESS = "manage_access"


@dataclass(frozen=True, slots=True)
class Rule:
    """The scope that a token needs for a verb, and the verb's reach for each role."""

    scope: Scope
    visitor: Reach
    viewer: Reach
    operator: Reach
    admin: Reach


_NONE, _OWN, _ANY = Reach.NONE, Reach.OWN, Reach.ANY
TABLE: Mapping[Verb, Rule] = {
    #                           scope   visitor viewer operator admin
    Verb.READ:             Rule("read", _NONE, _ANY, _ANY, _ANY),
    Verb.READ_CAMPAIGN:    Rule("read", _OWN, _ANY, _ANY, _ANY),
    Verb.SHARE_CAMPAIGN:   Rule("admin", _NONE, _NONE, _OWN, _ANY),
    Verb.CREATE_CAMPAIGN:  Rule("write", _NONE, _NONE, _ANY, _ANY),
    Verb.CHANGE_CAMPAIGN:  Rule("write", _NONE, _NONE, _OWN, _ANY),
    Verb.DESCRIBE_CAMPAIGN: Rule("write", _NONE, _NONE, _OWN, _ANY),
    Verb.RUN_CAMPAIGN:     Rule("write", _NONE, _NONE, _OWN, _ANY),
    Verb.DELETE_CAMPAIGN:  Rule("write", _NONE, _NONE, _OWN, _ANY),
    Verb.DERIVE:           Rule("write", _NONE, _NONE, _ANY, _ANY),
    Verb.IMPORT:           Rule("write", _NONE, _NONE, _ANY, _ANY),
    Verb.CREATE_LINK:      Rule("write", _NONE, _NONE, _ANY, _ANY),
    Verb.CHANGE_LINK:      Rule("write", _NONE, _NONE, _OWN, _ANY),
    Verb.ANNOTATE:         Rule("write", _NONE, _NONE, _ANY, _ANY),
    Verb.CHANGE_ACCOUNT:  Rule("write", _NONE, _OWN, _OWN, _OWN),
    Verb.MANAGE_TOKENS:    Rule("admin", _NONE, _OWN, _OWN, _ANY),
    Verb.MANAGE_CHANNELS:  Rule("admin", _NONE, _NONE, _OWN, _ANY),
    Verb.MANAGE_AGENTS:    Rule("admin", _NONE, _NONE, _NONE, _ANY),
    Verb.PAUSE_AGENTS:     Rule("write", _NONE, _NONE, _ANY, _ANY),
    Verb.MANAGE_ACCESS:    Rule("admin", _NONE, _NONE, _NONE, _ANY),
}  # fmt: skip


def reach_of(role: Role, verb: Verb) -> Reach:
    """Return the verb's reach for this role."""
    rule = TABLE[verb]
    by_role = {
        Role.VISITOR: rule.visitor,
        Role.VIEWER: rule.viewer,
        Role.OPERATOR: rule.operator,
        Role.ADMIN: rule.admin,
    }
    return by_role[role]


def is_allowed(role: Role, verb: Verb, *, is_owner: bool) -> bool:
    """is_owner: whether the thing is the caller's own. False where nobody owns it, so that doubt refuses."""
    reach = reach_of(role, verb)
    return reach is Reach.ANY or (reach is Reach.OWN and is_owner)

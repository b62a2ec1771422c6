"""Accounts, invitations, and the record of changes to access."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Request, Response
from fastapi.responses import StreamingResponse

from downlink.actions.people import accounts
from downlink.actions.people.access import FAILURES_PER_ADDRESS
from downlink.actions.people.attempt_limit import counted
from downlink.api.http.answers import download
from downlink.api.http.cookies import check_origin
from downlink.api.http.deps import (
    Config,
    HashTurn,
    Limit,
    Now,
    Offset,
    ReadUnit,
    UnitOfWork,
    Units,
    may,
    origin,
    problems,
)
from downlink.api.people.access import sign_in
from downlink.api.schemas.access import Session
from downlink.api.schemas.accounts import (
    AcceptBody,
    Account,
    AccountList,
    AuditEntry,
    AuditList,
    Invitation,
    InvitationBody,
    InvitationCreated,
    InvitationList,
    InvitationSecret,
    OpenedInvitation,
    RoleBody,
)
from downlink.domain.people.access import Caller
from downlink.domain.people.permission import Role, Verb
from downlink.process.settings import Settings
from downlink.storage.people import account_store
from downlink.storage.tables import Invitation as InvitationRow
from downlink.storage.tables import User
from downlink.views.people.audit import audit_csv

router = APIRouter(tags=["accounts"])
Manager = Annotated[Caller, may(Verb.MANAGE_ACCESS)]
CSV = "text/csv; charset=utf-8; header=present"


@router.get("/accounts", responses=problems(401, 403))
def list_accounts(caller: Manager, unit: ReadUnit) -> AccountList:
    """List accounts by name."""
    items = [_account(user, signed_in_at, caller) for user, signed_in_at in account_store.list_users(unit)]
    return AccountList(items=items, total=len(items))


@router.patch("/accounts/{account_id}", responses=problems(401, 403, 404, 409))
def change_role(account_id: UUID, body: RoleBody, caller: Manager, unit: UnitOfWork, now: Now) -> Account:
    """Change an account's role, from its next request on. 409 `last_admin`: one admin must remain."""
    user = accounts.change_role(unit, account_id, Role(body.role), now, actor=caller.actor)
    return _account(user, None, caller)


@router.delete("/accounts/{account_id}", status_code=204, responses=problems(401, 403, 404, 409))
def remove_account(account_id: UUID, caller: Manager, unit: UnitOfWork, now: Now) -> None:
    """Remove an account; its sessions and tokens end at once. Its campaigns and links stay, and are the admins' to change."""
    accounts.remove(unit, account_id, now, actor=caller.actor)


@router.post("/accounts/{account_id}/password", status_code=201, responses=problems(401, 403, 404))
def offer_password(
    account_id: UUID, caller: Manager, unit: UnitOfWork, settings: Config, now: Now
) -> InvitationCreated:
    """Create a link for setting a new password; using it ends every session of the account."""
    return _created(*accounts.offer_password(unit, account_id, now, actor=caller.actor), settings)


@router.get("/invitations", responses=problems(401, 403))
def list_invitations(caller: Manager, unit: ReadUnit, now: Now) -> InvitationList:
    """List the invitations that still work, newest first, without their secrets."""
    items = [Invitation.model_validate(row) for row in account_store.list_invitations(unit, now)]
    return InvitationList(items=items, total=len(items))


@router.post("/invitations", status_code=201, responses=problems(401, 403, 409))
def invite(body: InvitationBody, caller: Manager, unit: UnitOfWork, settings: Config, now: Now) -> InvitationCreated:
    """Create an invitation link for one account with this role, valid for seven days. Nothing is sent: pass it on yourself."""
    return _created(*accounts.invite(unit, body.name, Role(body.role), now, actor=caller.actor), settings)


@router.delete("/invitations/{invitation_id}", status_code=204, responses=problems(401, 403, 404))
def withdraw_invitation(invitation_id: UUID, caller: Manager, unit: UnitOfWork, now: Now) -> None:
    """Withdraw an invitation; its link stops working."""
    accounts.withdraw(unit, invitation_id, now, actor=caller.actor)


@router.post("/invitations/open", responses=problems(403, 429))
def open_invitation(body: InvitationSecret, request: Request, units: Units, now: Now) -> OpenedInvitation:
    """Return what an invitation is for. No sign-in is needed, and the invitation stays usable."""
    with counted(units, _tries(request), now), units() as unit:
        invitation = accounts.find(unit, body.secret, now)
        username = invitation.name if invitation.user_id else None
        return OpenedInvitation.model_validate(
            {"role": invitation.role, "username": username, "expires_at": invitation.expires_at}
        )


@router.post("/invitations/accept", status_code=201, dependencies=[HashTurn], responses=problems(403, 409, 429))
def accept_invitation(
    body: AcceptBody, request: Request, response: Response, units: Units, settings: Config, now: Now
) -> Session:
    """Create the account, or set its new password, and sign in. An invitation works once."""
    check_origin(request, settings) if request.headers.get("origin") else None
    with counted(units, _tries(request), now):
        username = accounts.accept(units, body.secret, body.username, body.password, now)
        with units() as unit:
            return sign_in(unit, username, request, response, settings, now)


@router.get("/audit", responses=problems(401, 403))
def list_audit(caller: Manager, unit: ReadUnit, limit: Limit = 100, offset: Offset = 0) -> AuditList:
    """List changes of access, newest first, with who made them; kept for two years."""
    rows, total = account_store.list_audit(unit, limit, offset)
    return AuditList(items=[AuditEntry.model_validate(row) for row in rows], total=total)


@router.get(
    "/audit.csv",
    response_class=StreamingResponse,
    responses={
        200: {"content": {"text/csv": {"schema": {"type": "string", "format": "csv"}}}, "description": "The file"},
        **problems(401, 403),
    },
)
def export_audit(caller: Manager, units: Units) -> StreamingResponse:
    """Export the audit record as CSV, oldest first."""
    return download(audit_csv(units), "audit.csv", CSV)


def _tries(request: Request) -> dict[str, int]:
    return {f"invitation:{origin(request)}": FAILURES_PER_ADDRESS}


def _account(user: User, signed_in_at: datetime | None, caller: Caller) -> Account:
    return Account.model_validate(
        {
            **{name: getattr(user, name) for name in ("id", "username", "role", "created_at")},
            "signed_in_at": signed_in_at,
            "is_own": user.id == caller.account_id,
        }
    )


def _created(row: InvitationRow, secret: str, settings: Settings) -> InvitationCreated:
    # In the fragment, which browsers send to no server and write into no log.
    link = f"{settings.public_url}/invited#{secret}"
    return InvitationCreated(**Invitation.model_validate(row).model_dump(), link=link)

"""Files of other tools come in."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Request
from fastapi.exceptions import RequestValidationError
from pydantic import ValidationError
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData, UploadFile

from downlink.actions.campaigns import imports
from downlink.actions.campaigns.imports import NamedFile, Target
from downlink.api.http.body import read_form
from downlink.api.http.deps import Now, OwnedPermission, Units, account_of, may, problems
from downlink.api.http.disk_room import room_of
from downlink.api.http.slots import Turns
from downlink.api.schemas.imports import ImportAnswer, ImportFields
from downlink.domain.errors import InvalidError
from downlink.domain.people.access import Caller
from downlink.domain.people.permission import Verb
from downlink.storage.people import owners
from downlink.storage.unit import UnitFactory

router = APIRouter(tags=["campaigns"])
MAX_BODY_BYTES = 512 * 2**20
MAX_FILES = 500
_FORM: dict[str, Any] = {
    "type": "object",
    "required": ["files"],
    "properties": {
        "files": {"type": "array", "items": {"type": "string", "format": "binary"}, "maxItems": MAX_FILES},
        **ImportFields.model_json_schema()["properties"],
    },
}


@router.post(
    "/imports",
    status_code=201,
    responses=problems(401, 403, 404, 409, 413, 507),
    openapi_extra={"requestBody": {"required": True, "content": {"multipart/form-data": {"schema": _FORM}}}},
)
async def import_files(
    request: Request, caller: Annotated[Caller, may(Verb.IMPORT)], units: Units, now: Now
) -> ImportAnswer:
    """Check every file, then create a run for each test in an imported campaign; `import_refused` lists every refusal."""
    await run_in_threadpool(room_of(request).check)
    form = await read_form(request, MAX_BODY_BYTES, MAX_FILES)
    try:
        files, target = _files(form), replace(_target(form), owner_id=caller.account_id)
        turns: Turns = request.app.state.importing
        async with turns.take(account_of(caller), request.is_disconnected, is_admin=caller.is_admin):
            return await run_in_threadpool(_import, units, files, target, caller, now)
    finally:
        await form.close()


def _files(form: FormData) -> list[NamedFile]:
    files = [(each.filename or "", each.file) for each in form.getlist("files") if isinstance(each, UploadFile)]
    if not files:
        raise InvalidError("no_files", "Send at least one file, in the form's field `files`.")
    return files


def _target(form: FormData) -> Target:
    """The other fields, checked as any body is."""
    try:
        fields = ImportFields.model_validate({name: value for name, value in form.items() if name != "files" and value})
    except ValidationError as error:
        raise RequestValidationError(error.errors(include_url=False)) from error
    if fields.campaign is not None and fields.campaign_id is not None:
        raise InvalidError(
            "two_campaigns", "Give either campaign (a new one) or campaign_id (an existing one), not both."
        )
    return Target(
        fields.campaign_id,
        fields.campaign,
        fields.condition,
        fields.skip_refused,
        is_strict=fields.strict,
        started_at=fields.started_at,
    )


def _import(units: UnitFactory, files: list[NamedFile], target: Target, caller: Caller, now: datetime) -> ImportAnswer:
    if target.campaign_id:  # more runs change the campaign
        OwnedPermission(Verb.CHANGE_CAMPAIGN).judge(caller, units, owners.of_campaign, target.campaign_id)
    imported = imports.import_files(units, files, target, now)
    return ImportAnswer.model_validate(imported)

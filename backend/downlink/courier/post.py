"""A post to an address that somebody typed, of whose answer the status alone counts."""

from __future__ import annotations

from collections.abc import Mapping

import httpx

from downlink.courier.http_call import LONGEST_S, Call, RefusedError, Resolve, carry_out, resolve
from downlink.domain.notices.delivery import Networks, Outcome

ALLOWED_BY = "DOWNLINK_NOTIFY_ALLOW"


def post(
    url: str, headers: Mapping[str, str], body: bytes, allowed: Networks, find: Resolve = resolve, longest_s: float = LONGEST_S
) -> Outcome:  # fmt: skip
    """Post JSON, once. What is answered beyond its status is not read: it could be anything, of any size."""
    call = Call("POST", url, {**headers, "content-type": "application/json"}, allowed, ALLOWED_BY, body)
    try:
        status = carry_out(call, _status, find, longest_s)
    except RefusedError as error:
        return Outcome(False, str(error), is_final=True)
    except (TimeoutError, httpx.TimeoutException):
        return Outcome(False, f"No answer within {longest_s:g} s.")
    except httpx.ConnectError as error:
        return Outcome(False, f"No connection: {error}.")
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        return Outcome(False, f"No HTTP answer ({type(error).__name__}).")
    return _outcome(status)


async def _status(answer: httpx.Response) -> int:
    return answer.status_code


def _outcome(status: int) -> Outcome:
    if 200 <= status < 300:
        return Outcome(True, f"Answered {status}.")
    if 300 <= status < 400:
        is_final = status in (httpx.codes.MOVED_PERMANENTLY, httpx.codes.PERMANENT_REDIRECT)
        reason = f"Answered {status}, a redirect, which is not followed: enter the final address."
        return Outcome(False, reason, is_final)
    return Outcome(False, f"Answered {status}.", is_final=status == httpx.codes.GONE)

"""The client finds its server, reads every page, and turns problems into errors that say what to do."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

from downlink.cli.client import DEFAULT_SERVER, Access, Client, find_access
from downlink.cli.lookup import pick
from downlink.domain.errors import ConflictError, DeniedError, InvalidError, NotFoundError, UnavailableError

Handler = Callable[[httpx.Request], httpx.Response]


def client_of(handler: Handler) -> Client:
    return Client(Access("http://server:1", "dlk_secret"), httpx.MockTransport(handler))


def test_the_environment_comes_before_the_file(tmp_path: Path) -> None:
    (tmp_path / ".demo").mkdir()
    (tmp_path / ".demo" / "env").write_text("DOWNLINK_SERVER=http://file:1\nDOWNLINK_TOKEN=dlk_file\n")
    below = tmp_path / "a" / "b"
    below.mkdir(parents=True)
    assert find_access(below, {}) == Access("http://file:1", "dlk_file")
    both = {"DOWNLINK_SERVER": "http://env:2", "DOWNLINK_TOKEN": "dlk_env"}
    assert find_access(below, both) == Access("http://env:2", "dlk_env")


def test_a_token_never_goes_to_a_server_that_another_place_names(tmp_path: Path) -> None:
    (tmp_path / ".demo").mkdir()
    file = tmp_path / ".demo" / "env"
    file.write_text("DOWNLINK_SERVER=http://planted:1\nDOWNLINK_TOKEN=dlk_file\n")
    assert find_access(tmp_path, {"DOWNLINK_TOKEN": "dlk_env"}) == Access(DEFAULT_SERVER, "dlk_env")
    with pytest.raises(DeniedError, match="both of them"):
        find_access(tmp_path, {"DOWNLINK_SERVER": "http://env:2"})


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files to others")
def test_a_file_of_another_user_is_not_believed(tmp_path: Path) -> None:
    (tmp_path / ".demo").mkdir()
    file = tmp_path / ".demo" / "env"
    file.write_text("DOWNLINK_SERVER=http://planted:1\nDOWNLINK_TOKEN=dlk_file\n")
    os.chown(file, 65534, 65534)
    with pytest.raises(DeniedError, match="No API token"):
        find_access(tmp_path, {})


def test_without_a_token_it_says_where_to_get_one(tmp_path: Path) -> None:
    with pytest.raises(DeniedError, match="downlink token create"):
        find_access(tmp_path, {})


def test_every_page_of_a_list_is_read_with_the_token_shown() -> None:
    rows = [{"id": str(number)} for number in range(1201)]
    asked: list[tuple[int, int]] = []

    def serve(request: httpx.Request) -> httpx.Response:
        assert request.headers["Authorization"] == "Bearer dlk_secret"
        assert request.url.path == "/api/v1/campaigns"
        limit, offset = int(request.url.params["limit"]), int(request.url.params["offset"])
        asked.append((limit, offset))
        return httpx.Response(200, json={"items": rows[offset : offset + limit], "total": len(rows)})

    assert client_of(serve).items("/campaigns") == rows
    assert asked == [(500, 0), (500, 500), (500, 1000)]


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (401, DeniedError),
        (403, DeniedError),
        (404, NotFoundError),
        (409, ConflictError),
        (422, InvalidError),
        (503, UnavailableError),
    ],
)
def test_a_problem_keeps_its_code_and_sentence(status: int, kind: type[Exception]) -> None:
    problem = {"code": "link_busy", "message": "Wait for the run to end.", "details": {"run": "7"}}
    with pytest.raises(kind, match="Wait for the run to end") as caught:
        client_of(lambda _: httpx.Response(status, json=problem)).get("/links")
    assert (caught.value.code, caught.value.details) == ("link_busy", {"run": "7"})  # type: ignore[attr-defined]


def test_an_answer_that_is_no_problem_is_still_an_error() -> None:
    with pytest.raises(UnavailableError, match="answered 502"):
        client_of(lambda _: httpx.Response(502, text="<html>bad gateway</html>")).get("/links")


def test_an_absent_server_is_named_with_what_to_do() -> None:
    def refuse(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("refused", request=request)

    with pytest.raises(UnavailableError, match=r"http://server:1.*make demo"):
        client_of(refuse).get("/links")


def test_a_download_is_streamed_and_its_refusal_reported() -> None:
    content = json.dumps(list(range(1000))).encode()
    target = io.BytesIO()
    assert client_of(lambda _: httpx.Response(200, content=content)).download("/x.csv", target) == len(content)
    assert target.getvalue() == content
    refusal = httpx.Response(404, json={"code": "trace_not_found", "message": "No such trace."})
    with pytest.raises(NotFoundError, match="No such trace"):
        client_of(lambda _: refusal).download("/x.csv", target)


THINGS = [{"id": "aa11", "name": "one"}, {"id": "aa22", "name": "two"}, {"id": "bb33", "name": "two"}]


@pytest.mark.parametrize(("wanted", "found"), [("one", "aa11"), ("bb33", "bb33"), ("bb", "bb33")])
def test_a_thing_is_picked_by_name_id_or_start_of_id(wanted: str, found: str) -> None:
    assert pick(THINGS, wanted, "campaign")["id"] == found


@pytest.mark.parametrize("wanted", ["two", "aa"])
def test_an_ambiguous_name_is_refused_with_the_choices(wanted: str) -> None:
    with pytest.raises(InvalidError, match="aa22"):
        pick(THINGS, wanted, "campaign")


def test_an_unknown_name_is_not_found() -> None:
    with pytest.raises(NotFoundError, match="campaigns list"):
        pick(THINGS, "three", "campaign")

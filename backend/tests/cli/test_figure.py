"""`downlink campaigns figure`: the server's script draws, this side asks, converts and says what is missing."""

from __future__ import annotations

import builtins
import struct
from pathlib import Path
from typing import Any

import httpx
import pytest

from downlink.cli import campaign_results
from downlink.cli.client import Access, Client
from downlink.cli.figure import figure_file, format_of
from downlink.domain.errors import DownlinkError, InvalidError

ID = "211c4ddb-011b-4075-acbe-ef9486b7535a"
# 89 mm wide, as the dashboard's functions write it.
SVG = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="89mm" height="50mm" viewBox="0 0 252.28 141.73">'
    '<text y="9" font-family="Helvetica, \'Liberation Sans\'">n = 3</text></svg>'
)
SCRIPT = f"""globalThis.downlinkFigure = (text) => {{
  const request = JSON.parse(text)
  if (request.link === 'moon') throw new Error('There is no link moon.')
  return JSON.stringify(request.format === 'csv' ? request.campaign.name + ',' + request.kind : {SVG!r})
}}"""


def served(script: str | None = SCRIPT) -> Client:
    def answer(request: httpx.Request) -> httpx.Response:
        path = request.url.path
        if path == "/figures.js":
            return httpx.Response(404, json={}) if script is None else httpx.Response(200, text=script)
        found: dict[str, Any] = {"name": "Études"} if path.endswith(ID) else {"items": [], "total": 0}
        return httpx.Response(200, json=found)

    return Client(Access("http://127.0.0.1:1", "token"), httpx.MockTransport(answer))


def draw(file_format: str, client: Client | None = None, **request: Any) -> bytes:
    return figure_file(client or served(), ID, {"kind": "stack", **request}, file_format)


def test_text_is_what_the_servers_script_draws_of_the_answers() -> None:
    assert draw("csv") == "Études,stack".encode()
    assert draw("svg") == SVG.encode()


def test_a_distribution_is_asked_for_by_its_quantity_and_phase() -> None:
    asked: list[httpx.URL] = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(request.url)
        if request.url.path == "/figures.js":
            return httpx.Response(
                200, text="globalThis.downlinkFigure = (text) => JSON.stringify(JSON.parse(text).values.metric)"
            )
        return httpx.Response(200, json={"items": [], "total": 0, "name": "a", **dict(request.url.params)})

    client = Client(Access("http://127.0.0.1:1", "token"), httpx.MockTransport(answer))
    assert draw("svg", client, kind="ecdf", phase="steady", metric="rtt_ms") == b"rtt_ms"
    (values,) = [url for url in asked if url.path.endswith("/values")]
    assert dict(values.params) == {"phase": "steady", "metric": "rtt_ms"}
    assert not any(url.path.endswith("/report") for url in asked)


def test_a_picture_has_300_dots_per_inch() -> None:
    png = draw("png")
    assert png.startswith(b"\x89PNG")
    width, height = struct.unpack(">II", png[16:24])
    assert (width, height) == (pytest.approx(89 / 25.4 * 300, abs=2), pytest.approx(50 / 25.4 * 300, abs=2))


def test_a_pdf_is_as_wide_as_a_journals_column_and_has_its_fonts_inside() -> None:
    pdf = draw("pdf")
    assert pdf.startswith(b"%PDF")
    box = pdf.partition(b"/MediaBox [")[2].partition(b"]")[0].split()
    assert float(box[2]) == pytest.approx(89 / 25.4 * 72, abs=0.1)
    assert pdf.count(b"/BaseFont") > 0
    assert pdf.count(b"/FontDescriptor") > 0


@pytest.mark.parametrize(
    ("client", "code", "words"),
    [
        (served(None), "no_figures", "its dashboard is not built"),
        (served(SCRIPT), "figure_not_drawn", "There is no link moon."),
    ],
)
def test_what_cannot_be_drawn_is_said_in_a_sentence(client: Client, code: str, words: str) -> None:
    with pytest.raises(DownlinkError) as caught:
        draw("svg", client, link="moon")
    assert caught.value.code == code
    assert words in caught.value.message


@pytest.mark.parametrize(
    ("package", "file_format", "code"), [("quickjs", "svg", "no_interpreter"), ("vl_convert", "pdf", "no_converter")]
)
def test_a_missing_package_is_named_with_what_to_type(
    monkeypatch: pytest.MonkeyPatch, package: str, file_format: str, code: str
) -> None:
    real = builtins.__import__

    def without(name: str, *rest: Any) -> Any:
        if name == package:
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(DownlinkError, match=r"downlink\[figures\]") as caught:
        draw(file_format)
    assert caught.value.code == code


def test_the_format_is_that_of_the_files_name_unless_it_is_said() -> None:
    formats = ("svg", "png")
    assert format_of(Path("a/b.SVG"), None, formats) == "svg"
    assert format_of(Path("b.svg"), "png", formats) == "png"
    with pytest.raises(DownlinkError, match="one of svg, png"):
        format_of(Path("b.jpg"), None, formats)


def test_a_file_that_cannot_be_written_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(campaign_results, "connect", served)
    monkeypatch.setattr(campaign_results, "campaign_id", lambda _client, wanted: wanted)
    file = tmp_path / "nowhere" / "stack.svg"
    with pytest.raises(InvalidError, match=f"Cannot write {file}: No such file or directory"):
        campaign_results.figure(campaign=ID, to=file)

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from downlink.codec.campaign_file import MAX_TEXT_BYTES, parse_campaign
from downlink.domain.errors import InvalidError

DOCS = Path(__file__).resolve().parents[3] / "docs"
SMALL = """name: Small
links: [geo]
stop: {seconds: 60}
timetable: {cycles: 3}
conditions:
  - name: on
    flows:
      - cc: cubic
"""
EXAMPLES = [path for name in ("examples", "examples/studies") for path in sorted((DOCS / name).glob("*.yaml"))]


def problems(text: str) -> list[dict[str, Any]]:
    with pytest.raises(InvalidError) as caught:
        parse_campaign(text)
    assert caught.value.code == "campaign_invalid"
    found: list[dict[str, Any]] = caught.value.details["problems"]
    return found


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_every_example_is_a_campaign(path: Path) -> None:
    assert parse_campaign(path.read_text()).conditions


def test_the_documented_file_is_a_campaign_with_every_key() -> None:
    page = (DOCS / "campaign-file.md").read_text()
    campaign = parse_campaign(page.split("```yaml\n")[1].split("```")[0])
    assert campaign.limits.bytes == 20_000_000_000
    assert campaign.conditions[1].flows[1].sender == 2
    assert campaign.conditions[0].receiver == {"net.ipv4.tcp_rmem": "4096 131072 60000000"}


@pytest.mark.parametrize("indent", [None, 2, "\t"])
def test_json_with_the_same_keys_is_the_same_campaign(indent: int | str | None) -> None:
    campaign = parse_campaign(SMALL)
    assert parse_campaign(json.dumps(campaign.to_dict(), indent=indent)) == campaign


def test_a_problem_is_told_with_line_and_place() -> None:
    (problem,) = problems(SMALL.replace("cc: cubic", "cc: 'a b'"))
    assert (problem["line"], problem["place"]) == (8, "conditions[0].flows[0].cc")


def test_a_missing_key_is_told_at_the_line_of_what_lacks_it() -> None:
    (problem,) = problems(SMALL.replace("name: on", "stop: {seconds: 5}"))
    assert (problem["line"], problem["place"]) == (6, "conditions[0].name")


def test_a_key_that_stands_twice_is_refused_also_in_json() -> None:
    assert problems(SMALL + "name: Again\n")[0] == {
        "place": "name",
        "line": 9,
        "message": "this key appears twice.",
    }
    assert problems('{"name": "a",\n "name": "b"}')[0]["line"] == 2


@pytest.mark.parametrize("key", ["2022", "2.5", "true", "null", "~"])
@pytest.mark.parametrize("place", ["", "stop", "conditions[0]"])
def test_a_key_that_is_another_scalar_is_refused_where_it_is(key: str, place: str) -> None:
    text = {"": f"{SMALL}{key}: 3\n", "stop": f"stop: {{{key}: 3}}", "conditions[0]": f"conditions: [{{{key}: 3}}]"}
    assert problems(text[place])[0] == {
        "place": f"{place}.{key}".strip("."),
        "line": 9 if place == "" else 1,
        "message": f'a key must be a text: write "{key}", in quotes.',
    }
    quoted = problems(text[place].replace(key, f'"{key}"'))
    assert any("unknown key" in each["message"] for each in quoted)


def test_words_are_words_and_numbers_numbers() -> None:
    """YAML 1.1 would read on, off, 12:30 and 010 as something else."""
    text = (
        SMALL.replace("name: Small", "name: off")
        .replace("seconds: 60", "bytes: 1e9")
        .replace("name: on", "name: 12:30")
    )
    campaign = parse_campaign(text)
    assert (campaign.name, campaign.conditions[0].name) == ("off", "12:30")
    assert campaign.conditions[0].stop.bytes == 1_000_000_000


@pytest.mark.parametrize(
    "text",
    [
        "",
        "# nothing\n",
        "name: [",
        "{",
        "- a\n- b\n",
        "just words",
        "a: &x 1\nb: *x\n",
        "a: !!python/object/apply:os.system [ls]\n",
        "a: " + "[" * 500 + "]" * 500,
        "a: " + "[" * 50_000,
        "? [a]\n: 1\n",
        "\x07: 1\n",
        "a: 1\n---\nb: 2\n",
        "x: " + "9" * 5_000,
        "a" * (MAX_TEXT_BYTES + 1),
    ],
)
def test_what_is_no_campaign_file_is_refused_with_a_sentence(text: str) -> None:
    assert all(problem["message"].endswith(".") for problem in problems(text))


@given(st.text(max_size=200))
def test_no_text_breaks_the_reader(text: str) -> None:
    problems(text)


def test_the_largest_file_and_the_deepest_nesting_are_read() -> None:
    assert parse_campaign(SMALL + "#" * (MAX_TEXT_BYTES - len(SMALL))).name == "Small"
    assert MAX_TEXT_BYTES == 256 * 1024
    for depth, is_refused in ((20, False), (21, True)):
        messages = [problem["message"] for problem in problems("a: " + "[" * depth + "]" * depth)]
        assert ("nested deeper than 20 levels." in messages) is is_refused


def test_bytes_are_counted_and_not_characters() -> None:
    assert "256 KiB" in problems("ä" * (MAX_TEXT_BYTES // 2 + 1))[0]["message"]


def test_the_line_is_that_of_the_nearest_thing_around() -> None:
    """A flow of a condition lacks nothing; the condition's setting under a key that the file does not hold does."""
    (problem,) = problems(SMALL + "defaults:\n  sender:\n    kernel.panic: 1\n")
    assert (problem["line"], problem["place"]) == (11, "defaults.sender.kernel.panic")
    (problem,) = problems(SMALL.replace("links: [geo]\n", ""))
    assert (problem["line"], problem["place"]) == (1, "links")

import tomllib
from pathlib import Path

from downlink.domain.traces.point import ENDS, Point
from downlink.domain.traces.sample import FieldKind, fields, fields_of, link_fields

DOCS = Path(__file__).resolve().parents[3] / "docs"


def test_the_documented_lists_are_the_packaged_ones_and_every_list_is_packaged() -> None:
    domain = Path(__file__).resolve().parents[2] / "downlink" / "domain"
    for name in ("fields.csv", "link-fields.csv"):
        assert (DOCS / name).resolve() == domain / name, "docs links to the one file"
    project = tomllib.loads((domain.parents[1] / "pyproject.toml").read_text())
    packaged = project["tool"]["setuptools"]["package-data"]["downlink"]
    assert {f"domain/{each.name}" for each in domain.glob("*.csv")} == {
        each for each in packaged if each.endswith(".csv")
    }


def test_a_log_of_a_link_has_each_field_for_both_ways() -> None:
    names = [line.split(",")[0] for line in (DOCS / "link-fields.csv").read_text().splitlines()[1:]]
    logged = [field.name for field in fields_of(Point.LINK)]
    assert logged == ["elapsed_us", *(f"{way}_{name}" for way in ("down", "up") for name in names)]
    assert not set(logged[1:]) & set(fields())
    units = {name: link_fields()[name].unit for name in logged[1:]}
    assert all(unit == "code" or name.endswith(f"_{unit}") for name, unit in units.items())  # a code has no unit


def test_every_row_of_the_list_is_a_field() -> None:
    names = [line.split(",")[0] for line in (DOCS / "fields.csv").read_text().splitlines()[1:]]
    assert list(fields()) == names


def test_a_field_carries_its_unit_kernel_and_place() -> None:
    delivered = fields()["delivered_segments"]
    assert (delivered.unit, delivered.kind, delivered.min_kernel) == ("segments", FieldKind.COUNTER, (4, 18))
    assert delivered.tcp_info_end == 196
    assert delivered.ends == {Point.SENDER}


def test_each_end_has_its_own_fields_and_both_have_the_clock() -> None:
    sender, receiver = ({field.name for field in fields_of(point)} for point in ENDS)
    assert sender & receiver == {"elapsed_us", "ca_state", "app_bytes", "probe_number"}
    assert "snd_wnd_bytes" in sender
    assert "rcv_wnd_bytes" in receiver


def test_names_end_with_their_unit() -> None:
    suffixes = {"us", "bytes", "segments", "bps"}
    assert all(field.name.endswith(f"_{field.unit}") for field in fields().values() if field.unit in suffixes)


def test_a_relay_may_record_what_either_end_does_and_a_delivery_table_its_moments() -> None:
    names = {point: [field.name for field in fields_of(point)] for point in (*ENDS, Point.hop(7), Point.SENT)}
    assert {*names[ENDS[0]], *names[ENDS[1]], "cache_hit_bytes"} <= set(names[Point.hop(7)])
    assert names[Point.SENT] == ["elapsed_us", "block", "sent_at_us"]
    assert [field.name for field in fields_of(Point.DELIVERED)][2:] == ["arrived_at_us", "delivered_at_us"]
    assert "cache_hit_bytes" not in names[ENDS[1]]


def test_a_table_of_sites_has_its_own_fields_and_nobody_else_has_them() -> None:
    names = [field.name for field in fields_of(Point.SITES)]
    assert names == [
        "elapsed_us", "site_place", "site_node", "site_arrived_bytes", "site_sent_bytes", "site_repaired_bytes", "site_lost_packets",
        "site_hit_bytes", "site_asked_bps", "site_granted_bps", "site_backlog_bytes", "site_rtt_us", "site_queue_us",
    ]  # fmt: skip
    for point in (*ENDS, Point.hop(1), Point.LINK, Point.SENT):
        assert not {field.name for field in fields_of(point)} & set(names[1:])
    assert {fields()[name].kind for name in names[1:]} == {FieldKind.GAUGE}

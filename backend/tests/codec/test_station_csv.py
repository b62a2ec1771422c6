"""The CSV of weather stations, in the forms in which they come."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from downlink.codec.station_csv import StationRead, parse_station
from downlink.codec.station_table import StationForm
from downlink.codec.station_time import read_moment
from downlink.domain.errors import InvalidError
from downlink.domain.links.observation import BOUNDS, UNITS, Observation, check_observation

NOON = datetime(2026, 1, 2, 12, tzinfo=UTC)


def read(text: str, *, first_line: int | None = None, **form: Any) -> StationRead:
    return parse_station(text, "roof", StationForm(**form), first_line)


def values(text: str, **options: Any) -> list[tuple[str, str, float]]:
    found = read(text, **options, is_strict=True).observations
    return [(each.quantity, each.at.strftime("%H:%M"), each.value) for each in found]


def test_columns_that_are_named_like_quantities_are_taken_and_others_left() -> None:
    text = "time,station,weather.rain_mm_per_h,weather.temperature_c\n2026-01-02T12:00Z,A,0.2,\n2026-01-02T13:10+01:00,A,NA,4\n"
    assert values(text) == [("weather.rain_mm_per_h", "12:00", 0.2), ("weather.temperature_c", "12:10", 4.0)]


def test_a_file_with_semicolons_has_decimal_commas_and_local_times() -> None:
    text = "Datum;date;Regen\nx;02.01.2026 13:00;1,5\n\n"
    columns = {"Regen": "weather.rain_mm_per_h"}
    assert values(text, columns=columns, zone="Europe/Berlin") == [("weather.rain_mm_per_h", "12:00", 1.5)]


def test_a_quantity_of_its_own_says_its_unit() -> None:
    gust = {"Gust": "weather.gust_m_per_s [m/s]"}
    (found,) = read("at\tGust\n2026-01-02 12:00Z\t7\n", columns=gust).observations
    assert found == Observation("weather.gust_m_per_s", "m/s", "roof", NOON, 7.0)


def test_numbers_are_read_as_stations_write_them_and_a_repeated_line_counts_once() -> None:
    cells = ("-1", "+.5", "3.", "1.5e-3", "2E2")
    lines = [f"2026-01-02T12:0{minute}Z,{cell}\n" for minute, cell in enumerate(cells)]
    found = values("time,modem.a [b]\n" + "".join([*lines, *lines]))
    assert [value for _, _, value in found] == [-1, 0.5, 3, 0.0015, 200]


def test_a_part_of_a_longer_file_names_the_lines_of_the_file_and_may_be_empty() -> None:
    header = "time,weather.rain_mm_per_h,note\n"
    assert read(header + "2026-01-02T12:00Z,NA,\n", first_line=900).observations == []
    text = header + '2026-01-02T12:00Z,1,"of two\nlines"\n2026-01-02T12:00Z,much,\n'
    for first_line, line in ((None, 4), (2, 4), (900, 902)):
        with pytest.raises(InvalidError, match=f"Line {line}: 'much'"):
            read(text, first_line=first_line, is_strict=True)


@pytest.mark.parametrize(
    ("text", "options", "why"),
    [
        ("", {}, "empty"),
        ("a,b\n1,2\n", {}, "no column of times"),
        ("time,b\n2026-01-02T12:00Z,2\n", {}, "No column names a quantity"),
        ("time,b\n2026-01-02T12:00Z,2\n", {"columns": {"c": "weather.rain_mm_per_h"}}, "no column 'c'"),
        ("time,b\n2026-01-02T12:00Z,2\n", {"columns": {"b": "Rain"}}, "'Rain' does not name"),
        ("time,b\n2026-01-02T12:00Z,2\n", {"columns": {"b": "weather.gust"}}, "no known unit"),
        ("time,weather.rain_mm_per_h [in/h]\n2026-01-02T12:00Z,2\n", {}, "in mm/h here, not in in/h"),
        ("time,weather.rain_mm_per_h\n2026-01-02 12:00,2\n", {}, "no offset"),
        ("time,weather.rain_mm_per_h\nnoon,2\n", {}, "Line 2: 'noon' is not a time"),
        ("time,weather.rain_mm_per_h\n2026-01-02T12:00Z,1\n0001-01-01T00:00+05:00,2\n", {}, "Line 3: .* in UTC"),
        ("time,weather.rain_mm_per_h\n9999-12-31T23:59-05:00,2\n", {}, "Line 2: .* in UTC"),
        ("time,weather.rain_mm_per_h\n0001-01-01 00:00,2\n", {"zone": "Asia/Tokyo"}, "Line 2: .* in UTC"),
        ("time,weather.rain_mm_per_h\n31.12.9999 23:59,2\n", {"zone": "America/New_York"}, "Line 2: .* in UTC"),
        ("time,weather.rain_mm_per_h\n2026-01-02T12:00Z,wet\n", {}, "Line 2: 'wet' is not a number"),
        ("time,weather.rain_mm_per_h\n2026-01-02T12:00Z,NA\n", {}, "No line"),
        (
            "time,modem.a [b]\n2026-01-02T12:00Z,1e15\n2026-01-02T12:01Z,-1.1e15\n",
            {},
            "Line 3, modem.a: -1.1e.15 is beyond",
        ),
        ("time,modem.a [b]\n2026-01-02T12:00Z,1e999\n", {}, "Line 2, modem.a: .* not a finite"),
        ("time,modem.a [b],c\n2026-01-02T12:00Z,1,5,\n", {}, "Line 2 has 4 cells, and line 1 names 3 .*semicolons"),
        ("time;modem.a [b]\n2026-01-02T12:00Z;1;5\n", {}, "Line 2 has 3 cells, and line 1 names 2 "),
        ("time,modem.a [b],modem.a [b]\n2026-01-02T12:00Z,1,2\n", {}, "Line 1: columns 2 and 3 are both modem.a"),
        (
            "time,modem.a [b]\n2026-01-02T12:00Z,1\n2026-01-02T12:01Z,1\n2026-01-02T13:00+01:00,2\n",
            {},
            "Lines 2 and 4: 1 and 2 as modem.a at 2026-01-02 12:00:00 UTC",
        ),
        ("time,modem.a [b]\n2026-01-02T12:00Z,1_000\n", {}, "Line 2: '1_000' is not a number"),
        ("time,modem.a [b]\n2026-01-02T12:00Z,\u0661\n", {}, "Line 2: '\u0661' is not a number"),
        ("time,modem.a [b]\n202\u0666-01-02 12:00,1\n", {"zone": "UTC"}, "Line 2: .* is not a time"),
    ],
)
def test_what_cannot_be_read_says_where_and_what_to_do(text: str, options: dict[str, object], why: str) -> None:
    with pytest.raises(InvalidError, match=why.replace("(", r"\(")):
        read(text, **options)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"quantity": "rain"}, "does not name"),
        ({"unit": ""}, "unit"),
        ({"source": "x" * 61}, "source"),
        ({"value": float("nan")}, "finite"),
        ({"value": 1.1e15}, "modem.snr_db at 2026-01-02 12:00: 1.1e.15 is beyond 1e.15, .* leave it out"),
        ({"at": datetime(1999, 12, 31, tzinfo=UTC)}, "before the year 2000"),
        ({"at": datetime(2026, 1, 2, 12, 16, tzinfo=UTC)}, "more than 15 minutes in the future"),
    ],
)
def test_an_observation_that_cannot_be_is_refused(change: dict[str, object], why: str) -> None:
    sound = {"quantity": "modem.snr_db", "unit": "dB", "source": "roof", "at": NOON, "value": 1.0}
    check_observation(Observation(**sound), NOON)  # type: ignore[arg-type]
    with pytest.raises(InvalidError, match=why):
        check_observation(Observation(**{**sound, **change}), NOON)  # type: ignore[arg-type]


def test_a_quote_that_nothing_ends_is_refused_with_the_line_where_it_begins() -> None:
    rows = [f"2026-01-02T{hour:02}:{minute:02}Z,1,{'x' * 200}\n" for hour in range(24) for minute in range(60)]
    text = "time,weather.rain_mm_per_h,note\n" + "".join([*rows[:1], rows[1].replace(",x", ',"x'), *rows[2:]])
    with pytest.raises(InvalidError, match="Line 3: a cell is longer than"):
        read(text)


def test_a_cell_that_is_too_long_above_the_header_or_in_it_is_no_internal_error() -> None:
    long = "x" * 140_000
    assert len(read(f"{long}\ntime,modem.a [b]\n2026-01-02T12:00Z,1\n").observations) == 1
    with pytest.raises(InvalidError, match="Line 1: a cell is longer than"):
        read(f"time,modem.a [b],{long}\n2026-01-02T12:00Z,1\n")


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("2026112012", "2026-11-20T12:00"),
        ("2026112000", "2026-11-20T00:00"),
        ("2026112024", "2026-11-21T00:00"),
        ("202611201230", "2026-11-20T12:30"),
        ("20261120123059", "2026-11-20T12:30:59"),
        ("20261120", "2026-11-20T00:00"),
        ("20261120T1230Z", "2026-11-20T12:30+00:00"),
        ("2026-11-20 24:00", "2026-11-21T00:00"),
        ("2026-11-20", "2026-11-20T00:00"),
        ("2026-11-20T12Z", "2026-11-20T12:00+00:00"),
        ("2026-11-20 12", "2026-11-20T12:00"),
        ("20.11.2026 9:05", "2026-11-20T09:05"),
        ("2026-11-20 15:30:01.25+0130", "2026-11-20T15:30:01.25+01:30"),
        ("1763596800", "2025-11-20T00:00+00:00"),
        ("1710123456", "2024-03-11T02:17:36+00:00"),
        ("1763596800000", "2025-11-20T00:00+00:00"),
    ],
)
def test_a_time_is_read_by_all_of_its_digits(text: str, at: str) -> None:
    assert read_moment(text) == datetime.fromisoformat(at)


@pytest.mark.parametrize(
    "text",
    [
        "202611201", "20261120123", "2026112025", "2026112061", "2026113112", "2026131", "20261320", "20/11/2026 15:30", "11/20/2026",
        "2026-11-20x12:00", "2026-11-20 25:00", "2026-11-20 24:01", "2026-11-20 1", "12:30", "2026", "202611", "99999999999",
        "2026-02-30 12:00", "20261120 1", "1.5", "-1763596800",
    ],
)  # fmt: skip
def test_what_could_be_two_times_or_none_is_no_time(text: str) -> None:
    assert read_moment(text) is None


def test_hours_of_a_national_service_are_hours() -> None:
    rows = "".join(f"  9999;20261120{hour:02};   10;  {hour - 2}.0;  87.0;eor\n" for hour in range(24))
    header = "STATIONS_ID;MESS_DATUM;QN_9;TT_TU;RF_TU;eor\n"
    found = values(header + rows, columns={"TT_TU": "weather.temperature_c"}, zone="UTC", time_column="MESS_DATUM")
    assert [at for _, at, _ in found] == [f"{hour:02}:00" for hour in range(24)]


def test_a_day_and_a_clocks_time_in_two_columns_are_one_moment() -> None:
    text = "Date,Time,Rain\n2026-11-20,00:00,0.0\n2026-11-20,00:15,0.0\n2026-11-21,24:00,0.0\n"
    found = read(text, columns={"Rain": "weather.rain_mm_per_h"}, zone="UTC").observations
    assert [f"{each.at:%d %H:%M}" for each in found] == ["20 00:00", "20 00:15", "22 00:00"]
    whole = "date,time,weather.rain_mm_per_h\nMonday,2026-11-20 00:15,1\n"
    assert [at for _, at, _ in values(whole, zone="UTC")] == ["00:15"]


@pytest.mark.parametrize(
    ("quantity", "value", "why"),
    [
        ("weather.temperature_c", "-999", "how many stations write that they have no value"),
        ("weather.humidity_percent", "9999", "how many stations write that they have no value"),
        ("weather.rain_mm_per_h", "999.9", "how many stations write that they have no value"),
        ("weather.rain_mm_per_h", "-99.9", "how many stations write that they have no value"),
        ("weather.pressure_hpa", "9999.9", "how many stations write that they have no value"),
        ("weather.wind_m_per_s", "-1", "not between 0 and 115 m/s"),
        ("weather.humidity_percent", "120", "not between 0 and 105 %"),
        ("weather.pressure_hpa", "0", "not between 300 and 1100 hPa"),
        ("dish.obstruction_ratio", "1.5", "not between 0 and 1 ratio"),
        ("dish.ping_latency_ms", "-3", "not between 0 and 60000 ms"),
    ],
)
def test_a_value_that_no_place_has_is_refused_with_what_it_probably_is(quantity: str, value: str, why: str) -> None:
    text = f"time,{quantity}\n2026-11-20T00:00Z,{value}\n"
    with pytest.raises(InvalidError, match=f"Line 2, {quantity}: .*{why}"):
        read(text)
    with pytest.raises(InvalidError, match="No line of it holds a value"):
        read(text, missing=[value])


def test_every_quantity_of_the_list_has_bounds() -> None:
    assert BOUNDS.keys() == UNITS.keys()


@pytest.mark.parametrize("missing", [["-999"], ["-999.0"], [" -999 "], ["-9.99e2"]])
def test_what_stands_for_no_value_is_left_out_by_its_number(missing: list[str]) -> None:
    text = "time,weather.temperature_c\n2026-11-20T00:00Z,-999\n2026-11-20T00:10Z,-999.00\n2026-11-20T00:20Z,5\n"
    assert values(text, missing=missing) == [("weather.temperature_c", "00:20", 5.0)]


def test_a_preamble_is_passed_over_and_lines_keep_their_numbers() -> None:
    comments = "#DEBUG: Format Typ    -> comma\n#DEBUG: Time Zone     -> Etc/UTC\n"
    header = "station,valid,tmpf,p01i\n"
    text = comments + header + "ZZZ,2026-11-20 00:53,41.0,0.00\nZZZ,2026-11-20 01:53,M,T\n"
    columns = {"p01i": "weather.rain_mm_per_h"}
    assert values(text, columns=columns, zone="UTC") == [
        ("weather.rain_mm_per_h", "00:53", 0.0), ("weather.rain_mm_per_h", "01:53", 0.0),
    ]  # fmt: skip
    place = "latitude,longitude,timezone\n47.1,8.5,GMT\n\ntime,precipitation (mm)\n2026-11-20T00:00,0.2\n"
    assert values(place, columns={"precipitation (mm)": "weather.rain_mm_per_h"}, zone="UTC")[0][2] == 0.2
    with pytest.raises(InvalidError, match="Line 5: 'wet'"):
        values(
            comments + header + "ZZZ,2026-11-20 00:53,1,0\nZZZ,2026-11-20 01:53,2,wet\n", columns=columns, zone="UTC"
        )


def test_a_wrong_header_below_a_preamble_is_named_by_its_own_line() -> None:
    with pytest.raises(InvalidError, match="Line 3 names no column 'Rain'"):
        read("# a\n# b\ntime,wind\n2026-01-02T12:00Z,2\n", columns={"Rain": "weather.rain_mm_per_h"})


ROWS = "time,weather.rain_mm_per_h,weather.temperature_c\n" + "".join(
    f"2026-11-20T{hour:02}:00Z,0.{hour % 10},{hour}\n" for hour in range(20)
)


@pytest.mark.parametrize(
    ("part", "said", "values_left"),
    [
        ("2026-11-20T20:", "line 22: '2026-11-20T20:' is not a time; write it as 2026-11-25T06:10Z", 40),
        ("2026-11-20T20:00Z,ERR,5", "line 22: 'ERR' is not a number", 41),
        ("2026-11-20T20:00Z,1,2,3", "line 22: has 4 cells, and line 1 names 3 columns", 40),
        ("yesterday,1,2", "line 22: 'yesterday' is not a time; write it as 2026-11-25T06:10Z", 40),
    ],
)
def test_a_row_or_a_cell_that_cannot_be_read_is_left_out_and_named(part: str, said: str, values_left: int) -> None:
    found = read(f"{ROWS}{part}\n2026-11-20T21:00Z,,\n")
    assert [str(each) for each in found.left_out] == [said]
    assert len(found.observations) == values_left
    with pytest.raises(InvalidError, match="Line 22"):
        read(ROWS + part, is_strict=True)


def test_a_file_of_another_form_is_refused_with_its_first_bad_line() -> None:
    with pytest.raises(InvalidError, match="Line 2: '20/11/2026   15:30' is not a time"):
        read("time,weather.rain_mm_per_h\n20/11/2026   15:30,1\n20/11/2026   15:40,1\n2026-11-20T16:00Z,1\n")


def test_the_form_of_the_times_can_be_said() -> None:
    text = "Time;weather.rain_mm_per_h\n20/11/2026   15:30;1,5\n04/05/2026 00:00;---\n"
    found = read(text, time_format="%d/%m/%Y %H:%M", zone="UTC").observations
    assert [(f"{each.at:%m-%d %H:%M}", each.value) for each in found] == [("11-20 15:30", 1.5)]
    with pytest.raises(InvalidError, match="'20/11/2026   15:30' is not a time; write it as %m/%d/%Y %H:%M"):
        read(text, time_format="%m/%d/%Y %H:%M", zone="UTC")


def test_lines_before_the_header_are_named() -> None:
    found = read("# of the roof\n" + ROWS)
    assert [str(each) for each in found.left_out] == ["line 1: above the header"]


def moments(text: str, **form: Any) -> list[str]:
    return [f"{each.at:%m-%d %H:%M}" for each in read(text, **form).observations]


RAIN = {"Rain": "weather.rain_mm_per_h"}


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("date,hour,Rain\n2026-11-20,0,0.0\n2026-11-20,1,0.0\n2026-11-20,24,0.0\n", {}),
        ("# STN,YYYYMMDD, HH,Rain\n260,20261120,  0,0\n260,20261120,  1,0\n260,20261120, 24,0\n", {"time_column": "YYYYMMDD"}),
        ("Datum;Uhrzeit;Rain\n20.11.2026;0:00;0,0\n20.11.2026;01:00;0,0\n20.11.2026;24:00;0,0\n", {"time_column": "Datum"}),
        ("Datum;Time;Rain\n20.11.2026;0:00;0,0\n20.11.2026;01:00;0,0\n20.11.2026;24:00;0,0\n", {}),
        ("Date,Time,Rain\n20261120,0:00,0\n20261120,01:00,0\n20261120,24:00,0\n", {}),
        ("date,utc,Rain\n2026-11-20,00:00,0\n2026-11-20,01:00,0\n2026-11-20,24:00,0\n", {"zone": None, "link_zone": "Asia/Tokyo"}),
    ],
)  # fmt: skip
def test_a_day_and_a_column_of_hours_are_one_moment(text: str, options: dict[str, Any]) -> None:
    found = moments(text, columns=RAIN, **{"zone": "UTC", **options})
    assert found == ["11-20 00:00", "11-20 01:00", "11-21 00:00"]


@pytest.mark.parametrize(
    ("text", "column", "options"),
    [
        ("date,slot,Rain\n2026-11-20,a,0\n2026-11-20,b,0\n", "slot", {}),
        ("date,hour,minute,Rain\n2026-11-20,1,00,0\n2026-11-20,1,10,0\n", "minute", {}),
        ("date,hour,Rain\n20.11.26,1,0\n20.11.26,2,0\n", "hour", {"time_format": "%d.%m.%y"}),
    ],
)
def test_equal_times_that_another_column_tells_apart_are_refused_with_its_name(
    text: str, column: str, options: dict[str, Any]
) -> None:
    with pytest.raises(InvalidError, match=f"Lines 2 and 3 have the same time .* differ in column '{column}'"):
        read(text, columns=RAIN, zone="UTC", **options)
    daily = "date,weather.rain_mm_per_h\n2026-11-20,1\n2026-11-21,1\n2026-11-21,1\n"
    assert moments(daily, zone="UTC") == ["11-20 00:00", "11-21 00:00"]


def test_a_row_with_a_day_and_no_hour_has_no_time() -> None:
    found = read("date,hour,Rain\n2026-11-20,1,0\n2026-11-20,2,1\n2026-11-20,,0\n", columns=RAIN, zone="UTC")
    assert [str(each) for each in found.left_out] == ["line 4: has no time"]


def test_two_columns_are_read_by_a_form_for_both() -> None:
    text = "Date,Time,Rain\n11/20/26,12:30 AM,0\n11/20/26,1:00 PM,1\n"
    assert moments(text, columns=RAIN, zone="UTC", time_format="%m/%d/%y %I:%M %p") == ["11-20 00:30", "11-20 13:00"]
    with pytest.raises(InvalidError, match=r"'12:30 AM' is not a time; .*--time-format"):
        read(text, columns=RAIN, zone="UTC")


OPEN_METEO = "latitude,longitude,utc_offset_seconds,timezone\n47.1,8.5,{},{}\n\n"
NOON_LOCAL = "time,weather.rain_mm_per_h\n2026-11-20 12:00,1\n"


@pytest.mark.parametrize(
    ("above", "at"),
    [
        ("#DEBUG: Time Zone     -> Etc/UTC\n", "12:00"),
        ("Timezone;Europe/Madrid\n", "11:00"),
        ("# Time zone: UTC+01:00\n", "11:00"),
        ("# times are UTC\n", "12:00"),
        ("# time zone: local\n", "17:00"),
        ("# of the roof\n", "17:00"),
        (OPEN_METEO.format(3600, "Europe/Zurich"), "11:00"),
        (OPEN_METEO.format(0, "GMT"), "12:00"),
        (OPEN_METEO.format(0, ""), "12:00"),
    ],
)
def test_the_zone_that_a_file_says_goes_before_that_of_its_link(above: str, at: str) -> None:
    assert moments(above + NOON_LOCAL, link_zone="America/New_York") == [f"11-20 {at}"]
    assert moments(above + NOON_LOCAL, zone="Europe/Madrid", link_zone="America/New_York") == ["11-20 11:00"]


def test_a_header_of_times_that_says_utc_is_believed() -> None:
    text = NOON_LOCAL.replace("time,", "Time (UTC),")
    assert moments(text, time_column="Time (UTC)", link_zone="America/New_York") == ["11-20 12:00"]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("# Time zone: MEZ\n" + NOON_LOCAL, "Line 1 says the time zone 'MEZ', which is not known.*--time-zone"),
        ("# Time zone: Mars/Crater\n" + NOON_LOCAL, "'Mars/Crater', which is not known"),
        (OPEN_METEO.format(7200, "Europe/Zurich") + NOON_LOCAL, "Line 5: by 7200 s and Europe/Zurich, .*--time-zone"),
    ],
)
def test_a_zone_that_cannot_be_decided_is_refused_unless_it_is_said_or_not_needed(text: str, why: str) -> None:
    with pytest.raises(InvalidError, match=why):
        read(text, link_zone="UTC")
    assert moments(text, zone="UTC") == moments(text.replace("12:00,", "12:00Z,"), link_zone="UTC") == ["11-20 12:00"]


@pytest.mark.parametrize("header", ["time,temperature_2m_max", "weather.rain_mm_per_h,date"])
def test_a_further_table_is_left_out_and_named(header: str) -> None:
    text = f"time,weather.rain_mm_per_h\n2026-11-20T06:00Z,1\n2026-11-20T07:00Z,2\n\n{header}\n2026-11-20,8\n2026-11-21,9\n"
    found = read(text, zone="UTC")
    assert [each.value for each in found.observations] == [1, 2]
    assert [str(each) for each in found.left_out] == [f"lines 5 to 7: another table ({header.replace(',', ', ')})"]
    with pytest.raises(InvalidError, match="Line 5 begins another table"):
        read(text, zone="UTC", is_strict=True)


def test_a_header_that_is_repeated_ends_nothing() -> None:
    header = "time,weather.rain_mm_per_h\n"
    assert moments(f"{header}2026-11-20T06:00Z,1\n{header}2026-11-20T07:00Z,2\n") == ["11-20 06:00", "11-20 07:00"]


@pytest.mark.parametrize("row", [",1,time", ",valid,dry", "time", "broken,time,NA"])
def test_a_row_of_data_with_a_word_that_names_times_ends_nothing(row: str) -> None:
    text = f"time,weather.rain_mm_per_h,note\n2026-11-20T06:00Z,1,\n{row}\n2026-11-20T07:00Z,2,\n"
    assert moments(text) == ["11-20 06:00", "11-20 07:00"]


def column(quantity: str, cells: list[str]) -> str:
    return f"time,{quantity}\n" + "".join(f"2026-11-20T00:{at:02}Z,{cell}\n" for at, cell in enumerate(cells))


@pytest.mark.parametrize(
    ("quantity", "cells", "flags"),
    [
        ("weather.gust_m_per_s [m/s]", ["3", "-999", "9999", "4", "999.9"], "--missing=-999 --missing=9999 --missing=999.9"),
        ("weather.dewpoint_c [°C]", ["-3", "-999.9", "4"], "--missing=-999.9"),
        ("weather.wind_m_per_s", ["3", "99.0", "99.9"], "--missing=99.0 --missing=99.9"),
        ("weather.rain_mm_per_h", ["0", "99.99"], "--missing=99.99"),
        ("weather.temperature_c", ["5", "-999", "9999", "85.0"], "--missing=-999 --missing=9999 --missing=85.0"),
        ("weather.rain_mm_per_h", ["0", "-1"], "--missing=-1"),
    ],
)  # fmt: skip
def test_all_that_may_stand_for_no_value_is_named_at_once_with_what_to_say(
    quantity: str, cells: list[str], flags: str
) -> None:
    with pytest.raises(InvalidError) as caught:
        read(column(quantity, cells))
    assert f"({flags})" in caught.value.message
    missing = [flag.removeprefix("--missing=") for flag in flags.split()]
    assert len(read(column(quantity, cells), missing=missing).observations) == len(cells) - len(missing)


@pytest.mark.parametrize(
    ("quantity", "cells"),
    [
        ("weather.rain_mm_per_h", ["0", "60", "99.9"]),
        ("weather.rain_mm_per_h", ["0", "9.99e1"]),
        ("weather.radiation [W/m2]", ["0", "870", "999"]),
        ("weather.pressure_hpa", ["998", "999", "999.9"]),
        ("weather.cloud_percent", ["10", "99"]),
        ("modem.level_percent [%]", ["10", "99"]),
        ("modem.rx_dbm [dBm]", ["-60", "-99"]),
    ],
)
def test_a_number_that_is_like_others_or_written_with_an_exponent_is_a_value(quantity: str, cells: list[str]) -> None:
    assert [each.value for each in read(column(quantity, cells)).observations] == [float(cell) for cell in cells]


def test_a_refusal_says_how_a_true_value_is_written() -> None:
    with pytest.raises(InvalidError, match=r"with an exponent: 9\.99e1 for 99\.9\."):
        read(column("weather.rain_mm_per_h", ["0", "99.9"]))
    with pytest.raises(InvalidError, match=r"with an exponent: -9\.99e2 for -999\."):
        read(column("weather.dewpoint_c [°C]", ["0", "-999"]))


def local(*rows: str) -> str:
    return "time,weather.rain_mm_per_h\n" + "".join(f"2026-{row},0\n" for row in rows)


def test_times_that_clocks_leave_out_are_left_out_and_named() -> None:
    found = read(local("03-29 01:30", "03-29 02:30", "03-29 03:30", "03-29 04:30"), link_zone="Europe/Madrid")
    assert [f"{each.at:%H:%M}" for each in found.observations] == ["00:30", "01:30", "02:30"]
    (said,) = found.left_out
    assert str(said) == "line 3: '2026-03-29 02:30' is left out: clocks are set forward in Europe/Madrid"


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (["01:30", "02:00", "02:30", "02:00", "02:30", "03:00"], ["23:30", "00:00", "00:30", "01:00", "01:30", "02:00"]),
        (["01:30", "02:30", "02:30", "03:30"], ["23:30", "00:30", "01:30", "02:30"]),
        (["02:30", "02:00"], ["00:30", "01:00"]),
        (["01:30", "02:30", "03:30"], ["23:30", "02:30"]),
        (["01:00", "01:00", "02:30", "02:30", "03:30"], ["00:00", "02:30"]),
        (["01:30", "02:30", "02:00", "02:30", "02:10", "03:30"], ["23:30", "02:30"]),
        (["03:30", "02:30", "02:30", "01:30"], ["02:30", "23:30"]),
    ],
)  # fmt: skip
def test_times_that_come_twice_are_told_apart_by_the_order_of_the_file_or_left_out(
    rows: list[str], expected: list[str]
) -> None:
    expected = ["23:00" if each == "00:00" and rows[0] == "01:00" else each for each in expected]
    found = read(local(*(f"10-25 {row}" for row in rows)), link_zone="Europe/Madrid")
    assert [f"{each.at:%H:%M}" for each in found.observations] == expected
    assert all("comes twice: clocks are set back in Europe/Madrid" in str(each) for each in found.left_out)


@pytest.mark.parametrize(
    ("cells", "is_cut"),
    [
        (["15.5", "16.5", "1"], True),
        (["15.5", "16.5", "17."], True),
        (["15.5", "16.5", "17"], True),
        (["15", "16", "1"], True),
        (["15.5", "16.5", "9.5"], False),
        (["15", "16", "17"], False),
        (["9", "10", "8"], False),
        (["15.5", "1"], False),
    ],
)
def test_a_last_number_that_may_be_cut_off_is_left_out_and_named(cells: list[str], is_cut: bool) -> None:
    whole = column("weather.temperature_c", cells)
    found = read(whole.removesuffix("\n"))
    assert len(found.observations) == len(cells) - is_cut
    named = f"line {len(cells) + 1}: '{cells[-1]}' is shorter than the others of its column, and no line end follows"
    assert [str(each) for each in found.left_out] == [named] * is_cut
    assert len(read(whole).observations) == len(cells)
    german = "time;weather.temperature_c" + whole.partition("_c")[2].replace(".", ",").replace("Z,", "Z;").removesuffix(
        "\n"
    )
    assert len(read(german).observations) == len(cells) - is_cut


def test_seconds_since_1970_that_may_be_days_and_hours_are_refused() -> None:
    text = "time,weather.temperature_c\n1612011530,5\n1612011540,6\n"
    with pytest.raises(InvalidError, match=r"Line 2: '1612011530' may be .* --time-format %y%m%d%H%M"):
        read(text)
    assert moments(text, time_format="%y%m%d%H%M", zone="UTC") == ["12-01 15:30", "12-01 15:40"]
    assert moments(text + "1612011590,7\n") == ["01-30 12:58", "01-30 12:59", "01-30 12:59"]


@pytest.mark.parametrize("name", ["station", "location_id", "STATIONS_ID"])
def test_rows_of_two_stations_are_refused(name: str) -> None:
    text = f"{name},time,weather.rain_mm_per_h\nA,2026-11-20T00:00Z,0\nB,2026-11-20T00:00Z,0\n"
    with pytest.raises(InvalidError, match=f"Lines 2 and 3 are of two stations, 'A' and 'B' .{name}.: keep the rows"):
        read(text)


def test_decimal_commas_in_quotes_are_read_where_they_are_no_thousands() -> None:
    cells = ['"5,1"', '"-0,125"', '"5,1234"', '"1,013"', '"1,013.2"', "2", "3"]
    found = read(column("modem.a [b]", cells))
    assert [each.value for each in found.observations] == [5.1, -0.125, 5.1234, 2, 3]
    assert [str(each) for each in found.left_out] == [
        "line 5: '1,013' is not a number", "line 6: '1,013.2' is not a number",
    ]  # fmt: skip

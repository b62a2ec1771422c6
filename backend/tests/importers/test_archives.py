"""Archives and compressed files: their members are read in memory, within bounds, and a path opens nothing."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from downlink.domain.errors import InvalidError
from downlink.importers import containers, files
from downlink.importers.files import import_file, traces_in
from downlink.importers.model import ImportedTrace
from tests.fixtures.foreign_files import ack_csv_file, iperf3_file, ndt7_file

Members = dict[str, bytes]
MEMBERS: Members = {
    "2024/05/a.json": iperf3_file(3),
    "b.json.gz": gzip.compress(ndt7_file()),
    "c/acks.csv": ack_csv_file(),
}
LONG = "d/" * 80 + "a.json"


def tar(members: Members, *, mode: str = "w", layout: int = tarfile.PAX_FORMAT) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode=mode, format=layout) as archive:  # type: ignore[call-overload]
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return packed.getvalue()


def zipped(members: Members, method: int = zipfile.ZIP_DEFLATED) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", method) as archive:
        archive.writestr("folder/", b"")
        for name, content in members.items():
            archive.writestr(name, content)
    return packed.getvalue()


ARCHIVES: dict[str, Callable[[Members], bytes]] = {
    "tar": tar,
    "tar of GNU": lambda members: tar(members, layout=tarfile.GNU_FORMAT),
    "tar of 1988": lambda members: tar(members, layout=tarfile.USTAR_FORMAT),
    "tgz": lambda members: tar(members, mode="w:gz"),
    "tar.bz2": lambda members: tar(members, mode="w:bz2"),
    "tar.xz": lambda members: tar(members, mode="w:xz"),
    "tar.zst": lambda members: zstandard.compress(tar(members)),
    "zip": zipped,
    "zip without compression": lambda members: zipped(members, zipfile.ZIP_STORED),
}


def refusal(packed: bytes) -> str:
    found = list(traces_in("x", packed))
    errors = [each for each in found if isinstance(each, InvalidError)]
    assert len(errors) == 1, found
    return errors[0].message


@pytest.mark.parametrize("kind", ARCHIVES)
def test_every_file_of_an_archive_is_a_test_named_by_its_path(kind: str) -> None:
    found = [each for each in traces_in("logs", ARCHIVES[kind](MEMBERS)) if isinstance(each, ImportedTrace)]
    assert [trace.name for trace in found] == [f"logs: {path}" for path in MEMBERS]
    assert [trace.sha256 for trace in found] == [import_file("x", content).sha256 for content in MEMBERS.values()]
    assert [trace.kind for trace in found] == ["iperf3", "ndt7", "ack-csv"]


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress, bz2.compress, lzma.compress])
def test_a_compressed_file_is_read_as_it_comes(pack: Callable[[bytes], bytes]) -> None:
    packed = pack(iperf3_file(3))
    assert import_file("x", packed).flows[0].samples == 3
    assert import_file("x", packed + pack(b"\n")).flows[0].samples == 3


@pytest.mark.parametrize("kind", ["tar", "tar of GNU", "zip"])
def test_a_long_path_is_shown_by_its_end(kind: str) -> None:
    (found,) = traces_in("logs", ARCHIVES[kind]({LONG: iperf3_file()}))
    assert isinstance(found, ImportedTrace)
    assert found.name == f"logs: {LONG[-120:]}"


@pytest.mark.parametrize("kind", ["tar", "zip"])
def test_a_path_is_a_label_and_opens_nothing(kind: str, tmp_path: Path) -> None:
    path = f"../../../..{tmp_path}/out\x1b.json"
    (found,) = traces_in("logs", ARCHIVES[kind]({path: iperf3_file()}))
    assert isinstance(found, ImportedTrace)
    assert found.name.isprintable()
    assert list(tmp_path.iterdir()) == []


def test_links_and_folders_are_passed_over() -> None:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.DIRTYPE, tarfile.FIFOTYPE):
            info = tarfile.TarInfo("passwd")
            info.type, info.linkname = kind, "/etc/passwd"
            archive.addfile(info)
    assert "an archive without files" in refusal(packed.getvalue())


def test_what_operating_systems_leave_is_passed_over() -> None:
    left = {"__MACOSX/._a.json": b"\0", "a/.DS_Store": b"\0", "a/._a.json": b"\0"}
    assert len(list(traces_in("x", zipped(left | {"a/a.json": iperf3_file()})))) == 1


def test_one_bad_member_is_refused_by_its_path_and_the_others_are_read() -> None:
    good, bad, other = traces_in(
        "logs", zipped({"a.json": iperf3_file(3), "b/notes.txt": b"hello", "c.json": iperf3_file(4)})
    )
    assert isinstance(good, ImportedTrace)
    assert isinstance(other, ImportedTrace)
    assert isinstance(bad, InvalidError)
    assert bad.details["file"] == "logs: b/notes.txt"


@pytest.mark.parametrize("kind", ARCHIVES)
def test_the_members_count_together_against_the_limit(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MAX_UNPACKED_BYTES", 2**20)
    bomb = ARCHIVES[kind]({f"{n}.json": b"\0" * 2**19 for n in range(3)})
    errors = [each for each in traces_in("bomb", bomb) if isinstance(each, InvalidError)]
    unpacked = {"tar", "tar of GNU", "tar of 1988"}
    assert ("more than 1 MiB" in errors[-1].message) == (kind not in unpacked)


@pytest.mark.parametrize("pack", [bz2.compress, lzma.compress])
def test_a_bomb_stops_at_the_limit(pack: Callable[[bytes], bytes], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MAX_UNPACKED_BYTES", 2**20)
    assert "more than 1 MiB" in refusal(pack(b"\0" * 2**26))


@pytest.mark.parametrize("kind", ["tar", "zip"])
def test_files_are_counted(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(containers, "MAX_MEMBERS", 3)
    pack = ARCHIVES[kind]
    assert len(list(traces_in("x", pack({f"{n}.json": iperf3_file(n + 1) for n in range(3)})))) == 3
    errors = [
        each for each in traces_in("x", pack({f"{n}.json": b"{" for n in range(9)})) if isinstance(each, InvalidError)
    ]
    assert "more than 3 files; unpack it and import some at a time" in errors[-1].message


@pytest.mark.parametrize("inner", ["tar", "zip", "tgz"])
def test_an_archive_inside_an_archive_is_refused(inner: str) -> None:
    nested = tar({"inner": ARCHIVES[inner](MEMBERS)})
    assert "inner is an archive inside an archive; unpack it first" in refusal(nested)


def test_layers_of_compression_end_at_the_second() -> None:
    twice, thrice = (gzip.compress(bz2.compress(inner)) for inner in (iperf3_file(), gzip.compress(iperf3_file())))
    assert import_file("x", twice).flows
    assert "format is not known" in refusal(thrice)


def test_an_encrypted_or_oddly_packed_member_is_refused_by_its_path() -> None:
    assert "a.json is packed by a method that is not read" in refusal(zipped({"a.json": b"{}"}, zipfile.ZIP_LZMA))
    packed = bytearray(zipped({"a.json": iperf3_file()}))
    at = packed.rindex(b"PK\x01\x02")
    packed[at + 8] |= 1
    assert "a.json is encrypted" in refusal(bytes(packed))


@pytest.mark.parametrize("kind", ARCHIVES)
def test_a_cut_archive_is_refused_at_any_length(kind: str) -> None:
    packed = ARCHIVES[kind]({"a.json": iperf3_file(3)})
    for length in range(600, min(len(packed) - 100, len(packed.rstrip(b"\0"))), max(1, len(packed) // 40)):
        assert any(isinstance(each, InvalidError) for each in traces_in("cut", packed[:length])), length


@pytest.mark.parametrize("kind", ["tar", "tgz", "zip", "zip without compression"])
@given(data=st.data())
def test_no_changed_byte_of_an_archive_crashes_the_reader(kind: str, data: st.DataObject) -> None:
    packed = bytearray(ARCHIVES[kind]({"a.json": iperf3_file(1), "b.json": b"{}"}))
    for _ in range(data.draw(st.integers(1, 4))):
        packed[data.draw(st.integers(0, len(packed) - 1))] = data.draw(st.integers(0, 255))
    for found in traces_in("spoilt", bytes(packed)):
        assert isinstance(found, ImportedTrace | InvalidError)


def test_a_tar_whose_size_is_absurd_ends() -> None:
    packed = bytearray(tar({"a.json": iperf3_file()}))
    packed[124:136] = b"\x80" + b"\xff" * 11
    header = packed[:148] + b" " * 8 + packed[156:512]
    packed[148:156] = b"%06o\0 " % sum(header)
    assert "the tar archive ends too early" in refusal(bytes(packed))

"""Whoever adds a decoder of bytes from elsewhere adds a fuzzer: files that decode are found by the calls in them."""

from __future__ import annotations

import re
from pathlib import Path

from tests.fuzz.decoders import decoders

ROOT = Path(__file__).resolve().parents[3]
GO_CALLS = re.compile(
    r"json\.(Unmarshal|NewDecoder)|yaml\.(Unmarshal|NewDecoder)|csv\.NewReader|proto\.Unmarshal|Endian\.Uint|bufio\.NewScanner"
)
GO_WITHOUT = {
    "cmd/downlink-agent": "orders that whoever started the program types into it",
    "internal/flow/controls": "what the kernel says of programs that are loaded into it",
    "internal/host": "files of the host's own kernel and distribution",
    "internal/intcp/intcpsocket": "its own random numbers",
    "internal/agent/trial": "its own digest",
    "internal/lab/measure": "its own probes, which count for nothing but their times",
    "internal/lab/netlab": "marks that this program has left at its own devices",
}
PYTHON_CALLS = re.compile(
    r"json\.loads|\byaml\.\w|csv\.(reader|DictReader)|ZipFile\(|frombuffer|loadtxt|fromstring\(|b64decode"
    r"|validate_json|ParquetFile\("
)
PYTHON = {
    "actions/campaigns/archive_read.py": "archives",
    "api/fleet/agent_channel.py": "agents' polls",
    "api/campaigns/triggers.py": "calls of triggers",
    "codec/bundle.py": "bundles",
    "codec/campaign_file.py": "campaign files",
    "codec/chunk.py": "chunks",
    "codec/parquet.py": "traces as Parquet",
    "codec/path.py": "paths",
    "codec/profile_file.py": "link profiles",
    "codec/station_csv.py": "weather stations",
    "codec/weather_json.py": "weather",
    "constellation/messages.py": "element sets",
    "courier/provider.py": "identity providers",
    "importers/ack_table.py": "imported tables",
    "importers/documents.py": "imported lines",
    "importers/containers.py": "imported archives",
    "importers/tcp_fields.py": "imported lines",
    "importers/tcp_info.py": "imported lines",
    "storage/campaigns/archive_rows.py": "archives",
}
"""Each file that decodes, and the name of the fuzzer that reaches it."""
OWN = {
    "actions/campaigns/archive_write.py": "writes",
    "actions/backup.py": "what this program wrote beside its own dump",
    "codec/arrays.py": "the database's own arrays",
    "codec/series.py": "what this server wrote into its database",
    "codec/sketches.py": "what this server wrote into its database",
    "codec/spreadsheet.py": "tables that this server wrote",
    "domain/notices/delivery.py": "a secret that this server made",
    "domain/results/metric.py": "a table of the package",
    "domain/traces/sample.py": "tables of the package",
    "stack/": "processes of the developer's own machine",
    "storage/stored_json.py": "the database's own JSON",
    "views/": "what this server wrote into its database",
    "cli/": "the project's own archives of studies, and the answers of a server that the user named",
}
"""Files that decode nothing from elsewhere, and what they decode."""
ELSEWHERE = {"archives": "tests/fuzz/test_archives.py"}


def test_every_package_of_the_agent_that_decodes_has_a_fuzzer() -> None:
    agents = ROOT / "agents"
    decoding: set[str] = set()
    fuzzed: set[str] = set()
    for file in (*agents.glob("cmd/*/*.go"), *agents.glob("internal/**/*.go")):
        text, package = file.read_text(), str(file.parent.relative_to(agents))
        if not file.name.endswith("_test.go"):
            decoding |= {package} if GO_CALLS.search(text) else set()
        elif re.search(r"^func Fuzz", text, re.MULTILINE):
            fuzzed.add(package)
    helpers = {package for package in decoding if package.endswith("test")}
    assert decoding - fuzzed - helpers == set(GO_WITHOUT)


def test_every_file_of_the_server_that_decodes_is_reached_by_a_fuzzer() -> None:
    package = ROOT / "backend" / "downlink"
    found = {str(file.relative_to(package)): file.read_text() for file in package.rglob("*.py")}
    decoding = {name for name, text in found.items() if PYTHON_CALLS.search(text)}
    unnamed = {name for name in decoding - set(PYTHON) if not name.startswith(tuple(OWN))}
    assert (unnamed, set(PYTHON) - decoding) == (set(), set())


def test_the_fuzzers_that_are_named_are_there() -> None:
    known = {decoder.name for decoder in decoders()} | set(ELSEWHERE)
    assert set(PYTHON.values()) <= known
    assert all((ROOT / "backend" / path).exists() for path in ELSEWHERE.values())

"""What a host looks like: everything that Downlink may touch and must put back."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

SETTINGS = (
    "/proc/sys/net/ipv4",
    "/proc/sys/net/core",
    "/sys/module/tcp_cubic/parameters",
    "/sys/module/tcp_bbr/parameters",
)
MARK = "DOWNLINK_TEST"
# Counted or drawn by the kernel itself.
VOLATILE = ("tcp_fastopen_key", "netdev_rss_key", "tcp_available_congestion_control")


@dataclass(frozen=True)
class HostState:
    settings: dict[str, str]
    namespaces: list[str]
    mounts: list[str]
    interfaces: list[str]
    processes: list[str]


def read_host_state(home: Path) -> HostState:
    """The host now. home: the folder that the test's processes live in."""
    return HostState(
        settings=read_settings(),
        namespaces=sorted(os.listdir("/run/netns")) if Path("/run/netns").is_dir() else [],
        mounts=sorted(_mounts()),
        interfaces=sorted(os.listdir("/sys/class/net")),
        processes=sorted(_our_processes(home)),
    )


def read_settings() -> dict[str, str]:
    """Read the settings of the host that Downlink may change, by their files."""
    return dict(_settings())


def _settings() -> Iterator[tuple[str, str]]:
    for folder in SETTINGS:
        for file in sorted(Path(folder).iterdir()) if Path(folder).is_dir() else ():
            if file.is_file() and file.name not in VOLATILE:
                with contextlib.suppress(OSError):
                    yield str(file), file.read_text()


def _mounts() -> Iterator[str]:
    """Without the folder of namespaces, which iproute2 mounts at its first use on a machine, and keeps."""
    for line in Path("/proc/self/mounts").read_text().splitlines():
        if (fields := line.split()[:3])[1] != "/run/netns":
            yield " ".join(fields)


def _our_processes(home: Path) -> Iterator[str]:
    """Processes that this test started, at any depth, orphans too: they inherit its mark, or live in its folder."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            with contextlib.suppress(OSError):
                if f"{MARK}={os.getpid()}".encode() in (entry / "environ").read_bytes() or _is_within(
                    entry / "cwd", home
                ):
                    yield (entry / "cmdline").read_bytes().decode(errors="replace").replace("\0", " ").strip()


def _is_within(link: Path, folder: Path) -> bool:
    return Path(os.readlink(link)).is_relative_to(folder)

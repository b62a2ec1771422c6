"""The agent's Debian packages as make builds them, and a Debian of its own to install them in."""

from __future__ import annotations

import shlex
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
VERSION, NEXT = "0.2.0", "0.2.1"
UNIT = "/usr/lib/systemd/system/downlink-agent.service"
WANTED = "/etc/systemd/system/multi-user.target.wants/downlink-agent.service"
POLICY = "/etc/downlink-agent/policy.yaml"
STATE = "/var/lib/downlink-agent"
# This machine's own system below, what dpkg changes above it; nobody else sees either, and both go with the process.
LAYERS = """
mount -t tmpfs tmpfs "$1" && mkdir "$1/upper" "$1/work" "$1/root"
mount -t overlay overlay -o "lowerdir=/,upperdir=$1/upper,workdir=$1/work" "$1/root"
mount -t tmpfs tmpfs "$1/root/run"
mount --rbind /dev "$1/root/dev"
mkdir "$1/root/packages" && mount --bind "$2" "$1/root/packages" && mount -t proc proc "$1/root/proc"
echo ready && exec chroot "$1/root" sh -s
"""


class TestRoot:
    """A shell in a Debian of its own. The programs are real; PID 1 is not systemd, so no unit is started there."""

    __test__ = False

    def __init__(self, shell: subprocess.Popen[str]) -> None:
        self._shell = shell

    def run(self, command: str) -> tuple[int, str]:
        """The exit status of a command and what it printed."""
        assert self._shell.stdin
        assert self._shell.stdout
        self._shell.stdin.write(f"{{ {command}\n}} 2>&1 </dev/null\nprintf '\\nended %s\\n' $?\n")
        self._shell.stdin.flush()
        lines: list[str] = []
        for line in self._shell.stdout:
            if line.startswith("ended "):
                return int(line.split()[1]), "".join(lines).strip()
            lines.append(line)
        raise AssertionError(f"the shell ended: {command}\n{''.join(lines)}")

    def do(self, command: str) -> str:
        """What a command printed, which must succeed."""
        status, printed = self.run(command)
        assert status == 0, f"{command}\n{printed}"
        return printed

    def write(self, path: str, content: str) -> None:
        self.do(f"printf %s {shlex.quote(content)} >{path}")

    def install(self, version: str) -> str:
        return self.do(f"dpkg --install /packages/{version}/downlink-agent_{version}_amd64.deb")

    def has(self, path: str) -> bool:
        return self.run(f"test -e {path} || test -L {path}")[0] == 0


def build(version: str, into: Path) -> Path:
    """Packages of this version, of the binaries that are built."""
    command = ["make", "-C", str(ROOT / "agents"), "packages", f"VERSION={version}", f"INTO={into}"]
    subprocess.run(command, check=True, capture_output=True, text=True)
    return into

"""`make audit`: known weaknesses of every dependency, asked of the advisory services of the three package worlds.

A service that cannot be reached, or that does not know a package, has checked nothing: that is printed as such and fails,
because an empty answer is easily taken for a clean one (pip-audit prints "No known vulnerabilities found" when it skipped
every package). Exit: 0 all checked and clean, 1 a weakness is known, 2 something could not be checked.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
GOVULNCHECK = "golang.org/x/vuln/cmd/govulncheck@v1.1.4"
TIMEOUT_S = 600


@dataclass(frozen=True)
class Audit:
    """The answer of one service: number of packages that it judged, its findings, and why the rest was not checked."""

    checked: int = 0
    found: Sequence[str] = field(default_factory=tuple)
    not_checked: str = ""


def run(command: Sequence[str], folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)


def last_line(text: str) -> str:
    return next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "no answer")


def python_audit() -> Audit:
    """The dev lock holds every package that any lock holds."""
    done = run(
        [
            str(ROOT / ".cache/audit/bin/pip-audit"),
            *("--require-hashes", "--disable-pip", "--progress-spinner", "off", "--format", "json"),
            *("--requirement", "requirements.lock"),
        ],
        ROOT / "backend",
    )
    return read_pip_audit(done.stdout, done.stderr)


def read_pip_audit(out: str, err: str) -> Audit:
    try:
        packages = json.loads(out)["dependencies"]
    except ValueError:
        return Audit(not_checked=last_line(err))
    skipped = [package["name"] for package in packages if "skip_reason" in package]
    judged = [package for package in packages if "skip_reason" not in package]
    findings = [f"{p['name']} {p['version']}: {v['id']}" for p in judged for v in p["vulns"]]
    return Audit(len(judged), findings, f"the service does not know {len(skipped)} packages" if skipped else "")


def npm_audit() -> Audit:
    done = run(["npm", "audit", "--audit=true", "--json"], ROOT / "frontend")
    return read_npm_audit(done.stdout, done.stderr)


def read_npm_audit(out: str, err: str) -> Audit:
    try:
        answer: dict[str, Any] = json.loads(out)
    except ValueError:
        return Audit(not_checked=last_line(err))
    if "metadata" not in answer:
        return Audit(
            not_checked=f"the service answered {answer.get('statusCode', 'nothing')} {answer.get('message', '')}".strip()
        )
    findings = [f"{name}: {entry['severity']}" for name, entry in answer["vulnerabilities"].items()]
    return Audit(answer["metadata"]["dependencies"]["total"], findings)


def go_audit() -> Audit:
    done = run(["go", "run", GOVULNCHECK, "-format", "json", "./..."], ROOT / "agents")
    return read_govulncheck(done.stdout, done.stderr, done.returncode)


def read_govulncheck(out: str, err: str, code: int) -> Audit:
    messages = list(json_stream(out))
    if code != 0:
        return Audit(not_checked=last_line("\n".join(line for line in err.splitlines() if "exit status" not in line)))
    findings = sorted({message["finding"]["osv"] for message in messages if "finding" in message})
    modules = next((len(message["SBOM"].get("modules", [])) for message in messages if "SBOM" in message), 0)
    return Audit(modules, findings)


def json_stream(text: str) -> list[dict[str, Any]]:
    """The JSON documents in text, one after the other."""
    decoder, objects, at = json.JSONDecoder(), [], 0
    while (at := next((i for i in range(at, len(text)) if not text[i].isspace()), len(text))) < len(text):
        document, at = decoder.raw_decode(text, at)
        objects.append(document)
    return objects


AUDITS: dict[str, Callable[[], Audit]] = {"Python": python_audit, "npm": npm_audit, "Go": go_audit}


def main() -> int:
    audits = {name: audit() for name, audit in AUDITS.items()}
    for name, audit in audits.items():
        print(f"{name:8} {audit.checked:4} packages checked, {len(audit.found)} known weaknesses")
        for weakness in audit.found:
            print(f"         {weakness}")
        if audit.not_checked:
            print(f"         NOT CHECKED: {audit.not_checked}")
    if any(audit.found for audit in audits.values()):
        return 1
    return 2 if any(audit.not_checked or not audit.checked for audit in audits.values()) else 0


if __name__ == "__main__":
    sys.exit(main())

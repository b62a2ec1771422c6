"""`make audit` never calls clean what nobody checked. The unreachable services' answers are recorded from real ones."""

from __future__ import annotations

import json

from tools.audit import read_govulncheck, read_npm_audit, read_pip_audit

SKIPPED = {"name": "amqp", "skip_reason": "Dependency not found on PyPI and could not be audited: amqp (5.4.2)"}
CLEAN = {"name": "anyio", "version": "4.16.0", "vulns": []}
WEAK = {"name": "celery", "version": "4.0", "vulns": [{"id": "PYSEC-0000-1", "fix_versions": ["5.0"]}]}


def pip_audit(*packages: object) -> str:
    return json.dumps({"dependencies": packages, "fixes": []})


def test_packages_that_the_service_does_not_know_are_not_clean() -> None:
    audit = read_pip_audit(pip_audit(SKIPPED, CLEAN), "No known vulnerabilities found\n")
    assert (audit.checked, list(audit.found)) == (1, [])
    assert audit.not_checked == "the service does not know 1 packages"


def test_a_known_weakness_is_named_with_its_package() -> None:
    audit = read_pip_audit(pip_audit(CLEAN, WEAK), "Found 1 known vulnerability in 1 package\n")
    assert list(audit.found) == ["celery 4.0: PYSEC-0000-1"]
    assert audit.not_checked == ""


def test_no_answer_is_said_in_the_tools_own_words() -> None:
    assert read_pip_audit("", "Traceback …\nConnectionError: no route\n").not_checked == "ConnectionError: no route"
    assert read_npm_audit("", "npm error network\n").not_checked == "npm error network"


def test_a_refusing_npm_service_has_checked_nothing() -> None:
    refusal = json.dumps({"message": "405 Method Not Allowed", "statusCode": 405, "body": "", "error": {}})
    audit = read_npm_audit(refusal, "")
    assert (audit.checked, audit.not_checked) == (0, "the service answered 405 405 Method Not Allowed")


def test_npm_findings_are_named_with_their_severity() -> None:
    answer = {
        "vulnerabilities": {"semver": {"name": "semver", "severity": "high"}},
        "metadata": {"dependencies": {"total": 282}},
    }
    audit = read_npm_audit(json.dumps(answer), "")
    assert (audit.checked, list(audit.found), audit.not_checked) == (282, ["semver: high"], "")


def test_an_unreachable_go_database_has_checked_nothing() -> None:
    out = '{\n  "config": {"protocol_version": "v1.0.0"}\n}\n{"progress": {"message": "Fetching vulnerabilities"}}\n'
    audit = read_govulncheck(out, "govulncheck: fetching vulnerabilities: no such host\nexit status 1\n", 1)
    assert (audit.checked, audit.not_checked) == (0, "govulncheck: fetching vulnerabilities: no such host")


def test_go_findings_are_named_once() -> None:
    out = '{"SBOM": {"modules": [{"path": "a"}, {"path": "b"}]}}\n' + '{"finding": {"osv": "GO-0000-1"}}\n' * 2
    audit = read_govulncheck(out, "", 0)
    assert (audit.checked, list(audit.found), audit.not_checked) == (2, ["GO-0000-1"], "")

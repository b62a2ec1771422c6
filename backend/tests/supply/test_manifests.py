"""The Kubernetes manifests name entry points and settings that exist, and give no pod more than it needs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from tests.stack.test_containers import COMMANDS, VARIABLES

FOLDER = Path(__file__).resolve().parents[3] / "docs" / "deploy" / "kubernetes"


def manifests() -> list[dict[str, Any]]:
    kustomization = yaml.safe_load((FOLDER / "kustomization.yaml").read_text())
    assert {path.name for path in FOLDER.glob("*.yaml")} == {"kustomization.yaml", *kustomization["resources"]}
    return [each for name in kustomization["resources"] for each in yaml.safe_load_all((FOLDER / name).read_text())]


def pods() -> dict[str, dict[str, Any]]:
    return {
        each["metadata"]["name"]: each["spec"]["template"]["spec"]
        for each in manifests()
        if "template" in each.get("spec", {})
    }


def containers() -> list[tuple[str, dict[str, Any]]]:
    return [
        (name, each) for name, pod in pods().items() for each in (*pod.get("initContainers", ()), *pod["containers"])
    ]


def test_containers_have_the_servers_entry_points_and_settings_that_exist() -> None:
    server = [each for _, each in containers() if each["image"] == "downlink/server"]
    assert {each["args"][0] for each in server} == {"api", "conductor", "worker", "migrate"} <= COMMANDS
    (settings,) = (each["data"] for each in manifests() if each["kind"] == "ConfigMap")
    assert {name.removesuffix("_FILE") for name in settings} <= VARIABLES


def test_no_pod_may_do_more_than_it_needs() -> None:
    for name, pod in pods().items():
        assert pod["securityContext"]["runAsNonRoot"], name
        assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}, name
        assert pod["automountServiceAccountToken"] is False, name
    for name, container in containers():
        hardened = container["securityContext"]
        assert (hardened["allowPrivilegeEscalation"], hardened["readOnlyRootFilesystem"]) == (False, True), name
        assert hardened["capabilities"] == {"drop": ["ALL"]}, name
        assert set(container["resources"]["limits"]) == {"cpu", "memory"}, name


def test_passwords_come_from_the_secret_alone() -> None:
    (settings,) = (each["data"] for each in manifests() if each["kind"] == "ConfigMap")
    assert [name for name in settings if "PASSWORD" in name and not name.endswith("_FILE")] == []
    assert [each["kind"] for each in manifests() if each["kind"] == "Secret"] == []
    for name, container in containers():
        assert any(mount["mountPath"] == "/etc/downlink" for mount in container["volumeMounts"]), name

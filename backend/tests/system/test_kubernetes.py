"""The Kubernetes manifests by kubeconform, strictly, with the schemas that a package ships: no cluster is here, and no network is asked."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.stack.test_containers import COMMANDS, VARIABLES
from tests.system.conftest import ROOT

pytestmark = pytest.mark.verify("packages")

FOLDER = ROOT / "docs" / "deploy" / "kubernetes"
PROGRAM = ROOT / ".cache" / "bin" / "kubeconform"
VERSION = "1.37.0"
SHIPPED = ROOT / ".cache" / "kubernetes" / "kubernetes_validate" / "kubernetes-json-schema" / f"v{VERSION}-local-strict"
GROUPS = ("v1", "apps-v1", "networking-v1")


def manifests() -> list[dict[str, Any]]:
    kustomization = yaml.safe_load((FOLDER / "kustomization.yaml").read_text())
    assert {path.name for path in FOLDER.glob("*.yaml")} == {"kustomization.yaml", *kustomization["resources"]}
    return [each for name in kustomization["resources"] for each in yaml.safe_load_all((FOLDER / name).read_text())]


@pytest.fixture(scope="module")
def schemas(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """As the package has them, but for their names on the network."""
    folder = tmp_path_factory.mktemp("schemas")
    kinds = {each["kind"].lower() for each in manifests()}
    names = [
        f"{kind}-{group}.json" for kind in kinds for group in GROUPS if (SHIPPED / f"{kind}-{group}.json").exists()
    ]
    assert len(names) >= len(kinds)
    for name in (*names, "_definitions.json"):
        content = json.loads((SHIPPED / name).read_text().replace('"/api/_definitions.json#', '"_definitions.json#'))
        content.pop("$id", None)
        (folder / name).write_text(json.dumps(content))
    return folder


def judged(schemas: Path, text: str) -> subprocess.CompletedProcess[str]:
    place = f"{schemas}/{{{{.ResourceKind}}}}{{{{.KindSuffix}}}}.json"
    command = [str(PROGRAM), "-strict", "-summary", "-kubernetes-version", VERSION, "-schema-location", place, "-"]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=False, timeout=60)


def test_every_manifest_follows_its_schema(schemas: Path) -> None:
    done = judged(schemas, yaml.safe_dump_all(manifests()))
    assert done.returncode == 0, done.stdout
    assert f"Valid: {len(manifests())}, Invalid: 0, Errors: 0, Skipped: 0" in done.stdout


@pytest.mark.parametrize(
    ("right", "wrong"), [("replicas: 2", "replicas: two"), ("runAsUser", "runAsUsr"), ("name: api", "nam: api")]
)
def test_a_mistake_would_be_seen(schemas: Path, right: str, wrong: str) -> None:
    text = yaml.safe_dump_all(manifests())
    assert right in text
    assert judged(schemas, text.replace(right, wrong)).returncode == 1


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

"""The Kubernetes manifests by kubeconform, strictly, with the schemas that a package ships: no cluster is here, and no network is asked."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
import yaml

from tests.supply.test_manifests import manifests
from tests.system.conftest import ROOT

pytestmark = pytest.mark.verify("packages")

PROGRAM = ROOT / ".cache" / "bin" / "kubeconform"
VERSION = "1.37.0"
SHIPPED = ROOT / ".cache" / "kubernetes" / "kubernetes_validate" / "kubernetes-json-schema" / f"v{VERSION}-local-strict"
GROUPS = ("v1", "apps-v1", "networking-v1")


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

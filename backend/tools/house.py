"""Draws the rooms of backend and agents with their floors and imports, as docs/house.svg."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path
from xml.sax.saxutils import escape

ROOT = Path(__file__).resolve().parents[2]
DRAWING = ROOT / "docs" / "house.svg"
COMMAND = "make house"

Arrows = Mapping[str, Collection[str]]
WIDTH, MARGIN = 960, 16
BOX_HEIGHT, FLOOR_HEIGHT, LETTER, SHIFT = 30, 78, 8, 70
TITLE_HEIGHT = 44
STYLE = """
text { font: 13px sans-serif; fill: #1a1b1e; text-anchor: middle }
.title { font-weight: bold; text-anchor: start }
rect { fill: #e7f0fa; stroke: #1c5d99 }
path { fill: none; stroke: #1c5d99; stroke-opacity: .35 }
@media (prefers-color-scheme: dark) {
  text { fill: #e9ecef } rect { fill: #1d2b3a; stroke: #74b0e8 } path { stroke: #74b0e8 }
}
"""


@cache
def backend_arrows() -> dict[str, set[str]]:
    """Rooms of backend/downlink, each with the rooms that it imports."""
    package = ROOT / "backend" / "downlink"
    rooms = {path.stem for path in package.iterdir() if path.suffix == ".py" or (path / "__init__.py").is_file()}
    arrows: dict[str, set[str]] = {room: set() for room in rooms - {"__init__"}}
    for file in package.rglob("*.py"):
        room = file.relative_to(package).parts[0].removesuffix(".py")
        if room in arrows:
            arrows[room] |= {name for name in _imported(file) if name in arrows} - {room}
    return arrows


def _imported(file: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            if node.module == "downlink":
                yield from (alias.name for alias in node.names)
            elif node.module.startswith("downlink."):
                yield node.module.split(".")[1]
        elif isinstance(node, ast.Import):
            yield from (alias.name.split(".")[1] for alias in node.names if alias.name.startswith("downlink."))


def backend_floors() -> list[list[str]]:
    """Floors from the top down, as the import contract in pyproject.toml has them."""
    contracts = tomllib.loads((ROOT / "backend" / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    (layers,) = (contract["layers"] for contract in contracts if contract["type"] == "layers")
    return [[name.split(".")[1] for name in layer.split(" | ")] for layer in layers]


@cache
def agent_arrows() -> dict[str, set[str]]:
    """Groups of agents/internal, cmd and study, each with the groups that it imports; tests and their helpers are left out."""
    folder = ROOT / "agents"
    arrows: dict[str, set[str]] = {}
    for file in folder.rglob("*.go"):
        group = _group(file.relative_to(folder).as_posix())
        if group in ("tools", "testing", "") or file.name.endswith("_test.go"):
            continue
        named = re.findall(r'^(?:import )?\s*(?:\w+ )?"downlink/agents/([^"]+)"', file.read_text(), re.MULTILINE)
        arrows.setdefault(group, set()).update({_group(f"{name}/x") for name in named} - {group, "testing"})
    return arrows


def _group(path: str) -> str:
    parts = path.split("/")
    if len(parts) == 1:
        return ""
    return parts[1] if parts[0] == "internal" else parts[0]


def floors_of(arrows: Arrows) -> list[list[str]]:
    """Floors from the top down: a room lies above everything that it imports. CycleError where that cannot be."""
    height: dict[str, int] = {}
    for room in TopologicalSorter({room: sorted(below) for room, below in arrows.items()}).static_order():
        height[room] = 1 + max((height[each] for each in arrows.get(room, ())), default=-1)
    top = max(height.values(), default=-1)
    return [sorted(room for room in height if height[room] == floor) for floor in range(top, -1, -1)]


def drawing() -> str:
    """The whole SVG file."""
    y, parts = MARGIN, []
    for title, floors, arrows in (
        ("backend/downlink", backend_floors(), backend_arrows()),
        ("agents (groups of packages)", floors_of(agent_arrows()), agent_arrows()),
    ):
        count = sum(map(len, arrows.values()))
        description = f"{title}: {len(arrows)} rooms on {len(floors)} floors, {count} arrows"
        parts.append(f'<text class="title" x="{MARGIN}" y="{y + 18}">{description}</text>')
        parts += _house(floors, arrows, y + TITLE_HEIGHT)
        y += TITLE_HEIGHT + FLOOR_HEIGHT * len(floors)
    body = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {y}" role="img" '
        f'aria-label="Rooms, floors and imports">\n<style>{STYLE}</style>\n{body}\n</svg>\n'
    )


def _house(floors: Sequence[Sequence[str]], arrows: Arrows, top: int) -> Iterator[str]:
    centre = {
        room: (x, top + floor * FLOOR_HEIGHT)
        for floor, rooms in enumerate(floors)
        for room, x in zip(rooms, _centres(rooms, (floor % 3 - 1) * SHIFT), strict=True)
    }
    for room in sorted(arrows):
        for below in sorted(arrows[room]):
            (x0, y0), (x1, y1) = centre[room], centre[below]
            bend = (y1 - y0) // 2
            yield (
                f'<path d="M{x0},{y0 + BOX_HEIGHT} C{x0},{y0 + bend} {x1},{y1 - bend} {x1},{y1}">'
                f"<title>{escape(room)} imports {escape(below)}</title></path>"
            )
    for room, (x, y) in centre.items():
        width = _width(room)
        yield f'<rect x="{x - width // 2}" y="{y}" width="{width}" height="{BOX_HEIGHT}" rx="4"/>'
        yield f'<text x="{x}" y="{y + 20}">{escape(room)}</text>'


def _centres(rooms: Sequence[str], shift: int) -> list[int]:
    """Return the centres of a floor's boxes, with equal gaps, in px. shift: to the right, so that arrows pass beside boxes."""
    gap = (WIDTH - 2 * MARGIN - sum(map(_width, rooms))) / (len(rooms) + 1)
    x, centres = float(MARGIN + shift), []
    for room in rooms:
        x += gap + _width(room) / 2
        centres.append(round(x))
        x += _width(room) / 2
    return centres


def _width(room: str) -> int:
    return 24 + LETTER * len(room)


if __name__ == "__main__":
    DRAWING.write_text(drawing())

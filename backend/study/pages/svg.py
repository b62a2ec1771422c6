"""Frame and colours of the drawn pictures."""

from __future__ import annotations

from xml.sax.saxutils import escape

OURS = "#00487a"
BAND = "#e3e6ea"


def drawing(width: int, height: int, title: str, body: str) -> str:
    """A picture on white. title: what is read out instead of it."""
    named = escape(title, {'"': "&quot;"})
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        f'font-family="sans-serif" font-size="12" role="img" aria-label="{named}">\n'
        f'<rect width="{width}" height="{height}" fill="white"/>\n{body}</svg>\n'
    )

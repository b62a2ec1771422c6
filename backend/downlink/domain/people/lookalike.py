"""User names that people take for one another."""

from __future__ import annotations

import unicodedata

_LIKE_LATIN = str.maketrans(
    "\u0430\u0435\u043e\u0440\u0441\u0445\u0443\u0456\u0455\u0458\u04bb\u0501\u04cf\u051b\u051d\u043a\u043c\u0442\u043d"
    "\u03b1\u03bf\u03c1\u03bd\u03ba\u03b9\u03c5\u03c7\u0131\u0251\u0261",
    "aeopcxyisjhdlqwkmthaopvkiuxiag",
)
"""Letters of Cyrillic, Greek and IPA that most type faces draw like a Latin one (Unicode Technical Standard 39, confusables)."""


def likeness(name: str) -> str:
    """Return what two names share that look alike: without case, width, ligatures and foreign twins of Latin letters."""
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())
    visible = "".join(letter for letter in folded if unicodedata.category(letter) not in ("Cf", "Mn"))
    return " ".join(visible.translate(_LIKE_LATIN).split())

"""Links that give people without an account read access to one campaign."""

from __future__ import annotations

from typing import Literal

ExpiryDays = Literal[1, 7, 30, 90]
"""Days for which a link works: none works without end, and none is prolonged."""
MOST_SHARES = 20
"""Links of one campaign at a time: a reader of the list should know each of them."""

"""Links that give people without an account read access to one campaign."""

from __future__ import annotations

from typing import Literal

ExpiryDays = Literal[1, 7, 30, 90]
"""How long a link works; there is none for ever, and none that is made longer."""
MOST_SHARES = 20
"""Of one campaign at a time: who sees the list should know each of them."""

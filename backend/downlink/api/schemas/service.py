"""What the server says of itself."""

from __future__ import annotations

from datetime import datetime

from downlink.api.schemas.base import Shape


class Service(Shape):
    """is_conducting: due runs are started and deadlines watched. ticked_at: when that was done last."""

    is_conducting: bool
    ticked_at: datetime | None

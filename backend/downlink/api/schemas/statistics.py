"""How far differences can be trusted (docs/method.md, section 4)."""

from __future__ import annotations

from uuid import UUID

from downlink.api.schemas.base import Shape
from downlink.api.schemas.reports import Comparison, Outlier


class CampaignStatistics(Shape):
    campaign_id: UUID
    primary_metrics: list[str]
    comparisons: list[Comparison]
    outliers: list[Outlier]

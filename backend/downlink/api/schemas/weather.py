"""The weather service that the server asks, and what it answered."""

from __future__ import annotations

from pydantic import Field

from downlink.api.schemas.base import Shape
from downlink.domain.moment import Moment


class WeatherPlace(Shape):
    latitude: float = Field(description="As it is sent: to a hundredth of a degree")
    longitude: float
    links: list[str] = Field(description="By name")
    due_at: Moment = Field(description="When the service is asked next")
    asked_at: Moment | None
    taken_at: Moment | None = Field(description="When it last gave values")
    reading_at: Moment | None = Field(description="The moment of these")
    problem: str | None = Field(description="What is wrong since then, by its code; null for nothing")
    detail: str | None = Field(description="That in a sentence")


class WeatherState(Shape):
    is_on: bool = Field(description="Whether an admin has named a service")
    source: str | None = Field(description="The source of its values")
    host: str | None = Field(description="Of the service; the rest of its address may hold a key")
    every_min: int | None
    quantities: list[str]
    places: list[WeatherPlace] = Field(description="Empty where it is off")


class WeatherValue(Shape):
    quantity: str
    unit: str
    source: str
    at: Moment
    value: float


class WeatherTried(Shape):
    host: str
    problem: str | None = Field(description="Why nothing would be stored, by its code; null where the values would be")
    detail: str | None = Field(description="That in a sentence")
    values: list[WeatherValue]

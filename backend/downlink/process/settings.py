"""Everything that can be set from outside: environment variables DOWNLINK_…, read once in main."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Literal, Self
from urllib.parse import quote, urlsplit

from pydantic import Field, SecretStr, computed_field, model_validator
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from downlink.domain.links.weather_source import EVERY_MIN, LEAST_EVERY_MIN, MOST_EVERY_MIN, WeatherSource, read_source
from downlink.domain.notices.delivery import Networks, networks_of
from downlink.domain.people.permission import Role
from downlink.domain.people.provider import Admission, read_rules
from downlink.process.setting_files import SECRETS, NamedFiles

DATABASE_DRIVER = "postgresql+psycopg"
TRACE_STORE = re.compile(r"s3://[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](/[\w.-]+)*/?")


SECURITY_CONTACT = re.compile(r"(https://[^\s/]+\S*|mailto:[^\s@]+@[^\s@]+)")


class Settings(BaseSettings):
    """Field `x` is the variable DOWNLINK_X, or what is in the file that DOWNLINK_X_FILE names, or in /run/secrets/downlink_x."""

    model_config = SettingsConfigDict(
        env_prefix="DOWNLINK_", frozen=True, secrets_dir=SECRETS if SECRETS.is_dir() else None
    )

    database_url: SecretStr = Field(
        default=SecretStr("postgresql+psycopg:///downlink"),
        description="PostgreSQL, as a SQLAlchemy URL (driver psycopg)",
    )
    database_password: SecretStr | None = Field(
        default=None, description="The database's password, where its URL holds none: any characters, no escapes"
    )
    redis_url: SecretStr = Field(
        default=SecretStr("redis://127.0.0.1:6379/0"), description="The queue; may be emptied at any moment"
    )
    redis_password: SecretStr | None = Field(
        default=None, description="The queue's password, where its URL holds none: any characters, no escapes"
    )
    host: str = Field(default="127.0.0.1", description="Address the api listens on")
    port: Annotated[int, Field(ge=0, le=65535)] = 8000
    uds: Path | None = Field(default=None, description="A unix socket to listen on as well, for agents on this host")
    base_url: str | None = Field(
        default=None, description="Where browsers and agents reach the api; default http://host:port"
    )
    agent_url: str | None = Field(default=None, description="Where agents reach the api, when not at base_url")
    dashboard_dir: Path | None = Field(default=None, description="The built dashboard to serve at /")
    agent_dir: Path | None = Field(
        default=None, description="Folder with the agent's programs and systemd unit, for hosts to fetch"
    )
    metrics_port: Annotated[int, Field(ge=1, le=65535)] | None = Field(
        default=None,
        description="Serve Prometheus metrics at /metrics of this port, which nobody but Prometheus should reach",
    )
    metrics_host: str = Field(default="127.0.0.1", description="Address that the metrics listen on")
    otlp_url: str | None = Field(
        default=None,
        description="Where spans of requests, jobs and queries are sent (OpenTelemetry, OTLP over HTTP), "
        "such as http://collector:4318/v1/traces; none are made without it",
    )
    allowed_hosts: str = Field(
        default="",
        description="Host names that requests may use, comma separated, `*.` for any subdomain; any name when empty",
    )
    forwarded_allow_ips: str = Field(
        default="",
        description="Addresses of proxies whose X-Forwarded-… headers count, comma separated; none by default",
    )
    stalled_s: Annotated[int, Field(ge=1, le=3600)] = Field(
        default=60, description="A peer that neither sends what it began nor takes its answer for this long is cut off"
    )
    trace_store: str = Field(
        default="database", description="Where new traces are kept: `database`, or s3://bucket/prefix"
    )
    s3_endpoint: str | None = Field(
        default=None, description="Address of the S3-compatible store, https://host[:port]; default that of AWS"
    )
    s3_region: str = "us-east-1"
    s3_access_key: SecretStr | None = None
    s3_secret_key: SecretStr | None = Field(
        default=None, description="Both keys stay set as long as the store holds traces, wherever new ones are kept"
    )
    notify_allow: str = Field(
        default="",
        description="Networks beside the public internet that notifications may be posted to, comma separated",
    )
    smtp_host: str | None = Field(default=None, description="The server that sends notifications by mail; none without")
    smtp_port: Annotated[int, Field(ge=1, le=65535)] | None = None
    smtp_security: Literal["starttls", "tls", "none"] = "starttls"
    smtp_user: str | None = None
    smtp_password: SecretStr | None = None
    mail_from: str | None = Field(default=None, description="The address that mails come from")
    weather_url: SecretStr | None = Field(
        default=None,
        description="A weather service that is asked for links with a place, with {latitude} and {longitude}; none without",
    )
    weather_quantities: str = Field(
        default="",
        description="Quantities by JSON pointer: `weather.rain_mm_per_h=/current/precipitation * 4`, by commas",
    )
    weather_time: str = Field(default="", description="JSON pointer to the moment of the answer's values")
    weather_zone: str = Field(default="UTC", description="Of moments without an offset")
    weather_name: str | None = Field(default=None, description="The source of its values; default the host")
    weather_every_min: Annotated[int, Field(ge=LEAST_EVERY_MIN, le=MOST_EVERY_MIN)] = EVERY_MIN
    weather_allow: str = Field(
        default="", description="Networks beside the public internet that the service may be in, comma separated"
    )
    security_contact: str | None = Field(
        default=None,
        description="Whom to tell of a weakness of this server, https://… or mailto:…; served as /.well-known/security.txt",
    )
    disks: str = Field(
        default="",
        description="Folders whose disks must keep room, comma separated: the database's, where it is on this host",
    )
    least_free_mib: Annotated[int, Field(ge=1, le=2**30)] = Field(
        default=1024, description="With less room on one of these disks nothing more is accepted"
    )
    database_most_gib: Annotated[int, Field(ge=1, le=2**20)] | None = Field(
        default=None, description="With a larger database nothing more is accepted; for a database on another host"
    )
    oidc_issuer: str | None = Field(
        default=None, description="The institute's identity provider (OpenID Connect), by its issuer; none without"
    )
    oidc_client_id: str | None = None
    oidc_client_secret: SecretStr | None = None
    oidc_name: str = Field(default="your institute", description="What the button says after `Sign in with`")
    oidc_scopes: str = "openid profile email"
    oidc_domains: str = Field(
        default="", description="Domains of verified e-mail addresses that are let in, comma separated; any when empty"
    )
    oidc_roles: str = Field(
        default="", description="Roles by claims, comma separated: `groups=satlab->operator,groups=guests->viewer`"
    )
    oidc_role: Literal["none", "viewer", "operator"] = Field(
        default="none", description="The role of those to whom no claim gives one; `none` refuses them"
    )
    oidc_most_role: Literal["viewer", "operator", "admin"] = Field(
        default="operator", description="No claim gives more than this"
    )
    session_hours: Annotated[int, Field(ge=1, le=24 * 30)] = 24 * 7
    database_pool: Annotated[int, Field(ge=1, le=100)] = 16
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    log_format: Literal["json", "console"] = "json"

    @model_validator(mode="after")
    def _check_database_url(self) -> Self:
        if not _is_database(self.database_url.get_secret_value()):  # not said what it is: there may be a password in it
            raise ValueError(f"DOWNLINK_DATABASE_URL must be {DATABASE_DRIVER}://user@host/name")
        return self

    @model_validator(mode="after")
    def _check_trace_store(self) -> Self:
        if self.trace_store != "database" and not TRACE_STORE.fullmatch(self.trace_store):
            raise ValueError("DOWNLINK_TRACE_STORE must be `database` or s3://bucket/prefix")
        if self.trace_store_root and not (self.s3_access_key and self.s3_secret_key):
            keys = "DOWNLINK_S3_ACCESS_KEY and DOWNLINK_S3_SECRET_KEY"
            raise ValueError(f"DOWNLINK_TRACE_STORE names an S3 store: set {keys} too")
        if self.s3_endpoint and not re.match(r"https?://[^/]+", self.s3_endpoint):
            raise ValueError("DOWNLINK_S3_ENDPOINT must be https://host[:port]")
        return self

    @model_validator(mode="after")
    def _check_otlp_url(self) -> Self:
        if self.otlp_url and not re.match(r"https?://[^/]+/", self.otlp_url):
            raise ValueError("DOWNLINK_OTLP_URL must be https://host[:port]/v1/traces")
        return self

    @model_validator(mode="after")
    def _check_security_contact(self) -> Self:
        if self.security_contact and not SECURITY_CONTACT.fullmatch(self.security_contact):
            raise ValueError("DOWNLINK_SECURITY_CONTACT must be https://… or mailto:name@host")
        return self

    @model_validator(mode="after")
    def _check_notifications(self) -> Self:
        try:
            networks_of(self.notify_allow)
        except ValueError:
            raise ValueError("DOWNLINK_NOTIFY_ALLOW must be networks like 10.0.0.0/8, comma separated") from None
        if self.smtp_host and not self.mail_from:
            raise ValueError("DOWNLINK_SMTP_HOST is set: set DOWNLINK_MAIL_FROM too")
        return self

    @model_validator(mode="after")
    def _check_weather(self) -> Self:
        try:
            networks_of(self.weather_allow)
        except ValueError:
            raise ValueError("DOWNLINK_WEATHER_ALLOW must be networks like 10.0.0.0/8, comma separated") from None
        try:
            _ = self.weather_source
        except ValueError as error:
            raise ValueError(f"DOWNLINK_WEATHER_{error}") from None
        return self

    @model_validator(mode="after")
    def _check_disks(self) -> Self:
        if missing := [folder for folder in self.disk_folders if not folder.is_dir()]:
            raise ValueError(f"DOWNLINK_DISKS names {missing[0]}, which is no folder here")
        return self

    @model_validator(mode="after")
    def _check_provider(self) -> Self:
        if self.oidc_issuer is None:
            return self
        parts = urlsplit(self.oidc_issuer)
        if parts.scheme != "https" and parts.hostname not in ("127.0.0.1", "::1", "localhost"):
            raise ValueError("DOWNLINK_OIDC_ISSUER must begin with https://")
        if not self.oidc_client_id or not self.oidc_client_secret:
            raise ValueError(
                "DOWNLINK_OIDC_ISSUER is set: set DOWNLINK_OIDC_CLIENT_ID and DOWNLINK_OIDC_CLIENT_SECRET too"
            )
        if "openid" not in self.oidc_scopes.split():
            raise ValueError("DOWNLINK_OIDC_SCOPES must hold `openid`")
        try:
            read_rules(self.oidc_roles)
        except ValueError:
            raise ValueError("DOWNLINK_OIDC_ROLES must be claim=value->role, comma separated") from None
        return self

    @property
    def admission(self) -> Admission:
        """The rules for admitting the provider's users, and their role."""
        domains = tuple(each.strip().lower() for each in self.oidc_domains.split(",") if each.strip())
        otherwise = None if self.oidc_role == "none" else Role(self.oidc_role)
        return Admission(domains, read_rules(self.oidc_roles), otherwise, Role(self.oidc_most_role))

    @property
    def disk_folders(self) -> tuple[Path, ...]:
        return tuple(Path(folder.strip()) for folder in self.disks.split(",") if folder.strip())

    @property
    def notify_networks(self) -> Networks:
        return networks_of(self.notify_allow)

    @property
    def weather_networks(self) -> Networks:
        return networks_of(self.weather_allow)

    @property
    def weather_source(self) -> WeatherSource | None:
        """None where no service is named."""
        if self.weather_url is None:
            return None
        return read_source(
            self.weather_name,
            self.weather_url.get_secret_value().strip(),
            self.weather_quantities,
            self.weather_time,
            self.weather_zone,
            self.weather_every_min,
        )

    @property
    def trace_store_root(self) -> str | None:
        """The URL below which new traces are kept; None for the database."""
        return None if self.trace_store == "database" else self.trace_store.rstrip("/")

    @computed_field  # type: ignore[prop-decorator]
    @property
    def public_url(self) -> str:
        """Address for people and agents, without a final slash."""
        return (self.base_url or f"http://{_bracketed(self.host)}:{self.port}").rstrip("/")

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        return init_settings, env_settings, NamedFiles(settings_cls), dotenv_settings, file_secret_settings

    @property
    def database(self) -> str:
        """The database's URL with its password."""
        return _with_password(self.database_url, self.database_password)

    @property
    def queue(self) -> str:
        """The queue's URL with its password."""
        return _with_password(self.redis_url, self.redis_password)

    @property
    def agents_url(self) -> str:
        """The address at which agents reach the api."""
        return (self.agent_url or self.public_url).rstrip("/")

    @property
    def download_url(self) -> str:
        """The address from which a host that wants to become an agent fetches its files, by http even where agents use a unix socket."""
        return self.agents_url if self.agents_url.startswith("http") else self.public_url

    @property
    def is_https(self) -> bool:
        return urlsplit(self.public_url).scheme == "https"

    @property
    def origin(self) -> str:
        """scheme://host[:port] as browsers send it in Origin."""
        parts = urlsplit(self.public_url)
        return f"{parts.scheme}://{parts.netloc}"


def _is_database(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme == DATABASE_DRIVER and f"{DATABASE_DRIVER}://" in url and (parts.port or 0) >= 0
    except ValueError:  # of brackets and ports
        return False


def _with_password(url: SecretStr, password: SecretStr | None) -> str:
    if password is None:
        return url.get_secret_value()
    parts = urlsplit(url.get_secret_value())
    user, _, host = parts.netloc.rpartition("@")
    user = user.partition(":")[0]
    return parts._replace(netloc=f"{user}:{quote(password.get_secret_value(), safe='')}@{host}").geturl()


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host

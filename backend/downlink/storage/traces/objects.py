"""Sealed traces in an S3-compatible store, for servers that keep them there instead of in the database."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cached_property
from typing import TypeVar
from uuid import UUID

import obstore
import structlog
from obstore.exceptions import BaseError, PermissionDeniedError, UnauthenticatedError
from obstore.store import S3Store

from downlink.domain.errors import NotFoundError, UnavailableError
from downlink.process.settings import Settings

LANES = 8
"""Requests of one reader or writer that are under way at once: a chunk has 60 kB, and the way to the store is long."""
PAGE = 1_000
"""Objects that S3 lists and deletes at once."""
Kept = bytes | str
"""Parquet as it is in the database, or the URL of the object that holds it."""
T = TypeVar("T")
log = structlog.get_logger()


@dataclass(frozen=True)
class TraceStore:
    """Reads wherever a row says that its bytes are. root: the URL below which new traces go; None for the database.

    patience_s: how long a request may take.
    """

    root: str | None = None
    endpoint: str | None = None
    region: str | None = None
    access_key: str | None = field(default=None, repr=False)
    secret_key: str | None = field(default=None, repr=False)
    patience_s: float = 30
    _buckets: dict[str, S3Store] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, settings: Settings) -> TraceStore:
        access, secret = settings.s3_access_key, settings.s3_secret_key
        return cls(
            settings.trace_store_root,
            settings.s3_endpoint or None,
            settings.s3_region,
            access.get_secret_value() if access else None,
            secret.get_secret_value() if secret else None,
        )

    @cached_property
    def _threads(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(LANES, "traces")

    def open_folder(self, folder_id: UUID) -> Folder:
        """A new folder to write to. UnavailableError when the store would not take anything now."""
        url = f"{self.root}/{folder_id}"
        with _named(url):
            obstore.list(*self._place(url), chunk_size=1).collect()
        return Folder(self, folder_id, url)

    def contents(self, kept: Iterable[Kept]) -> Iterator[bytes]:
        """Yield stored contents in this order; objects are fetched a few ahead.

        UnavailableError when the store does not answer, NotFoundError `trace_lost` when it has lost an object.
        """
        ahead: deque[Future[bytes]] = deque()
        for each in kept:
            if isinstance(each, str):
                ahead.append(self._threads.submit(self._get, each))
            if isinstance(each, bytes) or len(ahead) == LANES:
                yield from _taken(ahead, LANES - 1 if isinstance(each, str) else 0)
            if isinstance(each, bytes):
                yield each
        yield from _taken(ahead, 0)

    def delete_folder(self, url: str) -> None:
        """Everything below it. May be done again."""
        with _named(url):
            store, path = self._place(url)
            for page in obstore.list(store, path, chunk_size=PAGE):
                obstore.delete(store, [each["path"] for each in page])

    def put(self, url: str, content: bytes) -> Future[None]:
        """Write an object, in the background."""
        return self._threads.submit(self._put, url, content)

    def _put(self, url: str, content: bytes) -> None:
        with _named(url):
            store, path = self._place(url)
            obstore.put(store, path, content, use_multipart=False)

    def _get(self, url: str) -> bytes:
        with _named(url):
            try:
                return bytes(obstore.get(*self._place(url)).bytes())
            except FileNotFoundError as error:
                raise NotFoundError("trace_lost", f"The trace store has lost {url}; restore it from a copy.") from error

    def _place(self, url: str) -> tuple[S3Store, str]:
        """The bucket and the path in it."""
        bucket, _, path = url.removeprefix("s3://").partition("/")
        if bucket not in self._buckets:
            self._buckets[bucket] = self._bucket(bucket)
        return self._buckets[bucket], path

    def _bucket(self, name: str) -> S3Store:
        if not self.access_key or not self.secret_key:
            wanted = "DOWNLINK_S3_ACCESS_KEY and DOWNLINK_S3_SECRET_KEY"
            raise UnavailableError("trace_store_unknown", f"Samples are in s3://{name}; set {wanted} to read them.")
        # The job behind a request holds its run's row, and may do so for some seconds only.
        return S3Store(
            name,
            endpoint=self.endpoint,
            region=self.region,
            access_key_id=self.access_key,
            secret_access_key=self.secret_key,
            client_options={"allow_http": True, "connect_timeout": "3s", "timeout": f"{self.patience_s}s"},
            retry_config={"max_retries": 2, "retry_timeout": timedelta(seconds=10)},
        )


class Folder:
    """The writes of one unit of work: objects on their way, waited for before the rows that name them are committed."""

    def __init__(self, store: TraceStore, folder_id: UUID, url: str) -> None:
        self.id = folder_id
        self.url = url
        self._store = store
        self._under_way: deque[Future[None]] = deque()

    def put(self, name: str, content: bytes) -> None:
        """Begin to write an object. UnavailableError when an earlier one could not be written."""
        self._under_way.append(self._store.put(f"{self.url}/{name}", content))
        for _ in _taken(self._under_way, LANES):
            pass

    def finish(self) -> None:
        """Wait until everything is written."""
        for _ in _taken(self._under_way, 0):
            pass


def _taken(futures: deque[Future[T]], left: int) -> Iterator[T]:
    """The results of the first ones, until so many are left."""
    while len(futures) > left:
        yield futures.popleft().result()


@contextmanager
def _named(url: str) -> Iterator[None]:
    """The library's errors as ours: each leaves everything where it is, and the same may be tried again later."""
    try:
        yield
    except (BaseError, FileNotFoundError) as error:
        told = str(error).partition("\n\nDebug source")[0][:500]
        log.warning("trace_store_failed", url=url, detail=told)
        raise _unavailable(error, told, "/".join(url.split("/")[:3])) from error


def _unavailable(error: Exception, told: str, bucket: str) -> UnavailableError:
    # Of a list the library says no more than what it was answered.
    if isinstance(error, PermissionDeniedError | UnauthenticatedError) or "403 Forbidden" in told:
        why = "check DOWNLINK_S3_ACCESS_KEY and DOWNLINK_S3_SECRET_KEY, and what they allow"
        return UnavailableError("trace_store_refuses", f"The trace store {bucket} refuses this server: {why}.")
    if isinstance(error, FileNotFoundError) or "NoSuchBucket" in told:
        why = f"create {bucket}, or correct DOWNLINK_TRACE_STORE"
        return UnavailableError("trace_store_refuses", f"The trace store has no such bucket: {why}.")
    return UnavailableError("trace_store_away", f"The trace store {bucket} does not answer; try again in some seconds.")

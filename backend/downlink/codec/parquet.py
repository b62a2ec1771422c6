"""Columns of 64-bit integers as Parquet: how a sealed trace is kept and handed out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from downlink.codec.arrow import load_arrow
from downlink.codec.collector import Collector
from downlink.domain.errors import InvalidError

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

Ints = NDArray[np.int64]
Columns = dict[str, Ints]
BATCH_ROWS = 5_000


def columns_to_parquet(columns: Mapping[str, NDArray[np.int64]]) -> bytes:
    """One Parquet file of int64 columns of equal length, delta-encoded and zstd-compressed."""
    sink = load_arrow().BufferOutputStream()
    with _writer(sink, _table(columns).schema) as writer:
        writer.write_table(_table(columns))
    return bytes(sink.getvalue())


def joined(pieces: Sequence[Columns]) -> Columns:
    """Pieces of one trace, which have the same columns, one behind the other."""
    return {name: np.concatenate([piece[name] for piece in pieces]) for name in pieces[0]}


def parquet_to_columns(data: bytes) -> Columns:
    """All columns. Raises InvalidError `parquet_invalid` for bytes that are not such a file."""
    return trace_columns([data])


def check_parquet(data: bytes) -> None:
    """InvalidError `parquet_invalid` for bytes whose schema is not that of a trace: integers alone. No data is read."""
    arrow = load_arrow()
    with _refusing():
        schema = arrow.parquet.read_schema(arrow.BufferReader(data))
    if other := [field.name for field in schema if not arrow.types.is_integer(field.type)]:
        raise InvalidError("parquet_invalid", f"Column {other[0]} of this Parquet file holds no integers.")


def row_batches(part: bytes) -> Iterator[Columns]:
    """A part's columns, some thousand rows at a time. InvalidError `parquet_invalid` for bytes that are not one."""
    for batch in _batches(part):
        yield dict(zip(batch.schema.names, (column.to_numpy() for column in batch.columns), strict=True))


def _batches(part: bytes) -> Iterator[pa.RecordBatch]:
    with _refusing():
        yield from _opened(part).iter_batches(BATCH_ROWS, use_threads=False)


def _opened(part: bytes) -> pq.ParquetFile:
    arrow = load_arrow()
    return arrow.parquet.ParquetFile(arrow.BufferReader(part))


class ParquetTrace:
    """A whole trace, from its Parquet files in their order; each is opened once, however often columns are asked for.

    Raises InvalidError `parquet_invalid` for bytes that are not such files.
    """

    def __init__(self, parts: Sequence[bytes]) -> None:
        with _refusing():
            self._files = [_opened(part) for part in parts]
        self.names: tuple[str, ...] = tuple(self._files[0].schema_arrow.names) if self._files else ()

    def columns(self, names: Sequence[str] | None = None) -> Columns:
        """All of them, or those that are named."""
        wanted = list(self.names if names is None else names)
        with _refusing():
            tables = [file.read(wanted, use_threads=False) for file in self._files]
            whole = load_arrow().concat_tables(tables) if tables else load_arrow().table({})
            return {name: whole.column(name).to_numpy() for name in wanted}


def trace_columns(parts: Sequence[bytes], names: Sequence[str] | None = None) -> Columns:
    """The columns of a whole trace, as ParquetTrace reads them."""
    return ParquetTrace(parts).columns(names)


@contextmanager
def _refusing() -> Iterator[None]:
    arrow = load_arrow()
    try:
        yield
    except (arrow.ArrowException, OSError, UnicodeDecodeError) as error:  # the last of a column's name
        raise InvalidError("parquet_invalid", f"These bytes are not a Parquet file: {error}") from error


def join_parquet(parts: Iterable[bytes]) -> Iterator[bytes]:
    """One Parquet file of these, in pieces, a row group each: a trace to hand out. Needs at least one."""
    sink, writer = Collector(), None
    for batch in (batch for part in parts for batch in _batches(part)):
        writer = writer or _writer(sink, batch.schema)
        writer.write_batch(batch)
        yield sink.take()
    if writer is None:
        raise InvalidError("parquet_invalid", "A trace has at least one part.")
    writer.close()
    yield sink.take()


def _table(columns: Mapping[str, NDArray[np.int64]]) -> pa.Table:
    arrow = load_arrow()
    schema = arrow.schema([arrow.field(name, arrow.int64(), nullable=False) for name in columns])
    return arrow.table([arrow.array(values, arrow.int64()) for values in columns.values()], schema=schema)


def _writer(sink: pa.NativeFile | Collector, schema: pa.Schema) -> pq.ParquetWriter:
    # Statistics and dictionaries cost more here than they save: a part is always read whole. Arrow's own schema, 5 % of a
    # chunk's file, says nothing that Parquet's does not.
    return load_arrow().parquet.ParquetWriter(
        sink,
        schema,
        compression="zstd",
        compression_level=3,
        use_dictionary=False,
        write_statistics=False,
        store_schema=False,
        column_encoding="DELTA_BINARY_PACKED",
    )

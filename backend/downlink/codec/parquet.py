"""Columns of 64-bit integers as Parquet: how a sealed trace is kept and handed out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from downlink.codec.collector import Collector
from downlink.domain.errors import InvalidError

Ints = NDArray[np.int64]
Columns = dict[str, Ints]


def columns_to_parquet(columns: Mapping[str, NDArray[np.int64]]) -> bytes:
    """One Parquet file of int64 columns of equal length, delta-encoded and zstd-compressed."""
    sink = pa.BufferOutputStream()
    with _writer(sink, _table(columns).schema) as writer:
        writer.write_table(_table(columns))
    return bytes(sink.getvalue())


def parquet_to_columns(data: bytes) -> Columns:
    """All columns. Raises InvalidError `parquet_invalid` for bytes that are not such a file."""
    return trace_columns([data])


def trace_columns(chunks: Sequence[bytes], names: Sequence[str] | None = None) -> Columns:
    """The columns of a whole trace, or those that are named, from its Parquet chunks in their order.

    Raises InvalidError `parquet_invalid` for bytes that are not such chunks.
    """
    wanted = None if names is None else list(names)
    with _refusing():
        tables = [pq.ParquetFile(pa.BufferReader(chunk)).read(wanted, use_threads=False) for chunk in chunks]
        whole = pa.concat_tables(tables) if tables else pa.table({})
        return {name: whole.column(name).to_numpy() for name in wanted or whole.column_names}


def field_names(chunk: bytes) -> tuple[str, ...]:
    """The columns that a chunk has, in their order. InvalidError `parquet_invalid` for bytes that are not one."""
    with _refusing():
        return tuple(pq.read_schema(pa.BufferReader(chunk)).names)


@contextmanager
def _refusing() -> Iterator[None]:
    try:
        yield
    except (pa.ArrowException, OSError) as error:
        raise InvalidError("parquet_invalid", f"These bytes are not a Parquet file: {error}") from error


def join_parquet(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """One Parquet file with a row group for each chunk, in pieces: a trace to hand out. Needs at least one chunk."""
    sink, writer = Collector(), None
    for chunk in chunks:
        table = pq.read_table(pa.BufferReader(chunk), use_threads=False)
        writer = writer or _writer(sink, table.schema)
        writer.write_table(table)
        yield sink.take()
    if writer is None:
        raise InvalidError("parquet_invalid", "A trace has at least one chunk.")
    writer.close()
    yield sink.take()


def _table(columns: Mapping[str, NDArray[np.int64]]) -> pa.Table:
    schema = pa.schema([pa.field(name, pa.int64(), nullable=False) for name in columns])
    return pa.table([pa.array(values, pa.int64()) for values in columns.values()], schema=schema)


def _writer(sink: pa.NativeFile | Collector, schema: pa.Schema) -> pq.ParquetWriter:
    # Statistics and dictionaries cost more here than they save: a chunk is always read whole. Arrow's own schema, 5 % of a
    # chunk, says nothing that Parquet's does not.
    return pq.ParquetWriter(
        sink,
        schema,
        compression="zstd",
        compression_level=3,
        use_dictionary=False,
        write_statistics=False,
        store_schema=False,
        column_encoding="DELTA_BINARY_PACKED",
    )

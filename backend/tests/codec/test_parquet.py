import io

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from downlink.codec.parquet import columns_to_parquet, join_parquet, parquet_to_columns, trace_columns
from downlink.domain.errors import InvalidError

FIRST = {"elapsed_us": np.array([0, 5]), "rtt_us": np.array([7, 8])}
SECOND = {"elapsed_us": np.array([10]), "rtt_us": np.array([9])}
INT64 = st.integers(-(2**63), 2**63 - 1)


@given(st.lists(INT64, min_size=1, max_size=300))
def test_columns_survive_parquet(values: list[int]) -> None:
    data = columns_to_parquet({"app_bytes": np.array(values, np.int64)})
    assert parquet_to_columns(data)["app_bytes"].tolist() == values


def test_the_file_is_what_the_format_promises() -> None:
    meta = pq.ParquetFile(io.BytesIO(columns_to_parquet(FIRST))).metadata.row_group(0).column(0)
    assert meta.physical_type == "INT64"
    assert meta.compression == "ZSTD"
    assert "DELTA_BINARY_PACKED" in meta.encodings


def test_a_trace_is_its_chunks_one_after_the_other() -> None:
    chunks = [columns_to_parquet(FIRST), columns_to_parquet(SECOND)]
    assert trace_columns(chunks)["elapsed_us"].tolist() == [0, 5, 10]
    assert trace_columns(chunks)["rtt_us"].tolist() == [7, 8, 9]
    assert trace_columns([]) == {}


def test_a_joined_file_keeps_a_row_group_for_each_chunk() -> None:
    joined = b"".join(join_parquet([columns_to_parquet(FIRST), columns_to_parquet(SECOND)]))
    assert pq.ParquetFile(io.BytesIO(joined)).num_row_groups == 2
    assert parquet_to_columns(joined)["rtt_us"].tolist() == [7, 8, 9]


@pytest.mark.parametrize("data", [b"", b"PAR1", b"x" * 100, columns_to_parquet(FIRST)[:-9]])
def test_bytes_that_are_no_parquet_are_refused(data: bytes) -> None:
    with pytest.raises(InvalidError, match="not a Parquet"):
        parquet_to_columns(data)


def test_a_column_whose_name_is_not_utf8_is_refused() -> None:
    whole = columns_to_parquet(FIRST)
    place = whole.index(b"rtt_us")
    with pytest.raises(InvalidError, match="not a Parquet"):
        parquet_to_columns(whole[:place] + b"\xc6" + whole[place + 1 :])

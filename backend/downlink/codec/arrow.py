"""pyarrow, loaded when it is first used: it takes 40 MB, which a process without work does without."""

from __future__ import annotations

from functools import cache
from typing import Any


@cache
def load_arrow() -> Any:
    """Return the module `pyarrow`, with its parts `csv` and `parquet`."""
    import pyarrow as pa  # noqa: PLC0415
    import pyarrow.csv  # noqa: PLC0415
    import pyarrow.parquet  # noqa: PLC0415

    # Columns come and go with the process's other arrays: Arrow's own pool would give its pages back after each file.
    pa.set_memory_pool(pa.system_memory_pool())
    return pa

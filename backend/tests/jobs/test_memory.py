"""A worker keeps freed memory: arrays of the next run cost no page faults."""

from __future__ import annotations

import subprocess
import sys

FAULTS = """
import resource
import numpy as np
from downlink.jobs.memory import keep_freed_memory
{first}
def a_run():
    return len([np.ones(80_000) for _ in range(20)])
a_run()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(10):
    a_run()
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


def faults(first: str) -> int:
    found = subprocess.run(
        [sys.executable, "-c", FAULTS.format(first=first)], capture_output=True, text=True, check=True
    )
    return int(found.stdout)


def test_arrays_of_the_next_run_come_from_memory_that_is_there() -> None:
    given_back, kept = faults(""), faults("assert keep_freed_memory()")
    assert kept < given_back / 10, (kept, given_back)

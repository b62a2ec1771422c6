"""The handling of freed memory in a worker process."""

from __future__ import annotations

from ctypes import CDLL

MB = 1 << 20
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3  # malloc.h
KEPT_BYTES = 64 * MB
MOST_MMAP_BYTES = 32 * MB  # glibc refuses more (malloc/malloc.c, do_set_mmap_threshold)


def keep_freed_memory() -> bool:
    """Keep up to 64 MB of freed memory for the next arrays instead of giving each back at once. False: not under this C library.

    The samples of a run are tens of arrays of some hundred kilobytes. By its defaults, glibc returns them to the kernel as they
    are freed, and every run pays for a thousand page faults again (decision 0126).
    """
    mallopt = getattr(CDLL(None), "mallopt", None)
    if mallopt is None:
        return False
    return all([mallopt(M_TRIM_THRESHOLD, KEPT_BYTES), mallopt(M_MMAP_THRESHOLD, MOST_MMAP_BYTES)])

"""Work on what strangers wrote, in a process of its own: its memory is bounded, and it has none of the server's secrets."""

from __future__ import annotations

import os
import pickle
import resource
import subprocess
import sys
from collections.abc import Callable, Sequence
from typing import TypeVar, cast

T = TypeVar("T")
MOST_S = 600.0
OUT_OF_MEMORY = 3
KEPT = ("PATH", "LANG", "LC_ALL", "PYTHONPATH", "VIRTUAL_ENV")


class ApartError(Exception):
    """The work took more memory or time than it may."""


def call_apart(function: Callable[..., T], *arguments: object, files: Sequence[int], most_bytes: int) -> T:
    """Call a module's function in a new process, which has these open files, and return what it returns.

    most_bytes: of memory that it may write to. Raises ApartError, and what the function raises.
    """
    environment = {name: value for name, value in os.environ.items() if name in KEPT}
    with subprocess.Popen(
        [sys.executable, "-m", __name__, str(most_bytes)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        pass_fds=files,
        env=environment,
    ) as child:
        try:
            output, _ = child.communicate(pickle.dumps((function, arguments)), MOST_S)
        except subprocess.TimeoutExpired:
            child.kill()
            raise ApartError(f"reading takes longer than {MOST_S:g} s") from None
    if child.returncode == OUT_OF_MEMORY or child.returncode < 0:  # libraries written in C may die of it by a signal
        raise ApartError(f"reading takes more than {most_bytes // 2**20} MiB of memory")
    if child.returncode:
        raise RuntimeError(f"the process that reads files ended with status {child.returncode}")
    is_sound, result = pickle.loads(output)  # noqa: S301  (our own program's answer)
    if not is_sound:
        raise result
    return cast("T", result)


def main() -> None:
    """Do the work that standard input names, and answer on standard output. Out of memory, the process ends with OUT_OF_MEMORY."""
    most_bytes = int(sys.argv[1])
    resource.setrlimit(resource.RLIMIT_DATA, (most_bytes, most_bytes))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        function, arguments = pickle.load(sys.stdin.buffer)  # noqa: S301  (from the program that started this one)
        answer: tuple[bool, object] = True, function(*arguments)
    except MemoryError:
        sys.exit(OUT_OF_MEMORY)
    except Exception as error:
        answer = False, error
    pickle.dump(answer, sys.stdout.buffer, pickle.HIGHEST_PROTOCOL)


if __name__ == "__main__":
    main()

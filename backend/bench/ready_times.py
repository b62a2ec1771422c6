"""Time of `/readyz`, asked twenty times a second: `ready_times.py http://127.0.0.1:8400 30`.

A process of its own, without garbage to collect: in the loop of thousands of agents its own waits would be measured too.
"""

from __future__ import annotations

import gc
import json
import sys
import time
from http.client import HTTPConnection
from urllib.parse import urlsplit

EVERY_S = 0.05


def times_s(address: str, seconds: float) -> list[float]:
    connection = HTTPConnection(urlsplit(address).netloc, timeout=30)
    times = []
    for number in range(round(seconds / EVERY_S)):
        began = time.perf_counter()
        connection.request("GET", "/readyz")
        answer = connection.getresponse()
        answer.read()
        times.append(time.perf_counter() - began)
        if answer.status != 200:
            sys.exit(f"/readyz answered {answer.status} to request {number}")
        time.sleep(EVERY_S)
    return times


if __name__ == "__main__":
    gc.disable()
    print(json.dumps(times_s(sys.argv[1], float(sys.argv[2]))))

"""How long it takes to make 24 h of the reference path, looked at each second, on one core."""

from __future__ import annotations

import json
import time

from downlink.codec.path import encode_path
from downlink.constellation.asking import ready_path
from downlink.constellation.making import make_path

NAME = "beijing-new-york"
LIMIT_S = 240


def main() -> None:
    asked = ready_path(NAME, "bench")
    started, busy = time.perf_counter(), time.process_time()
    header, columns = make_path(asked)
    packed = encode_path(header, columns)
    taken_s, busy_s = time.perf_counter() - started, time.process_time() - busy
    remark = f"{len(columns['path']):,} rows, {len(packed) / 1e6:.2f} MB, {taken_s:.0f} s by the clock"
    row = {
        "name": "path of 24 h at 1 s",
        "value": busy_s,
        "unit": "s of one core",
        "goal": f"<= {LIMIT_S}",
        "remark": remark,
    }
    print(json.dumps(row))


if __name__ == "__main__":
    main()

"""An example of each body, by the name of its operation. Tests hold them against the schemas."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_CAMPAIGN = {
    "name": "HyStart on and off",
    "links": ["geo"],
    "stop": {"seconds": 60},
    "timetable": {"cycles": 10, "pause_s": 30},
    "conditions": [
        {"name": "HyStart on", "sender": {"tcp_cubic.hystart": 1}},
        {"name": "HyStart off", "sender": {"tcp_cubic.hystart": 0}},
    ],
}
_TEXT = """name: HyStart on and off
links: [geo]
stop: {seconds: 60}
timetable: {cycles: 10, pause_s: 30}
conditions:
  - {name: HyStart on, sender: {tcp_cubic.hystart: 1}}
  - {name: HyStart off, sender: {tcp_cubic.hystart: 0}}
"""
_HOST = {
    "boot_id": "0f6a7e0e-5b1f-4d6e-9d9e-0f3e5a8f1c11", "hostname": "client", "kernel": "6.18.44", "os": "Debian GNU/Linux 12",
    "arch": "amd64", "cpus": 2, "roles": ["receiver"], "congestion_controls": ["bbr", "cubic", "reno"],
    "settings": {"tcp_cubic.hystart": "1"}, "settings_writable": ["tcp_cubic.hystart"], "tcp_info_bytes": 280,
    "data_host": "203.0.113.7", "spool_free_bytes": 80_000_000_000,
}  # fmt: skip

EXAMPLES: Mapping[str, Any] = {
    "set_up": {"token": "dlu_from-the-set-up-link", "username": "admin", "password": "a long sentence of words"},
    "login": {"username": "admin", "password": "a long sentence of words"},
    "change_password": {"current": "a long sentence of words", "password": "another sentence of words"},
    "create_token": {"name": "Nightly export", "scopes": ["read"], "expires_in_days": 365},
    "create_share": {"name": "For our partners", "expires_in_days": 30},
    "call_trigger": {"value": 0.5},
    "decide_run": {"keeps": False, "why": "It went over the cable: the dish had no power."},
    "set_retention": {"traces_days": 90, "series_days": 730},
    "preview_retention": {"traces_days": 90},
    "remove_data": {"part": "traces"},
    "change_role": {"role": "viewer"},
    "end_means": {"kinds": ["token", "connection", "share"]},
    "connect": {"password": "a long walk by the sea"},
    "invite": {"name": "Dr. Ada Example", "role": "operator"},
    "open_invitation": {"secret": "dli_from-behind-the-link's-number-sign"},
    "accept_invitation": {
        "secret": "dli_from-behind-the-link's-number-sign", "username": "ada", "password": "a long sentence of words",
    },
    "open_share": {"secret": "dlv_from-behind-the-link's-number-sign"},
    "create_channel": {
        "name": "On call", "kind": "webhook", "target": "https://hooks.example/downlink",
        "topics": ["campaign_ended", "failures", "agent_gone"], "failures_in_row": 3,
    },
    "change_channel": {"is_enabled": False},
    "create_enrolment": {"name": "viasat-client", "expires_in_minutes": 60},
    "pause_agent": {"until": "2036-01-02T18:00:00Z", "why": "The dish is moved"},
    "create_link": {
        "name": "geo", "orbit": "GEO", "operator": "Viasat", "nominal_rate_bps": 144_000_000, "base_rtt_ms": 600,
        "receiver": "viasat-client", "senders": ["server-1"], "allowance_bytes": 100_000_000_000,
    },
    "change_link": {"allowance_bytes": None, "senders": ["server-1", "server-2"]},
    "create_path": {"ready": "beijing-new-york", "hours": 24},
    "start_quick_test": {"sender": 1},
    "preview_campaign": {"source": _TEXT},
    "create_campaign": {"campaign": _CAMPAIGN},
    "change_campaign": {"source": _TEXT},
    "annotate": {
        "link": "geo", "kind": "note", "text": "Rain", "from_at": "2026-01-02T12:00:00Z", "to_at": "2026-01-02T14:30:00Z",
    },
    "import_station": {
        "text": "time,weather.rain_mm_per_h\n2026-01-02T12:00Z,0.2\n2026-01-02T12:10Z,4.8\n", "source": "Roof",
    },
    "describe_campaign": {"notes": "Rain from noon on.", "tags": ["geo", "winter"]},
    "duplicate_campaign": {"name": "HyStart on and off, again"},
    "launch_campaign": {"even_if_offline": False},
    "import_files": {"files": ["flent-2026-01-02.flent.gz"], "campaign": "Runs of the winter", "skip_refused": False},
    "create_sweep": {
        "detector": "search", "version": "3.1", "grid": {"window_factor": [2.5, 3.5], "threshold_percent": [30, 35]},
    },
    "join": {"protocol": 2, "token": "dle_3q2-7wX0k9Zr", "name": "viasat-client", "version": "0.2.0", "host": _HOST},
    "poll": {
        "protocol": 2, "status": "idle", "run_id": None, "attempt": None, "detail": None, "progress": None, "spool": [],
        "host": None, "wait_s": 25,
    },
    "take_observations": {
        "link": "geo",
        "observations": [
            {"quantity": "dish.obstruction_ratio", "unit": "ratio", "source": "dish", "at": "2026-01-02T03:05:12Z", "value": 0.02},
        ],
    },
    "accept_event": {"kind": "uploaded", "attempt": 1, "at": "2026-01-02T03:05:12.200000Z"},
}  # fmt: skip

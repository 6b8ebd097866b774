"""One delivery in a process of its own, which the story kills."""

from __future__ import annotations

import sys
from datetime import datetime, timedelta

import omd

LEASE = timedelta(seconds=5)  # the default of five minutes would make the reader wait


def main(dsn: str, agreement: str, folder: str, at: str) -> None:
    """Deliver the flights of a month."""
    with omd.connect(dsn, lease=LEASE, application_name="omd demo") as control:
        control.delivery.deliver(
            agreement,
            files=folder,
            snapshot_datetime=datetime.fromisoformat(at),
            loads={"months": "DELTA", "flights": "FULL"},
        )


if __name__ == "__main__":
    main(*sys.argv[1:])

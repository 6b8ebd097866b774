"""A run window follows the clock on the wall, on the days of its change too."""

from __future__ import annotations

import pytest

from support.scene import Scene

SPRING, AUTUMN = "2026-03-29", "2026-10-25"  # at 01:00 UTC the clocks of Paris change


@pytest.mark.parametrize(
    ("window", "day", "opens"),
    [
        # The night is an hour shorter, or longer, but ends at six.
        ("22:00-06:00", SPRING, [("21:00", "04:00")]),
        ("22:00-06:00", AUTUMN, [("20:00", "05:00")]),
        # The clock shows no time between 02:00 and 03:00.
        ("02:15-02:45", SPRING, []),
        ("01:30-02:30", SPRING, [("00:30", "01:00")]),
        ("02:30-03:30", SPRING, [("01:00", "01:30")]),
        # The clock shows each time between 02:00 and 03:00 twice.
        ("02:15-02:45", AUTUMN, [("00:15", "00:45"), ("01:15", "01:45")]),
        ("01:30-02:30", AUTUMN, [("23:30", "00:30"), ("01:00", "01:30")]),
    ],
)
def test_a_window_on_the_day_the_clocks_change(
    scene: Scene, window: str, day: str, opens: list[tuple[str, str]]
) -> None:
    """The times at which it is open, in UTC, from 20:00 of the day before on."""
    found = scene.rows(
        "SELECT to_char(min(t.at) AT TIME ZONE 'UTC', 'HH24:MI') AS since,"
        " to_char((max(t.at) + interval '15 minutes') AT TIME ZONE 'UTC', 'HH24:MI') AS until"
        " FROM (SELECT m.at, m.n - row_number() OVER (ORDER BY m.at) AS island"
        "  FROM (SELECT n, (%s::date - interval '4 hours' + n * interval '15 minutes')"
        "   AT TIME ZONE 'UTC' AS at FROM generate_series(0, 47) AS n) AS m"
        "  WHERE omd_lineage._in_run_window(%s, m.at)) AS t"
        " GROUP BY t.island ORDER BY min(t.at)",
        day,
        f"{window} Europe/Paris",
    )
    assert [(row["since"], row["until"]) for row in found] == opens

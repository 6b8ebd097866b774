"""The rooms and the engines; this is the only place that names them all.

A room ``x`` is the package ``omd.x`` over the schema ``omd_x`` (process control: ``omd``). It has
the modules ``calls`` and ``rows``, which ``tools/generate.py`` writes.
"""

from omd._core.engines import POSTGRES, SPARK

# A room comes after those that it uses.
ROOMS = (
    "control", "lake", "lineage", "dispatch", "delivery", "facts", "decision", "provenance",
    "event",
)  # fmt: skip

# The rooms with a door, `control.x`: where Python must do what SQL can't.
DOORS = ("delivery", "facts", "decision", "provenance")

# Routines that a door has as methods too; all of them are behind `control.calls`.
PUBLIC: dict[str, tuple[str, ...]] = {}

# Each engine, its module, and the library that a process has imported when it has a session of it.
ENGINES: dict[str, tuple[str, str | None]] = {
    POSTGRES: ("omd.doors.postgres", None),
    SPARK: ("omd.spark.engine", "pyspark.sql"),
}


def schema_of(room: str) -> str:
    """Return the schema of a room."""
    return "omd" if room == "control" else f"omd_{room}"

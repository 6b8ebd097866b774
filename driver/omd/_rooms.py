"""The rooms of the house, and the engines; the one place that names them all.

A room ``x`` is the package ``omd.x`` over the schema ``omd_x`` (process control: ``omd``). It has
``calls`` and ``rows``, which ``tools/generate.py`` writes, ``errors`` and ``cli`` where there are
any, and in ``room`` the class ``X``, its door: ``control.x``. The generator writes the doors too.
"""

# Each room and its title in `omd --help`, the lower ones first.
ROOMS = {
    "control": "Batches and Modules",
    "lineage": "Lineage",
}

# Engine: its module, and the library that is imported where it is in use.
ENGINES = {
    "SPARK": ("omd.spark.engine", "pyspark.sql"),
}


def schema_of(room: str) -> str:
    """The schema of a room."""
    return "omd" if room == "control" else f"omd_{room}"

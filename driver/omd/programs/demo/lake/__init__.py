"""The demo of lake tables: the year of flights once more, into Iceberg tables.

``jobs.py`` holds what a team writes, ``story.py`` lets things go wrong. ``reader.py`` is somebody
else, who knows the tables only as Iceberg tables. Spark and that reader execute the same
``proof.sql``, and ``proof.py`` compares what they find with the source files.
"""

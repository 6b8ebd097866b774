"""Staging: what was handed over, as one DataFrame per entity, and nothing lost on the way.

`stage` takes a source and returns `Staged` rows by entity. A reader reads one entity:

    Reader                  reader.py   what all readers have in common
    ├── FileReader          reader.py   files, whose names `formats.py` knows and `files.py` finds
    │   ├── LineReader      lines.py    text, line by line
    │   │   ├── CsvReader   csv.py      with csv_dialect.py, csv_records.py, csv_regular.py
    │   │   └── JsonReader  json.py
    │   └── ParquetReader   parquet.py
    ├── FrameReader         frame.py    a DataFrame, or a staging table
    └── DerivedReader       derived.py  a query over other entities

Where the agreement keeps lines, `places.py` says which line of which file a row is.
"""

from typing import TYPE_CHECKING

from omd._core.lazy import lazily

if TYPE_CHECKING:
    from omd.spark.delivery.staging.entities import stage as stage
    from omd.spark.delivery.staging.formats import names_in as names_in
    from omd.spark.delivery.staging.lines import unmarked as unmarked
    from omd.spark.delivery.staging.session import working as working
    from omd.spark.delivery.staging.session import working_session as working_session
    from omd.spark.delivery.staging.staged import Staged as Staged

# A worker of Spark needs csv_records.py alone, and should not wait for the other files.
__all__, __getattr__, __dir__ = lazily(
    __name__,
    {
        "omd.spark.delivery.staging.entities": ["stage"],
        "omd.spark.delivery.staging.formats": ["names_in"],
        "omd.spark.delivery.staging.lines": ["unmarked"],
        "omd.spark.delivery.staging.session": ["working", "working_session"],
        "omd.spark.delivery.staging.staged": ["Staged"],
    },
)

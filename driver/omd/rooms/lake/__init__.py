"""Lake: which files of an Iceberg or Delta table a run wrote (schema omd_lake).

It needs the extra ``lake``.
"""

from typing import TYPE_CHECKING

from omd._core.lazy import lazily

if TYPE_CHECKING:
    from omd.tables.iceberg_catalog import catalog as catalog

__all__, __getattr__, __dir__ = lazily(__name__, {"omd.tables.iceberg_catalog": ["catalog"]})

"""The catalog of lake tables for pyiceberg. It needs the extra lake."""

from typing import TYPE_CHECKING

from omd._core.lazy import lazily

if TYPE_CHECKING:
    from omd.tables.iceberg_catalog import catalog as catalog

__all__, __getattr__, __dir__ = lazily(__name__, {"omd.tables.iceberg_catalog": ["catalog"]})

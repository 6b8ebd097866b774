"""No file of tests finds a Spark session that another file has left in the process.

A run takes the active session for its own, and then writes without the fence of the driver. The
data path shares one session between its files: it is in a process of its own.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="module", autouse=True)
def no_session_stays(request: pytest.FixtureRequest) -> Iterator[None]:
    """Stop the Spark session that is still active when a file has ended."""
    yield
    pyspark = sys.modules.get("pyspark.sql")
    if pyspark is None or request.path.parent.name == "spark":
        return
    session = pyspark.SparkSession.getActiveSession()
    if session is not None:
        session.stop()

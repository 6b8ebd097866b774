"""Which errors fail a task of Airflow for good, and which it tries again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import omd
from omd.integrations.airflow.names import AirflowException, AirflowFailException
from omd.integrations.airflow.tasks import is_mistake


@contextmanager
def mistakes_fail() -> Iterator[None]:
    """Fail the task for good where an error of the block is a mistake, which no try mends."""
    try:
        yield
    except omd.errors.OmdError as error:
        if is_mistake(error):
            raise AirflowFailException(str(error)) from error
        raise


def raise_of(event: Mapping[str, Any]) -> None:
    """Raise the error that a trigger has sent, if it has sent one."""
    if "error" in event:
        raised = AirflowFailException if event["is_final"] else AirflowException
        raise raised(event["error"])

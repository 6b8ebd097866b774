"""The names of Airflow that have moved since 3.0."""

from __future__ import annotations

try:
    from airflow.sdk import BaseHook
except ImportError:
    from airflow.hooks.base import BaseHook

try:
    from airflow.sdk.exceptions import (
        AirflowException,
        AirflowFailException,
        AirflowRescheduleException,
        AirflowSkipException,
        TaskDeferralTimeout,
    )
except ImportError:
    from airflow.exceptions import (
        AirflowException,
        AirflowFailException,
        AirflowRescheduleException,
        AirflowSkipException,
        TaskDeferralTimeout,
    )

__all__ = [
    "AirflowException",
    "AirflowFailException",
    "AirflowRescheduleException",
    "AirflowSkipException",
    "BaseHook",
    "TaskDeferralTimeout",
]

"""The link from a task of Airflow to its run on the page of OMD."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from airflow.sdk import BaseOperatorLink

from omd._core.calls import Reports


@dataclass(frozen=True, slots=True)
class _Setting:
    view: ClassVar[str] = "omd_event.setting"

    web_url: str | None


class OmdRunLink(BaseOperatorLink):
    """The link "OMD run": where omd_event.configure has named the page of OMD."""

    name = "OMD run"

    def get_link(self, operator: Any, *, ti_key: Any) -> str:
        """Return the link of the run that the operator has begun; empty: there is none."""
        return getattr(operator, "run_link", "")


def link_of(calls: Reports, subject: str, instance_id: int | None) -> str:
    """Return the link of an instance; empty: there is none, or no page."""
    (setting,) = calls.report(_Setting)
    if setting.web_url is None or instance_id is None:
        return ""
    return f"{setting.web_url.rstrip('/')}/run/{subject}/{instance_id}"

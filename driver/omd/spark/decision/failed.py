"""The failure of a run, as the operator raises it."""

from __future__ import annotations

from typing import Any


class Failed(Exception):  # noqa: N818 - it never leaves the operator
    """The run can't go on: the SQLSTATE of its error, and the DETAIL."""

    def __init__(self, sqlstate: str, **detail: Any) -> None:
        super().__init__(sqlstate)
        self.sqlstate = sqlstate
        self.detail = detail

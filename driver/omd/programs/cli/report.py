"""Commands that report what runs, what happened and what needs attention (rule P17)."""

from __future__ import annotations

import click

from omd.programs.report.explain import explain
from omd.programs.report.metrics import metrics
from omd.programs.report.platform import platform
from omd.programs.report.status import status
from omd.programs.report.trace import trace
from omd.programs.report.work import work

commands: list[click.Command] = [
    status, work, platform, trace, explain, metrics,
]  # fmt: skip

"""Commands that report what runs, what happened and what needs attention (rule P17)."""

from __future__ import annotations

import click

from omd.programs.report.explain import explain
from omd.programs.report.log import log
from omd.programs.report.show import show
from omd.programs.report.status import status
from omd.programs.report.trace import trace
from omd.programs.report.work import retry

commands: list[click.Command] = [
    status, show, retry, log, trace, explain,
]  # fmt: skip

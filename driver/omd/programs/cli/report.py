"""Commands that report what runs, what happened and what needs attention (rule P17)."""

from __future__ import annotations

import click

from omd.programs.report.explain import explain
from omd.programs.report.trace import trace

commands: list[click.Command] = [trace, explain]

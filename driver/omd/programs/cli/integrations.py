"""The former commands have gone; main.py names this module still."""

from __future__ import annotations

import click

commands: list[click.Command] = []

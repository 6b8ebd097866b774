"""A process of Dagster Pipes: it runs the Module that its arguments name."""

from __future__ import annotations

import sys

import omd
from omd.integrations.dagster import omd_pipes

with omd.connect() as control, omd_pipes(control, sys.argv[1]) as run:
    run.rows(inserted=7)
    if sys.argv[2:] == ["fail"]:
        raise ValueError("it fails on purpose")

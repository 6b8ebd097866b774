"""The jobs of a file of OpenLineage events, each of which is a Module that another program runs."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click

from omd._core.documents import problem_of
from omd.programs.terminal.yaml_file import bounded_text

Datasets = dict[str, None]  # names in the order of their coming


@dataclass(frozen=True, slots=True)
class Job:
    """What the events of a job say."""

    namespaces: Datasets = field(default_factory=dict)
    inputs: Datasets = field(default_factory=dict)  # tables
    outputs: Datasets = field(default_factory=dict)  # tables
    odd: Datasets = field(default_factory=dict)  # datasets that are no tables


def read_jobs(path: Path) -> dict[str, Job]:
    """Return the jobs of a file that make a table, by their names.

    The file has an event, a list of events, or an event on each line. A dataset is the table that
    the last two parts of its name are.

    Raises:
        click.UsageError: it is no such file, or a job does not say which one table it makes.
    """
    jobs: dict[str, Job] = {}
    try:
        for event in _events(bounded_text(path)):
            if "job" in event:  # an event of a dataset has none
                _read(event, jobs)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise click.UsageError(
            f"{path} is no file of OpenLineage events ({type(error).__name__}: {error})"
        ) from None
    jobs = {name: job for name, job in jobs.items() if job.inputs or job.outputs or job.odd}
    left = [f"{path}: {problem}" for name, job in jobs.items() for problem in _open(name, job)]
    if left:
        raise click.UsageError("\n".join(["these are left to decide:", *left]))
    return jobs


def _events(text: str) -> list[Any]:
    try:
        whole = json.loads(text)
        events = whole if isinstance(whole, list) else [whole]
    except ValueError:
        events = [json.loads(line) for line in text.splitlines() if line.strip()]
    if problem := problem_of(events):
        raise ValueError(": ".join(problem))
    return events


def _read(event: dict[str, Any], jobs: dict[str, Job]) -> None:
    job = jobs.setdefault(str(event["job"]["name"]), Job())
    job.namespaces[str(event["job"].get("namespace"))] = None
    for datasets, tables in (("inputs", job.inputs), ("outputs", job.outputs)):
        for dataset in event.get(datasets) or ():
            name = str(dataset["name"])
            parts = name.split(".")
            if len(parts) in (2, 3) and all(parts):
                tables[".".join(parts[-2:])] = None
            else:
                job.odd[name] = None


def _open(name: str, job: Job) -> list[str]:
    """Return what a job leaves to decide."""
    left = [f"{name}: the dataset {odd} is no table" for odd in job.odd]
    if len(job.outputs) != 1:
        makes = ", ".join(job.outputs) or "no table"
        left.append(f"{name}: it makes {makes}, and a Module makes one table")
    if len(job.namespaces) > 1:
        left.append(f"{name}: jobs of {', '.join(job.namespaces)} have this name")
    return left

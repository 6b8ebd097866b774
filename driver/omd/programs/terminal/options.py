"""The options that commands share, and the values that they read."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import datetime
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, TypeVar

import click

from omd._core.texts import loads

F = TypeVar("F", bound=Callable[..., Any])


def format_option(*formats: str) -> Callable[[F], F]:
    """Add ``--output``; the command gets it as ``output``, by default the first of the formats."""
    return click.option(
        "--output",
        type=click.Choice(formats),
        default=formats[0],
        show_default=True,
        help="Format of what is printed to stdout.",
    )


# A command hands its ``output`` to `render`; a document has more than one table.
output_option = format_option("table", "json", "csv")
document_option = format_option("table", "json")

files_argument = click.argument(
    "files",
    metavar="FILE...",
    nargs=-1,
    required=True,
    type=click.Path(exists=True, dir_okay=False, readable=True, path_type=Path),
)


_UNITS = {"ms": 0.001, "s": 1, "m": 60, "min": 60, "h": 3600}


def seconds(_ctx: click.Context, _parameter: click.Parameter, given: str | None) -> float | None:
    """Read a duration: seconds, or with a unit."""
    if given is None:
        return None
    given_as = re.fullmatch(r"\s*([0-9]+(?:[.][0-9]+)?)\s*(ms|s|m|min|h)?\s*", given)
    read = float(given_as[1]) * _UNITS[given_as[2] or "s"] if given_as else 0
    if not 0 < read <= 86400:
        raise click.BadParameter("It is a duration above 0, as 500ms, 2s or 1min.")
    return read


def page_option(name: str, text: str) -> Callable[[F], F]:
    """Add an option for the file of a page for people; the command gets it as ``page``."""
    return click.option(
        name,
        "page",
        type=click.Path(dir_okay=False, writable=True, path_type=Path),
        metavar="FILE" if name == "--html" else "FILE.html",
        help=text,
    )


def json_value(_ctx: click.Context, _parameter: click.Parameter, given: str | None) -> Any:
    """Return a value of the command line that is JSON."""
    if given is None:
        return None
    try:
        return loads(given)
    except ValueError as error:
        raise click.BadParameter(f"{given} is no JSON: {error}") from error


def instant(_ctx: click.Context, _parameter: click.Parameter, given: str | None) -> datetime | None:
    """Return an instant of the command line; without a zone it is a local time."""
    if given is None:
        return None
    try:
        at = datetime.fromisoformat(given.replace("Z", "+00:00"))
    except ValueError as error:
        raise click.BadParameter(f"{given} is not like 2013-07-01T00:00:00+02:00") from error
    return at.astimezone()


def is_chosen(name: str, globs: Sequence[str]) -> bool:
    """Return whether a name matches one of these patterns; without patterns, every name does."""
    return not globs or any(fnmatchcase(name, glob) for glob in globs)

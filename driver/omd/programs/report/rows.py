"""``omd report`` shows rows of any view, and without one which views there are."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from omd.programs.cli.common import dsn_option, open_link, proposals
from omd.programs.report.metrics import answer_scrapes, listen_option, text
from omd.programs.terminal.commands import ExitCode, meant
from omd.programs.terminal.tables import render, show_table, tell_more

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from omd._core.catalogue import Condition, Named
    from omd._core.link import Link

_IN_TERMINAL = 100  # rows that a terminal shows

_CONDITION = re.compile(r"(\w+)(!=|<=|>=|=|<(?!>)|>|~)(.*)", re.DOTALL)
_SYMBOLS = {"!=": "<>"}

# Those that only one view has.
_OF_ONE = {"prometheus": "metrics", "mermaid": "flow"}
_NO_CODES = "is_per_code=false"  # the only condition of metrics for Prometheus
_PAGE = "The page for people is written by: omd status --html FILE"


class _Output(click.Choice[str]):
    """A format; who names a file, as of the former command, learns where the page is now."""

    def fail(
        self,
        message: str,
        param: click.Parameter | None = None,
        ctx: click.Context | None = None,
    ) -> NoReturn:
        super().fail(f"{message} {_PAGE}", param, ctx)


def _former(_context: click.Context, _parameter: click.Parameter, value: str | None) -> None:
    if value is not None:
        raise click.UsageError(_PAGE)


def _complete_view(
    context: click.Context, _parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    from omd._core import catalogue

    return proposals(
        context,
        lambda link: {name: _first(comment) for name, comment in catalogue.views(link).items()},
        incomplete,
    )


def _complete_where(
    context: click.Context, _parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    from omd._core import catalogue

    # The option without its value has ended the reading, so the view may stand among the rest.
    view = context.params.get("view") or next(iter(context.args), "")
    return proposals(
        context,
        lambda link: {
            f"{name}=": comment for name, (_, comment) in catalogue.columns(link, view).items()
        },
        incomplete,
    )


@click.command()
@click.argument("view", required=False, shell_complete=_complete_view)
@dsn_option
@click.option(
    "--where",
    "where",
    multiple=True,
    metavar="CONDITION",
    shell_complete=_complete_where,
    help="Only rows with column=value, or with != < <= > >= ~ instead of =; ~ is a regular"
    " expression, and column~null is NULL. It may be repeated: all must hold.",
)
@click.option("--limit", type=click.IntRange(1), help="At most so many rows.")
@click.option("--newest", is_flag=True, help="The newest rows first.")
@click.option(
    "--output",
    type=_Output(["table", "json", "csv", *_OF_ONE]),
    default="table",
    show_default=True,
    help="Format of what is printed to stdout; prometheus is of metrics, mermaid of flow.",
)
@click.option("--fail", "fails", is_flag=True, help="End with 1 when there is a row.")
@click.option(
    "--files",
    "folder",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Write there what other tools read: alerts for Prometheus, a dashboard for Grafana, a"
    " configuration of sql_exporter, and the package of dbt.",
)
@listen_option
@click.option("--since", hidden=True, expose_value=False, callback=_former, help="It has gone.")
def report(
    view: str | None,
    dsn: str,
    where: tuple[str, ...],
    limit: int | None,
    newest: bool,
    output: str,
    fails: bool,
    folder: Path | None,
    listen: tuple[str, int] | None,
) -> ExitCode:
    """Show the rows of any view of omd_report; without a view, which there are.

    In a terminal a table has at most 100 rows, unless --limit says otherwise. Metrics without a
    series for each code: --where is_per_code=false.

    \b
    Examples:
      omd report module_list --where module_code=m_orders
      omd report failures --newest --limit 10
      omd report problems --where severity=ERROR --fail      for a monitor
      omd report metrics --output prometheus --listen 9464
      omd report --files monitoring                          alerts, a dashboard, dbt's package
    """
    view = None if view is None else view.removeprefix("omd_report.")
    if view is None and (where or newest or fails or output in _OF_ONE):
        raise click.UsageError("Name a VIEW; omd report shows which there are.")
    if folder is not None and (view, listen, limit, output) != (None, None, None, "table"):
        raise click.UsageError("--files stands alone: omd report --files DIR")
    no_codes = output == "prometheus" and where == (_NO_CODES,)
    if output in _OF_ONE:
        if view != _OF_ONE[output]:
            raise click.UsageError(f"Only {_OF_ONE[output]} has --output {output}.")
        if (where and not no_codes) or newest or limit is not None or fails:
            raise click.UsageError(f"--output {output} shows the view whole.")
    if listen is not None and output != "prometheus":
        raise click.UsageError("--listen is for: omd report metrics --output prometheus")
    if listen is not None:
        answer_scrapes(dsn, listen, no_codes=no_codes)
        return ExitCode.OK
    with open_link(dsn) as link:
        if folder is not None:
            _write_files(link, folder)
            return ExitCode.OK
        if view is None:
            _show_views(link, output, limit)
            return ExitCode.OK
        if output == "prometheus":
            from omd._core.calls import Calls

            click.echo(text(Calls(link), no_codes=no_codes), nl=False)
            return ExitCode.OK
        if output == "mermaid":
            _draw(link)
            return ExitCode.OK
        known = _columns(link, view)
        if limit is None and output == "table" and sys.stdout.isatty():
            limit = _IN_TERMINAL
        rows = _rows(link, view, known, where, newest, limit)
    if output == "table":
        show_table(rows, list(known))
    else:
        render(rows, list(known), output)
    tell_more(rows, limit)
    return ExitCode.FAILURE if fails and rows else ExitCode.OK


def _show_views(link: Link, output: str, limit: int | None) -> None:
    from omd._core import catalogue

    listed = [
        {"view": name, "what": _first(comment)} for name, comment in catalogue.views(link).items()
    ]
    render(listed[:limit], ["view", "what"], output)


def _first(comment: str) -> str:
    """Return the first sentence of a COMMENT."""
    return re.split(r"(?<=\.)\s", " ".join(comment.split()), maxsplit=1)[0]


def _columns(link: Link, view: str) -> Mapping[str, Named]:
    """Return the columns of a public view.

    Raises:
        CallerError: there is no such view.
    """
    from omd._core import catalogue
    from omd._core.errors import CallerError

    known = catalogue.views(link)
    if view not in known:
        raise CallerError(
            f"there is no public view omd_report.{view}",
            hint=meant(view, list(known), "omd report") or "All are shown by: omd report",
        )
    return {name: column for name, (column, _) in catalogue.columns(link, view).items()}


def _rows(
    link: Link,
    view: str,
    known: Mapping[str, Named],
    where: Sequence[str],
    newest: bool,
    limit: int | None,
) -> list[dict[str, Any]]:
    from omd._core import catalogue

    rows = catalogue.rows_of_view(
        link,
        view,
        known,
        [_condition(view, known, given) for given in where],
        newest_by=_newest_by(view, known) if newest else None,
        limit=limit,
    )
    return [dict(zip(known, row, strict=True)) for row in rows]


def _condition(view: str, known: Mapping[str, Named], given: str) -> Condition:
    """Return a condition of the command line.

    Raises:
        click.UsageError: it is none.
        CallerError: the view has no such column.
    """
    from omd._core.catalogue import Condition
    from omd._core.errors import CallerError

    match = _CONDITION.fullmatch(given)
    if match is None:
        raise click.UsageError(
            f"{given!r} is no condition: it is like column=value, with = != < <= > >= or ~."
        )
    name, symbol, value = match.groups()
    if name not in known:
        near = meant(name, list(known), f"omd report {view} --where")
        raise CallerError(
            f"omd_report.{view} has no column {name}",
            hint=near or f"It has {', '.join(known)}.",
        )
    if (symbol, value) == ("~", "null"):
        return Condition(known[name], symbol, None)
    return Condition(known[name], _SYMBOLS.get(symbol, symbol), value)


def _newest_by(view: str, known: Mapping[str, Named]) -> str:
    """Return the column that grows: a number in the first place, or else the first instant.

    Raises:
        click.UsageError: there is none.
    """
    names = list(known)
    if known[names[0]].shown in ("bigint", "integer"):
        return names[0]
    for name, column in known.items():
        if column.shown in ("timestamp with time zone", "date"):
            return name
    raise click.UsageError(f"omd_report.{view} has no column that says which rows are the newest.")


def _draw(link: Link) -> None:
    from omd._core.calls import Calls
    from omd.programs.page.graph import as_mermaid
    from omd.programs.report.flow import flow
    from omd.rooms.report.rows import FlowNodesRow, FlowRow

    calls = Calls(link)
    shown = flow(calls.report(FlowRow), calls.report(FlowNodesRow))
    if shown.rows:
        click.echo(as_mermaid(*shown.drawn()))
    else:
        click.echo("(none)", err=True)


def _write_files(link: Link, folder: Path) -> None:
    from omd._core.calls import Calls
    from omd.programs.report.metric_files import write
    from omd.rooms.event.rows import MetricListRow

    for path in write(folder, Calls(link).report(MetricListRow)):
        click.echo(path)

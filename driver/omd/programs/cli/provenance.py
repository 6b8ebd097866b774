"""The commands of provenance: taking back with all that was made of it, and erasing.

No key of a person is printed, nor named in an error.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, TypeVar, cast

import click

from omd.programs.cli.common import add_call, dsn_option, opener
from omd.programs.terminal.commands import ExitCode, Sections
from omd.programs.terminal.options import (
    document_option,
    instant,
    limit_option,
    output_option,
)
from omd.programs.terminal.tables import (
    show,
    show_document,
    show_pairs,
    tell_more,
    titled,
)
from omd.programs.terminal.text import row_dict
from omd.rooms.control.codes import exit_code
from omd.rooms.provenance.calls import ProvenanceCalls
from omd.rooms.provenance.rows import ErasureItemsRow, RecallsRow

F = TypeVar("F", bound=Callable[..., Any])

_open = opener(lambda control: control.provenance)

_ITEMS = titled(
    "position AS pos, action, module_instance_id AS run, module_code AS module,"
    " table_code AS table, relation, because_of AS because, is_exact AS exact, rows_go, rows_back,"
    " comes_again, problem"
)
_RETURNS = titled(
    "position AS pos, code, return_status AS status, former_delivery_id AS former,"
    " snapshot_datetime AS data of, delivery_id AS delivery, module_instance_id AS run, problem"
)
_RECALLS = titled(
    "recall_id AS id, recall_status AS status, target, reason, items, blocked, rows_go, rows_gone,"
    " planned_by, planned_datetime AS planned, executed_datetime AS executed"
)


@click.group(cls=Sections)
def recall() -> None:
    """Take a bad delivery or run back, with all that was made of it.

    \b
    Examples:
      omd recall delivery 7 --reason "of another branch"       what would go, and why
      omd recall execute 3 --accept BY_HAND                    takes it back, in one transaction
      omd recall run 4711 --reason "wrong rate" --execute      plans and takes back at once
      omd recall show 3                                        what went, and what comes again
    """


def _planning(command: F) -> F:
    """Add the options of every plan."""
    for option in reversed(
        [
            click.option("--reason", required=True, metavar="TEXT", help="Why, for the record."),
            click.option(
                "--await-correction",
                "awaits_correction",
                is_flag=True,
                help="The target itself is to come again, by hand; what stands on it waits for it.",
            ),
            click.option("--execute", is_flag=True, help="Plan and take back, in one transaction."),
            _accept,
            _wait,
            dsn_option,
            output_option,
        ]
    ):
        command = option(command)
    return command


_accept = click.option(
    "--accept",
    multiple=True,
    metavar="ACTION",
    help="An action of the plan that needs consent: BY_HAND, GIVE_UP, WITHDRAW, PENDING or"
    " UNKNOWN; GROWTH: what has come since the plan goes too. Once per action.",
)
_wait = click.option(
    "--wait",
    type=click.FloatRange(min=0),
    default=60,
    show_default=True,
    metavar="SECONDS",
    help="For how long it waits for runs at work.",
)

recall.section("Plan")


@recall.command()
@click.argument("delivery_id", metavar="ID", type=int)
@_planning
def delivery(**given: Any) -> int:
    """Plan to take a delivery back."""
    return _plan(**given)


@recall.command()
@click.argument("module_instance_id", metavar="ID", type=int)
@_planning
def run(**given: Any) -> int:
    """Plan to take a run back; that of an entity means its delivery."""
    return _plan(**given)


@recall.command()
@click.argument("batch_instance_id", metavar="ID", type=int)
@_planning
def batch(**given: Any) -> int:
    """Plan to take the runs of a Batch Instance back."""
    return _plan(**given)


@recall.command()
@click.argument("agreement_code", metavar="CODE")
@click.option(
    "--since",
    required=True,
    callback=instant,
    metavar="INSTANT",
    help="From this snapshot on; without a zone it is local.",
)
@_planning
def agreement(agreement_code: str, since: datetime, **given: Any) -> int:
    """Plan to take the deliveries of an agreement back, from a snapshot on."""
    return _plan(agreement_code=agreement_code, since=since, **given)


@recall.command()
@_planning
def stale(**given: Any) -> int:
    """Plan to take back all runs that stand although what they read does not."""
    return _plan(is_stale=True, **given)


def _plan(
    dsn: str, output: str, execute: bool, accept: tuple[str, ...], wait: float, **target: Any
) -> int:
    with _open(dsn) as room:
        if execute:
            done = room._recall_at_once(**target, accept=accept, wait=timedelta(seconds=wait))
            show(room._items(done.recall_id), _ITEMS, output)
            _tell(done.recall_id, done.rows_gone, done.rows_returned)
            return ExitCode.OK
        planned = room._calls.plan_recall(**target)
        show(room._items(planned.recall_id), _ITEMS, output)
    blocked = f", {planned.blocked:,} of them in the way" if planned.blocked else ""
    click.echo(
        f"Recall {planned.recall_id} is planned: {planned.items:,} items{blocked}. Nothing has"
        f" happened yet: omd recall execute {planned.recall_id}",
        err=True,
    )
    return ExitCode.FAILURE if planned.blocked else ExitCode.OK


def _tell(recall_id: int, rows_gone: int, rows_returned: int) -> None:
    click.echo(
        f"Recall {recall_id} is executed: {rows_gone:,} rows went, {rows_returned:,} came back.",
        err=True,
    )


recall.section("Act")


@recall.command()
@click.argument("recall_id", metavar="ID", type=int)
@_accept
@_wait
@dsn_option
@output_option
def execute(recall_id: int, accept: tuple[str, ...], wait: float, dsn: str, output: str) -> int:
    """Execute a planned recall: all of its plan is taken back in one transaction, or nothing."""
    with _open(dsn) as room:
        done = room.recall(recall_id, accept=accept, wait=timedelta(seconds=wait))
        show(room._items(recall_id), _ITEMS, output)
    if done.succeeded:
        _tell(recall_id, done.facts["rows_gone"], done.facts["rows_returned"])
    else:
        click.echo(f"Recall {recall_id}: {done.detail}", err=True)
    return exit_code(done.status)


recall.section("What comes again")
add_call(
    recall,
    "drop",
    ProvenanceCalls.drop_return,
    about="Say that an entry of what must come again will not come: what waits for it goes on.",
    done="Entry {position} of recall {recall_id} is dropped.",
)


@recall.command()
@click.argument("recall_id", metavar="ID", type=int)
@dsn_option
@document_option
def redeliver(recall_id: int, dsn: str, output: str) -> None:
    """Create the next delivery that a recall wants to come again from its files, for a worker."""
    with _open(dsn) as room:
        answer = room._calls.redeliver(recall_id)
    values = row_dict(answer)
    if output == "json":
        show_document(values)
    else:
        show_pairs(values)


recall.section("What there is")


@recall.command("list")
@dsn_option
@output_option
@limit_option()
def list_recalls(dsn: str, output: str, limit: int | None) -> None:
    """Show the recalls, planned and executed, the newest last."""
    with _open(dsn) as room:
        rows = room._calls.report(RecallsRow, order_by=["recall_id"], descending=True, limit=limit)
    show(rows[::-1], _RECALLS, output)
    tell_more(rows, limit)


@recall.command("show")
@click.argument("recall_id", metavar="ID", type=int)
@dsn_option
@document_option
def show_recall(recall_id: int, dsn: str, output: str) -> None:
    """Show a recall: its plan, and what of it comes again."""
    with _open(dsn) as room:
        shown = room._recall_of(recall_id)
        items = room._items(recall_id)
        returns = room._returns(recall_id)
    if output == "json":
        show_document(
            {
                **row_dict(shown),
                "plan": [row_dict(item) for item in items],
                "returns": [row_dict(entry) for entry in returns],
            }
        )
        return
    show_pairs(row_dict(shown))
    click.echo()
    show(items, _ITEMS, "table")
    if returns:
        click.echo()
        show(returns, _RETURNS, "table")


def _keys(_ctx: click.Context, _parameter: click.Parameter, given: str | None) -> Any:
    """Return the keys of a file, or of the value itself."""
    if given is None:
        return None
    text = given
    try:
        if not given.lstrip().startswith(("[", "{")):
            with click.open_file(given, encoding="utf-8") as file:
                text = file.read()
        keys = json.loads(text)
    except OSError as error:
        raise click.BadParameter(f"the file can't be read: {error.strerror}") from None
    except ValueError:
        raise click.BadParameter("it is neither a file of JSON nor JSON") from None
    return keys if isinstance(keys, list) else [keys]


@click.command()
@click.argument("interface", required=False)
@click.argument("entity", required=False)
@dsn_option
@output_option
@click.option(
    "--keys",
    metavar="FILE|JSON",
    callback=_keys,
    help="The keys, a list of objects, as JSON; a file (-: stdin) keeps them out of ps.",
)
@click.option("--reference", metavar="R", help="The request, for the proof.")
@click.option(
    "--with-references", is_flag=True, help="Erase also rows of other entities that refer to them."
)
@click.option("--execute", is_flag=True, help="Erase; without it, what would happen is shown.")
@click.option("--verify", is_flag=True, help="Show where they are now; exit code 1: somewhere.")
@click.option("--finish", type=int, metavar="ID", help="Rewrite what is PENDING of an erasure.")
def erase(
    interface: str | None,
    entity: str | None,
    dsn: str,
    output: str,
    keys: Sequence[Mapping[str, Any]] | None,
    reference: str | None,
    with_references: bool,
    execute: bool,
    verify: bool,
    finish: int | None,
) -> ExitCode:
    """Erase persons, the keys of an ENTITY of an INTERFACE, in every room.

    It shows what would leave which table. With --execute it happens, in one transaction, and
    leaves a proof without a key: omd_report.erasures and erasure_items. Tables of the lake are
    PENDING then; --finish rewrites them with Spark.

    \b
    Examples:
      omd erase shop customers --keys request-17.json --reference "request 17"
      omd erase shop customers --keys request-17.json --reference "request 17" --execute
      omd erase shop customers --keys request-17.json --verify
      omd erase --finish 3
    """
    if finish is not None:
        if interface or keys or reference or with_references or execute or verify:
            raise click.UsageError("--finish takes an erasure alone")
        with _open(dsn) as room:
            show(_shown(room._finish(finish), output), _ERASED, output)
        return ExitCode.OK
    if interface is None or entity is None:
        raise click.UsageError(f"Missing argument '{'ENTITY' if interface else 'INTERFACE'}'.")
    if keys is None:
        raise click.UsageError("Missing option '--keys'.")
    if execute and verify:
        raise click.UsageError("--execute and --verify exclude each other")
    if reference is None and not verify:
        raise click.UsageError("Missing option '--reference'.")
    with _open(dsn) as room:
        if verify:
            left = room._calls.find_subject(interface, entity, keys)
            show(left, {n: n for n in ("layer", "table_code", "row_count")}, output)
            return ExitCode.FAILURE if left else ExitCode.OK
        answer = room._calls.erase(
            interface,
            entity,
            keys,
            cast("str", reference),
            is_dry_run=not execute,
            with_references=with_references,
        )
    rows = [
        ErasureItemsRow(erasure_id=cast("int", answer.erasure_id), **item)
        for item in cast("list[dict[str, Any]]", answer.items)
    ]
    show(_shown(rows, output), _ERASED, output)
    said = f"Erased: erasure {answer.erasure_id}."
    if any(row.outcome == "PENDING" for row in rows):
        said += f" Rewrite the lake: omd erase --finish {answer.erasure_id}"
    click.echo(said if execute else "Nothing has happened yet; --execute erases.", err=True)
    return ExitCode.OK


def _shown(rows: Sequence[ErasureItemsRow], output: str) -> list[ErasureItemsRow]:
    """Return what is shown: what has no such row is in the proof, and would hide the rest."""
    return [row for row in rows if output != "table" or row.row_count != 0]


_ERASED = {
    "layer": "layer",
    "table": "table_code",
    "outcome": "outcome",
    "keys": "key_count",
    "rows": "row_count",
    "text": "text",
}


commands: list[click.Command] = [recall, erase]

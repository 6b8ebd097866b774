"""The commands of delivery: models, tenants and agreements, deliveries and their receipts."""

from __future__ import annotations

import dataclasses
import json
import time
from collections.abc import Callable, Mapping
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from omd._core.engines import SPARK
from omd.programs.cli.common import (
    add_call,
    add_view,
    dsn_option,
    open_control,
    opener,
    report_error,
)
from omd.programs.terminal.commands import ExitCode, Sections
from omd.programs.terminal.options import (
    call_arguments,
    call_options,
    document_option,
    instant,
    limit_option,
    output_option,
    page_option,
)
from omd.programs.terminal.tables import (
    show,
    show_document,
    show_pairs,
    tell_more,
    titled,
)
from omd.programs.terminal.text import row_dict, short
from omd.rooms.control.codes import exit_code
from omd.rooms.delivery.calls import DeliveryCalls

if TYPE_CHECKING:
    from omd.programs.report.receipt import Receipt
    from omd.rooms.control.outcome import Outcome


_open = opener(lambda control: control.delivery)


# Deliveries -------------------------------------------------------------------------------------


@click.group(cls=Sections)
def delivery() -> None:
    """Deliver: check what arrived against what was agreed, and store what has changed.

    \b
    Examples:
      omd delivery run nyc --files 2013-01/ --dry-run     tries it, without effect
      omd delivery run nyc --files 2013-01/               delivers
      omd delivery receipt 7 --html receipt.html          writes its receipt for people
    """


_SMALL = 16 * 1024 * 1024  # bytes; for more of them the JVM should compile as well as it can
_master = click.option("--master", metavar="URL", help="Spark's master; local[*] by default.")
_wait = click.option(
    "--wait",
    type=click.FloatRange(min=0),
    default=600,
    show_default=True,
    metavar="S",
    help="Seconds to wait for another delivery of the interface.",
)
_receipt_file = page_option(
    "--receipt", "Write the receipt to this file too, as a page for people."
)


def _loads(
    _ctx: click.Context, _parameter: click.Parameter, texts: tuple[str, ...]
) -> dict[str, Any] | None:
    """Return how each entity is delivered: E, E=DELTA, or E={JSON}."""
    loads: dict[str, Any] = {}
    for text in texts:
        entity, _, load = text.partition("=")
        if not entity or entity in loads:
            what = "is given twice" if entity else "names no entity"
            raise click.BadParameter(f"{entity or text} {what}")
        try:
            loads[entity] = json.loads(load) if load.startswith("{") else load.upper() or "FULL"
        except ValueError as error:
            raise click.BadParameter(f"{load} is no JSON: {error}") from error
    return loads or None


def _folder(_ctx: click.Context, _parameter: click.Parameter, folder: str | None) -> str | None:
    """Return a folder; whether one is there that is not local, Spark knows."""
    if folder is not None and "://" not in folder and not Path(folder).is_dir():
        raise click.BadParameter(f"there is no folder {folder}")
    return folder


def _document(
    _ctx: click.Context, _parameter: click.Parameter, path: Path | None
) -> dict[str, Any] | None:
    """Return what a YAML or JSON file holds."""
    if path is None:
        return None
    from omd.programs.terminal.yaml_file import read_document

    return read_document(path)[0]


delivery.section("Run deliveries")


@delivery.command()
@click.argument("agreement")
@dsn_option
@document_option
@click.option(
    "--files",
    required=True,
    callback=_folder,
    metavar="DIR",
    help="The folder of <entity>.csv, .json or .parquet, or of folders so named.",
)
@click.option(
    "--snapshot",
    "snapshot_datetime",
    callback=instant,
    metavar="T",
    help="The time of the data, by default now; without a zone it is local.",
)
@click.option(
    "--load",
    "loads",
    multiple=True,
    callback=_loads,
    metavar="E=DELTA",
    help="How the entity E is delivered: FULL (the default), DELTA, or JSON such as "
    '{"context": "ROWS", "rows": 120}; may be repeated.',
)
@click.option(
    "--context",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    callback=_document,
    metavar="FILE",
    help="A YAML or JSON file of the keys that it is about, {entity: [{attribute: value}]}.",
)
@click.option("--dry-run", is_flag=True, help="Only validate; nothing is stored.")
@click.option(
    "--allow-deletes",
    multiple=True,
    metavar="E",
    help="Lift the limit of deletes in the entity E this once; may be repeated.",
)
@click.option(
    "--delete-type",
    type=click.Choice(["LOGICAL", "PHYSICAL"], case_sensitive=False),
    help="PHYSICAL removes all rows of a deleted key; by default they stay as history.",
)
@click.option("--message", metavar="TEXT", help="The words of the sender, which the receipt shows.")
@_wait
@_receipt_file
@_master
def run(
    agreement: str,
    dsn: str,
    output: str,
    files: str,
    page: Path | None,
    wait: float,
    master: str | None,
    message: str | None,
    **given: Any,
) -> int:
    """Deliver a folder of files under AGREEMENT, and print the receipt.

    The exit code is 7 when the delivery was rejected, 0 when it was accepted, 4 when it could not
    begin within --wait: resume it then. Ctrl-C ends the run; resume goes on.

    \b
    Examples:
      omd delivery run nyc --files 2013-01/ --snapshot 2013-02-01
      omd delivery run nyc --files changes/ --load flights=DELTA --receipt receipt.html
    """
    arguments = {name: value for name, value in given.items() if value}
    if message is not None:
        arguments["message"] = {"message": message}
    arguments["files"] = files
    return _deliver(dsn, output, page, wait, master, agreement, arguments)


@delivery.command()
@click.argument("delivery_id", metavar="ID", type=int)
@dsn_option
@document_option
@click.option(
    "--files",
    callback=_folder,
    metavar="DIR",
    help="Its files; by default its staging tables are read.",
)
@_wait
@_receipt_file
@_master
def resume(
    delivery_id: int,
    dsn: str,
    output: str,
    files: str | None,
    page: Path | None,
    wait: float,
    master: str | None,
) -> int:
    """Run a delivery that has not come to its end, and print the receipt.

    It is the next attempt: what a former run has left is undone first. A delivery from files needs
    them again. The exit codes are those of run.
    """
    arguments: dict[str, Any] = {"delivery_id": delivery_id}
    arguments |= {"files": files} if files else {"staging": "postgres"}
    return _deliver(dsn, output, page, wait, master, None, arguments)


def _deliver(
    dsn: str,
    output: str,
    page: Path | None,
    wait: float,
    master: str | None,
    agreement: str | None,
    arguments: Mapping[str, Any],
) -> int:
    import omd
    from omd.programs.cli.progress import Progress
    from omd.programs.report.receipt import read_receipt
    from omd.rooms.delivery.run import is_decided

    def tell(line: str) -> None:
        click.echo(f"{time.strftime('%H:%M:%S')}  {short(line)}", err=True)

    with omd.connect(dsn or None, application_name="omd-delivery") as control:
        files = arguments.get("files")
        is_brief = files is not None and _are_small(files)
        spark = control._engines[SPARK].session(master, is_brief=is_brief, quiet=True)
        block = control.delivery.create(
            agreement, **arguments, wait=timedelta(seconds=wait), spark=spark
        )
        with block:
            tell(f"delivery {block.delivery_id}")
            with Progress(control, block.delivery_id, tell):
                outcome = block.run()
        receipt = read_receipt(control.delivery, block.delivery_id)
    if is_decided(outcome):
        _show_receipt(receipt, output, page)
    return _end_of(outcome)


def _are_small(folder: str) -> bool:
    """Return whether the files of a local folder are so small that Spark will end soon."""
    sizes = (path.stat().st_size for path in Path(folder).rglob("*") if path.is_file())
    return Path(folder).is_dir() and sum(sizes) <= _SMALL


def _end_of(outcome: Outcome[None]) -> int:
    """Say why a delivery has not come to its end; return the exit code."""
    from omd.rooms.delivery.run import is_decided

    if not is_decided(outcome):
        if outcome.error is not None:
            return report_error(outcome.error)
        click.echo(
            short(f"delivery {outcome.facts['delivery_id']} was not begun: {outcome.detail}"),
            err=True,
        )
    return exit_code(outcome.status, outcome.reason)


def _show_receipt(receipt: Receipt, output: str, page: Path | None) -> None:
    from omd.programs.report.receipt import as_page, print_receipt

    if page is not None:
        page.write_text(as_page(receipt), encoding="utf-8")
    if output == "json":
        show_document(receipt.document)
    else:
        print_receipt(receipt)
    if page is not None:
        click.echo(f"The receipt is in {page}.", err=True)


def _add_end(name: str, call: Callable[..., Any], about: str, done: str) -> None:
    """Add a command that ends deliveries for a reason."""

    @delivery.command(name, help=about)
    @click.argument("delivery_id", metavar="ID", type=int)
    @dsn_option
    @click.option(
        "--reason", required=True, metavar="R", help="Why, in words, which the receipt shows."
    )
    def command(delivery_id: int, dsn: str, reason: str) -> None:
        with _open(dsn) as room:
            getattr(room._calls, call.__name__)(delivery_id, reason)
        click.echo(done.format(delivery_id), err=True)


_add_end(
    "reject",
    DeliveryCalls.reject_delivery,
    "Reject a delivery that is not validated yet: its data is not wanted.\n\n"
    "A run of it is ended, and its later calls are refused.",
    "Delivery {} is rejected.",
)
_add_end(
    "cancel",
    DeliveryCalls.cancel_delivery,
    "Cancel a delivery that is not accepted yet: the work is not wanted.\n\n"
    "A run of it is ended, and its later calls are refused.",
    "Delivery {} is cancelled.",
)
_add_end(
    "revert",
    DeliveryCalls.revert_delivery,
    "Take an accepted delivery back, as long as the facts have not taken it.\n\n"
    "It must be the newest one of each of its entities.",
    "Delivery {} is reverted.",
)


delivery.section("Stage with other tools")


@delivery.command()
@click.argument("agreement")
@dsn_option
@call_options(
    DeliveryCalls.create_delivery,
    names={"snapshot_datetime": "snapshot", "allow_deletes": "allow-deletes"},
)
def create(agreement: str, dsn: str, **given: Any) -> None:
    """Create a delivery, and print its id; its staging tables stg_AGREEMENT are empty then.

    Fill them with any tool, then report that they are complete, and resume the delivery.

    \b
    Example:
      id=$(omd delivery create nyc --snapshot 2013-02-01)
      psql -c "\\copy stg_nyc.flights FROM flights.csv CSV HEADER"
      omd delivery loaded $id && omd delivery resume $id
    """
    with _open(dsn) as room:
        answer = room._calls.create_delivery(agreement, **call_arguments(given))
    click.echo(answer.delivery_id)
    click.echo(f"Delivery {answer.delivery_id} is {answer.delivery_status}.", err=True)


add_call(
    delivery,
    "loaded",
    DeliveryCalls.report_loaded,
    about="Report that the data of a delivery is complete.",
    done="Delivery {delivery_id} is {answer}.",
)


# What there is ----------------------------------------------------------------------------------

_METRICS = (
    "delivery_id, entity_code, load_type AS load, delivery_status AS status,"
    " rows_delivered AS delivered, rows_skipped AS skipped, rows_new AS new,"
    " rows_changed AS changed, rows_deleted AS deleted, rows_unchanged AS unchanged,"
    " duration AS took"
)
_EVENTS = (
    "event_datetime AS at, delivery_id, attempt AS run, event, to_status AS status, editor AS by,"
    " reason"
)
_FILTERS = {
    "delivery_id": "delivery",
    "agreement_code": "agreement",
    "tenant_code": "tenant",
    "interface_code": "interface",
    "entity_code": "entity",
    "delivery_status": "status",
}


_add_view = partial(add_view, delivery, room="delivery", filters=_FILTERS)


def _queued(items: list[Any], output: str) -> list[Any]:
    """Return items of the queue, in a table with counts for people."""
    from omd.programs.report.receipt import row_counts

    if output != "table":
        return items
    return [dataclasses.replace(item, row_counts=row_counts(item.row_counts)) for item in items]


delivery.section("What arrives")
_ARRIVALS = titled(
    "arrival_id, agreement_code, folder, snapshot_datetime AS data of, arrival_status AS status,"
    " files, bytes, delivery_id, problem"
)


@delivery.command()
@click.argument("agreement", required=False)
@dsn_option
@output_option
@click.option("--look", is_flag=True, help="Look at the locations first.")
@click.option(
    "--deliver", is_flag=True, help="Look, and deliver what was found, until nothing is left."
)
@_wait
@_master
def arrivals(
    agreement: str | None,
    dsn: str,
    output: str,
    look: bool,
    deliver: bool,
    wait: float,
    master: str | None,
) -> int:
    """Show the folders in which deliveries arrive, and what became of each.

    The exit code is 1 when a location could not be read, or a delivery was not accepted.

    \b
    Examples:
      omd delivery arrivals nyc --look        looks, and says what each folder is
      omd delivery arrivals nyc --deliver     delivers what is complete, the oldest first
    """
    from omd.doors import arrivals as a
    from omd.rooms.delivery.rows import ArrivalLocationsRow, ArrivalsRow

    is_good = True
    with open_control(dsn) as control:
        room = control.delivery
        of_one: dict[str, Any] = {"agreement_code": agreement} if agreement else {}
        if agreement and (look or deliver):
            codes = [agreement]
        else:
            rows = room._calls.report(ArrivalLocationsRow, order_by=["agreement_code"])
            codes = [r.agreement_code for r in rows if not r.is_inactive]
        spark = None
        if deliver and codes:
            spark = control._engines[SPARK].session(master, is_brief=True, quiet=True)
        for code in codes if look or deliver else ():
            count = a.look_now(control, code, spark)
            click.echo(f"Agreement {code}: folders found: {count:,}.", err=True)
            while deliver:
                outcome = a.perform(control, spark, code, wait=timedelta(seconds=wait))
                if outcome is None:
                    break
                _end_of(outcome)
                delivery_id = outcome.facts["delivery_id"]
                delivery_status = outcome.facts["delivery_status"]
                click.echo(f"Delivery {delivery_id} is {delivery_status}.", err=True)
                is_good = is_good and outcome.status in ("S", "C")
                if outcome.status == "A" or outcome.reason == "FAILED":
                    break  # it would be taken again
        arrived = room._calls.report(ArrivalsRow, order_by=["agreement_code", "folder"], **of_one)
        locations = room._calls.report(ArrivalLocationsRow, order_by=["agreement_code"], **of_one)
    show(arrived, _ARRIVALS, output)
    for location in locations:
        if location.problem is not None:
            is_good = False
            click.echo(short(f"{location.agreement_code}: {location.problem}"), err=True)
    return ExitCode.OK if is_good else ExitCode.FAILURE


add_call(
    delivery,
    "forget",
    DeliveryCalls.forget_arrival,
    about="Forget what became of an arrival, so that its folder is found again.",
    done="Arrival {arrival_id} is forgotten.",
)

delivery.section("What happened")
_add_view(
    "list",
    "Show the deliveries, newest last.",
    "delivery_id, agreement_code, interface_code, snapshot_datetime AS data of,"
    " delivery_status AS status, verdict, status_datetime AS since, is_dry_run AS trial",
    ["delivery_id"],
    view="log",
    newest="LAST",
)
_add_view(
    "state",
    "Show the deliveries that are not at an end, and what each waits for.",
    "delivery_id, agreement_code, snapshot_datetime AS data of, delivery_status AS status,"
    " status_age AS since, is_running AS runs, waits_for",
    ["delivery_id"],
)


@delivery.command("show")
@click.argument("delivery_id", metavar="ID", type=int)
@dsn_option
@document_option
def show_delivery(delivery_id: int, dsn: str, output: str) -> None:
    """Show all that is known about a delivery, what it waits for, and what happened to it."""
    from omd.rooms.delivery import rows as t

    with _open(dsn) as room:
        room._calls.delivery_receipt(delivery_id)  # an unknown id is an error with a hint
        [log] = room._calls.report(t.DeliveryLogRow, delivery_id=delivery_id)
        state = room._calls.report(t.DeliveryStateRow, delivery_id=delivery_id)
        entities = room._calls.report(
            t.DeliveryMetricsRow, delivery_id=delivery_id, order_by=["entity_code"]
        )
        events = room._calls.report(
            t.DeliveryEventsRow, delivery_id=delivery_id, order_by=["delivery_event_id"]
        )
        items = room._calls.report(t.DeliveryQueueRow, delivery_id=delivery_id)
    pairs = row_dict(log)
    if state:
        pairs |= {"is_running": state[0].is_running, "waits_for": state[0].waits_for}
    pairs |= {"queue_id": items[0].queue_id} if items else {}
    if output == "json":
        show_document({**pairs, "entities": entities, "events": events})
        return
    show_pairs(pairs)
    click.secho("\nEntities", bold=True)
    of_all = ("delivery_id", "delivery_status", "duration")
    show(entities, {t: c for t, c in titled(_METRICS).items() if c not in of_all}, output)
    click.secho("\nEvents", bold=True)
    show(events, {t: c for t, c in titled(_EVENTS).items() if c != "delivery_id"}, output)


@delivery.command()
@click.argument("delivery_id", metavar="ID", type=int)
@dsn_option
@document_option
@page_option("--html", "Write it to this file too, as a page for people.")
def receipt(delivery_id: int, dsn: str, output: str, page: Path | None) -> None:
    """Print the receipt of a delivery: the verdict, why, and the counts; no row of its data."""
    from omd.programs.report.receipt import read_receipt

    with _open(dsn) as room:
        receipt = read_receipt(room, delivery_id)
    _show_receipt(receipt, output, page)


@delivery.command()
@click.argument("delivery_id", metavar="ID", type=int)
@dsn_option
@output_option
@click.option("--attempt", type=int, metavar="N", help="Only this run; by default the newest one.")
@click.option("--entity", "entity_code", metavar="E", help="Only this entity.")
@click.option("--constraint", metavar="CODE", help="Only rows that violate this constraint.")
@limit_option()
def quarantine(
    delivery_id: int,
    dsn: str,
    output: str,
    attempt: int | None,
    entity_code: str | None,
    constraint: str | None,
    limit: int,
) -> None:
    """Show samples of the rows that violate a constraint, as they were staged.

    It needs the role omd_data_reader, since these rows are data.
    """
    from omd.rooms.delivery.rows import DeliveryQuarantineRow

    with _open(dsn) as room:
        newest = room._calls.delivery_receipt(delivery_id)["attempt"]
        samples = room._calls.report(
            DeliveryQuarantineRow,
            delivery_id=delivery_id,
            attempt=newest if attempt is None else attempt,
            entity_code=entity_code,
            order_by=["entity_code"],
            limit=limit if constraint is None else None,
        )
    if constraint is not None:
        samples = [row for row in samples if constraint in row.constraint_codes]
    if output == "table":  # the folder is that of the delivery
        samples = [
            dataclasses.replace(row, staged_from=row.staged_from and row.staged_from.split("/")[-1])
            for row in samples
        ]
    columns = titled(
        "entity_code, record_key AS key, origin, constraint_codes AS constraints,"
        " is_skipped AS skipped, raw AS row, staged_from AS from"
    )
    show(samples[:limit], columns, output)
    tell_more(samples[:limit], limit)
    if not samples and entity_code is None and constraint is None:
        run_ = newest if attempt is None else attempt
        click.echo(f"Run {run_} of delivery {delivery_id} has registered no samples.", err=True)


_add_view(
    "findings",
    "Show what the newest run of each delivery found wrong, the newest last.",
    "delivery_id, entity_code, constraint_code, constraint_type AS type, action, violations,"
    " existing, threshold, threshold_percent AS percent, level",
    ["delivery_id", "entity_code", "constraint_code"],
    newest="LAST",
)
_add_view(
    "metrics",
    "Show how many rows each delivery brought of each entity, the newest last.",
    _METRICS,
    ["delivery_id", "entity_code"],
    newest="LAST",
)
_add_view(
    "events",
    "Show what happened to each delivery, the newest last.",
    _EVENTS,
    ["delivery_event_id"],
    newest="LAST",
)
_add_view(
    "queue",
    "Show the accepted deliveries, and how far the facts are, the newest last.",
    "queue_id AS item, interface_code, delivery_id, snapshot_datetime AS data of,"
    " delete_type AS deletes, queue_status AS status, row_counts AS rows, queued_datetime,"
    " finished_datetime AS persisted",
    ["queue_id"],
    newest="LAST",
    arranged=_queued,
)
_add_view(
    "marks",
    "Show up to when each entity was delivered; a delivery must be later.",
    "interface_code, entity_code, snapshot_datetime AS data of, delivery_id",
    ["interface_code", "entity_code"],
)


# Agreements -------------------------------------------------------------------------------------

delivery.section("Tenants and agreements")
_add_view(
    "tenants",
    "Show who delivers.",
    "tenant_code, tenant_name AS name, agreement_codes AS agreements",
    ["tenant_code"],
)
_add_view(
    "agreements",
    "Show what each tenant may deliver to which interface.",
    "agreement_code, tenant_code, interface_code, effective_from AS from, effective_to AS to,"
    " entities, completeness, inactive_indicator AS inactive",
    ["agreement_code"],
)
_add_view(
    "constraints",
    "Show what each model checks.",
    "interface_code, constraint_code, constraint_type AS type, stage, expression AS check",
    ["interface_code", "stage", "constraint_code"],
)
_add_view(
    "thresholds",
    "Show the actions and thresholds of each model, and of each agreement.",
    "interface_code, agreement_code, constraint_code, action, threshold,"
    " threshold_percent AS percent, warn, warn_percent, is_enabled AS enabled",
    ["interface_code", "agreement_code", "stage", "constraint_code"],
)
add_call(
    delivery,
    "register-tenant",
    DeliveryCalls.register_tenant,
    about="Register a tenant, or change its name.",
    done="Tenant {tenant_code} is registered.",
    names={"tenant_name": "name"},
)
add_call(
    delivery,
    "remove-tenant",
    DeliveryCalls.remove_tenant,
    about="Remove a tenant that has no agreement.",
    done="Tenant {tenant_code} is removed.",
)
add_call(
    delivery,
    "register-agreement",
    DeliveryCalls.register_agreement,
    about="Register an agreement, or change it.\n\n"
    "What is not given keeps its value; a list or an object replaces the whole.\n\n"
    "\b\nExample:\n"
    "  omd delivery register-agreement nyc --tenant nyc --interface flights \\\n"
    '    --settings \'{"flights.plausible": {"threshold": 10}}\'',
    done="Agreement {agreement_code} is registered.",
    names={"tenant_code": "tenant", "interface_code": "interface", "layer_code": "layer"},
)


# Upkeep -----------------------------------------------------------------------------------------

delivery.section("Upkeep")


@delivery.command()
@click.argument("interface")
@dsn_option
@click.option(
    "--keep",
    default="0",
    show_default=True,
    metavar="INTERVAL",
    help="Leave those in the queue that were accepted within this time; they can be reverted.",
)
def persist(interface: str, dsn: str, keep: str) -> None:
    """End the accepted deliveries of an interface that no facts take.

    Then their deltas can be purged, and a PHYSICAL delivery may begin. They can't be reverted.
    """
    with _open(dsn) as room:
        count = room._calls.persist_deliveries(interface, keep=keep)
    click.echo(f"Deliveries persisted: {count:,}.", err=True)


commands: list[click.Command] = [delivery]

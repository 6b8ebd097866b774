"""The commands of delivery: models, tenants and agreements, deliveries and their receipts."""

from __future__ import annotations

import dataclasses
import json
import re
import time
from collections.abc import Callable, Iterator, Mapping
from datetime import timedelta
from functools import partial
from importlib.util import find_spec
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
from omd.programs.cli.model_facts import Followers
from omd.programs.terminal.commands import ExitCode, Group, Sections
from omd.programs.terminal.options import (
    call_arguments,
    call_options,
    document_option,
    format_option,
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
    from omd.doors.delivery import Delivery
    from omd.programs.cli.documents.delivery import Change, ModelFile
    from omd.programs.report.receipt import Receipt
    from omd.rooms.control.outcome import Outcome


_open = opener(lambda control: control.delivery)


# Models -----------------------------------------------------------------------------------------


@click.group(cls=Group)
def model() -> None:
    """Deploy and show models: what may be delivered to an interface, and what makes it acceptable.

    \b
    Examples:
      omd model diff flights.yaml      shows what would change
      omd model apply flights.yaml     deploys it
      omd model show flights           gives it back as YAML
    """


_file = click.argument(
    "file", type=click.Path(exists=True, dir_okay=False, readable=True, path_type=Path)
)
_CHANGE = {"object": "object", "change": "change"}


@model.command("apply")
@_file
@dsn_option
@output_option
@click.option(
    "--spark/--no-spark",
    default=None,
    help="Whether Spark compiles the checks and queries of a model that has changed; by default "
    "where it is installed and the model has a query, which only Spark can judge.",
)
def apply_file(file: Path, dsn: str, output: str, spark: bool | None) -> None:
    """Deploy the model of a YAML file, with its tenants and agreements, and show what has changed.

    All of it is done or nothing, also the facts of the interface, where they are deployed.
    FILE holds a model document; it may also hold the lists tenants
    and agreements, with the arguments of register_agreement.

    \b
      interface: flights
      entities:
        - name: carriers
          key: [carrier]
          attributes: [{name: carrier, type: text(2)}, {name: name, type: text(80)}]
      tenants:
        - {tenant: nyc, name: New York airports}
      agreements:
        - {agreement: nyc, tenant: nyc, completeness: COMPLETE}
    """
    version, changes, facts = _apply(file, dsn, dry_run=False, spark=spark)
    if changes or output != "table":
        show(changes, _CHANGE, output)
    what = f"{len(changes):,} change{'' if len(changes) == 1 else 's'}" if changes else "no change"
    click.echo(f"Model {facts.interface} has version {version}: {what}.", err=True)
    facts.tell()


@model.command("diff")
@_file
@dsn_option
@output_option
def diff_file(file: Path, dsn: str, output: str) -> int:
    """Show what apply would change, and change nothing; the exit code is 1 when there is anything.

    It needs the same rights as apply, and is refused where apply would be.
    """
    _, changes, _ = _apply(file, dsn, dry_run=True, spark=False)
    if changes or output != "table":
        show(changes, _CHANGE, output)
    return ExitCode.FAILURE if changes else ExitCode.OK


def _apply(
    file: Path, dsn: str, *, dry_run: bool, spark: bool | None
) -> tuple[int, list[Change], Followers]:
    from omd._core.errors import OmdError
    from omd.programs.cli.documents.delivery import apply_model, read_model

    model_file = read_model(file)
    with open_control(dsn) as control:
        room = control.delivery
        facts = Followers(control, str(model_file.model.get("interface")))
        try:
            version, changes = apply_model(
                room,
                model_file,
                dry_run=dry_run,
                compiler=_compiler(room, model_file, spark),
                before=facts.before,
                after=facts.after,
            )
        except OmdError as error:
            for line in _problems(error, model_file, file):
                click.echo(line, err=True)
                error._hint = f"Mend the file; omd model diff {file} tells what is left."
            raise
    return version, changes, facts


def _problems(error: Any, model_file: ModelFile, file: Path) -> Iterator[str]:
    """Yield every problem that an error lists, with its place in the file."""
    problems = error.detail.get("problems") or [
        {"path": f"settings[{json.dumps(code)}]", "problem": "there is no such constraint"}
        for code in error.detail.get("constraint_codes") or ()
    ]
    for problem in problems:
        if "path" in problem:
            line = model_file.line(problem["path"])
            yield str(short(f"{file}:{line}: {problem['path'] or 'model'}: {problem['problem']}"))
        else:
            yield str(short(f"{file}: {problem['object']}: {problem['change']}"))


def _compiler(
    room: Delivery, model_file: ModelFile, spark: bool | None
) -> Callable[[], Callable[[], None] | None] | None:
    """Return what starts Spark and returns the check by it; None where Spark is not asked."""
    # A check is judged by the database, and means the same on Spark.
    is_wanted = spark or (spark is None and find_spec("pyspark") and _has_query(model_file.model))
    if not is_wanted:
        return None

    engine = room._control._engines[SPARK]

    def start() -> Callable[[], None] | None:
        click.echo("Spark compiles the checks; --no-spark leaves this out.", err=True)
        try:
            session = engine.session(quiet=True)
        except Exception as error:
            if spark:
                raise
            click.echo(short(f"Spark does not start, so it is left out: {error}"), err=True)
            return None

        def check() -> None:
            from omd.rooms.delivery.rows import DeliveryConstraintsRow

            code = str(model_file.model["interface"])
            constraints = room._calls.report(DeliveryConstraintsRow, interface_code=code)
            engine.compile_checks(session, model_file.model, constraints)

        return check

    return start


def _has_query(model: Mapping[str, Any]) -> bool:
    """Whether a document, which may be a wrong one, has something that only Spark can judge."""
    entities = model.get("entities")
    return isinstance(entities, list) and any(
        "derived" in entity
        or any(
            isinstance(part, dict) and word in part
            for parts, word in (("constraints", "query"), ("attributes", "computed"))
            if isinstance(entity.get(parts), list)
            for part in entity[parts]
        )
        for entity in entities
        if isinstance(entity, dict)
    )


@model.command("show")
@click.argument("code")
@dsn_option
@format_option("yaml", "json")
@click.option("--agreements", is_flag=True, help="With its tenants and agreements.")
def show_model(code: str, dsn: str, output: str, agreements: bool) -> None:
    """Print the model of the interface CODE as a document; applying it changes nothing."""
    from omd.programs.cli.documents.delivery import model_as_yaml, whole_document
    from omd.rooms.delivery.rows import DeliveryAgreementsRow

    with _open(dsn) as room:
        document = room._calls.model_document(code)
        rows = (
            room._calls.report(
                DeliveryAgreementsRow, interface_code=code, order_by=["agreement_code"]
            )
            if agreements
            else []
        )
    document = whole_document(document, rows)
    if output == "json":
        show_document(document)
    else:
        click.echo(model_as_yaml(document), nl=False)


@model.command("export")
@click.argument("code")
@dsn_option
@click.option(
    "--to",
    type=click.Choice(["odcs"]),
    required=True,
    expose_value=False,
    help="The form: odcs is the Open Data Contract Standard, 3.2.0.",
)
@format_option("yaml", "json")
def export_model(code: str, dsn: str, output: str) -> None:
    """Print the model of the interface CODE as a data contract.

    import reads it back, also when it was edited; as it is, applying that changes nothing.

    \b
    Example:
      omd model export shop --to odcs > shop.odcs.yaml
    """
    from omd.integrations.contracts.odcs_export import contract_as_yaml, odcs_contract
    from omd.rooms.delivery.rows import DeliveryModelsRow

    with _open(dsn) as room:
        document = room._calls.model_document(code)
        [row] = room._calls.report(DeliveryModelsRow, interface_code=code)
    contract = odcs_contract(document, row.model_version)
    if output == "json":
        show_document(contract)
    else:
        click.echo(contract_as_yaml(contract), nl=False)


def _code(_ctx: click.Context, _parameter: click.Parameter, code: str | None) -> str | None:
    """Return a code of an interface."""
    if code is not None and not re.fullmatch("[a-z][a-z0-9_]{0,40}", code):
        raise click.BadParameter("it is a lower case letter, then at most 40 of a-z, 0-9 and _")
    return code


@model.command("import")
@_file
@click.option(
    "--from",
    "contract_format",
    type=click.Choice(["odcs", "avro", "json-schema", "gx"]),
    required=True,
    help="What the file is: a contract of the Open Data Contract Standard (3.0 to 3.2), a schema "
    "of Avro, a JSON Schema (draft 7, 2020-12), or a suite of Great Expectations 1.x.",
)
@click.option(
    "--interface",
    metavar="CODE",
    callback=_code,
    help="The interface; by default the file names it.",
)
@click.option(
    "--entity", metavar="NAME", help="Only this entity; where there is one, it is named so."
)
@click.option(
    "--key",
    metavar="A,B",
    default="",
    help="The attributes of the key, where the file does not say it.",
)
@click.option("--strict", is_flag=True, help="Write nothing, unless all of it is taken over.")
@format_option("yaml", "json")
def import_model(
    file: Path,
    output: str,
    contract_format: str,
    interface: str | None,
    entity: str | None,
    key: str,
    strict: bool,
) -> None:
    """Print a contract as a model document, which apply deploys.

    It needs no database, and fetches nothing: a reference to another file is not followed. What a
    model can't hold is listed on stderr, and as comments in the document (of YAML).

    \b
    Examples:
      omd model import orders.odcs.yaml --from odcs > orders.yaml
      omd model import orders.avsc --from avro --interface shop --key nbr > orders.yaml
    """
    from omd.integrations.contracts.reading import read_contract, require_whole
    from omd.programs.cli.documents.delivery import model_as_yaml

    document, notes = read_contract(
        file,
        contract_format,
        interface=interface,
        entity=entity,
        key=[name.strip() for name in key.split(",") if name.strip()],
    )
    lines = [*notes.lines()]
    for line in lines:
        click.echo(line, err=True)
    if strict:
        require_whole(file, notes)
    if output == "json":
        show_document(document)
        return
    for line in lines:
        click.echo(f"# {line}")
    click.echo(model_as_yaml(document), nl=False)


add_view(
    model,
    "list",
    "Show the interfaces and the versions of their models.",
    "interface_code, model_version AS version, entities, deployed_datetime, deployed_by AS by",
    ["interface_code"],
    room="delivery",
    view="models",
)


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


commands: list[click.Command] = [model, delivery]

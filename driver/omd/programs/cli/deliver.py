"""``omd deliver``: a folder of files, the folders that have arrived, or what was begun before."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from omd._core.engines import SPARK
from omd.programs.cli.common import dsn_option, report_error
from omd.programs.terminal.commands import ExitCode
from omd.programs.terminal.options import document_option, instant, page_option
from omd.programs.terminal.text import short
from omd.rooms.control.codes import exit_code

if TYPE_CHECKING:
    from omd.doors.control import Control
    from omd.rooms.control.outcome import Outcome

_SMALL = 16 * 1024 * 1024  # bytes; for more of them the JVM should compile as well as it can


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


def _document(
    _ctx: click.Context, _parameter: click.Parameter, path: Path | None
) -> dict[str, Any] | None:
    """Return what a YAML or JSON file holds."""
    if path is None:
        return None
    from omd.programs.terminal.yaml_file import read_document

    document: dict[str, Any] = read_document(path).value
    return document


@click.command()
@click.argument("agreement", required=False)
@click.argument("folder", required=False)
@dsn_option
@document_option
@click.option(
    "--arrived",
    "is_arrived",
    is_flag=True,
    help="Look where deliveries arrive, and deliver what is complete, the oldest first; without"
    " AGREEMENT everywhere. With --dry-run it only looks.",
)
@click.option(
    "--resume",
    type=int,
    metavar="ID",
    help="Go on with this delivery; without FOLDER its staging tables are read.",
)
@click.option("--dry-run", is_flag=True, help="Only validate; nothing is stored.")
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
@click.option(
    "--wait",
    type=click.FloatRange(min=0),
    default=600,
    show_default=True,
    metavar="S",
    help="Seconds to wait for another delivery of the interface.",
)
@page_option("--receipt", "Write the receipt to this file too, as a page for people.")
@click.option("--master", metavar="URL", help="Spark's master; local[*] by default.")
def deliver(
    agreement: str | None,
    folder: str | None,
    dsn: str,
    output: str,
    is_arrived: bool,
    resume: int | None,
    wait: float,
    page: Path | None,
    master: str | None,
    message: str | None,
    **given: Any,
) -> int:
    """Deliver FOLDER under AGREEMENT, and print the receipt.

    FOLDER has <entity>.csv, .json or .parquet, or folders so named. The exit code is 7 when the
    delivery was rejected, 0 when it was accepted, 4 when it could not begin within --wait: resume
    it then. Ctrl-C ends the run; --resume goes on, as the next attempt.

    \b
    Examples:
      omd deliver nyc 2013-01/ --dry-run                    tries it, without effect
      omd deliver nyc changes/ --load flights=DELTA --receipt receipt.html
      omd deliver nyc --arrived                             delivers what has arrived
      omd deliver --resume 7 2013-01/                       goes on with delivery 7
    """
    created = {name: value for name, value in given.items() if value}
    if message is not None:
        created["message"] = {"message": message}
    if resume is not None and folder is None:
        agreement, folder = None, agreement  # the only word is the folder
    _check(agreement, folder, is_arrived, resume, created, page)
    if is_arrived:
        return _arrived(dsn, agreement, "dry_run" in created, wait, master)
    if resume is not None:
        created = {"delivery_id": resume}
    created |= {"staging": "postgres"} if folder is None else {"files": folder}
    return _deliver(dsn, agreement, created, output, page, wait, master)


def _check(
    agreement: str | None,
    folder: str | None,
    is_arrived: bool,
    resume: int | None,
    created: Mapping[str, Any],
    page: Path | None,
) -> None:
    """Refuse what does not go together, before anything is done.

    Raises:
        click.UsageError: something does not.
    """
    if resume is not None and (agreement is not None or is_arrived or created):
        raise click.UsageError("--resume ID takes FOLDER, --wait, --receipt and --master only.")
    if is_arrived and (folder is not None or page is not None or set(created) - {"dry_run"}):
        raise click.UsageError("--arrived takes AGREEMENT, --dry-run, --wait and --master only.")
    if resume is None and not is_arrived and (agreement is None or folder is None):
        raise click.UsageError("Name AGREEMENT and FOLDER, or --arrived, or --resume ID.")
    # Whether a folder is there that is not local, Spark knows.
    if folder is not None and "://" not in folder and not Path(folder).is_dir():
        raise click.UsageError(f"There is no folder {folder}.")


def _deliver(
    dsn: str,
    agreement: str | None,
    created: Mapping[str, Any],
    output: str,
    page: Path | None,
    wait: float,
    master: str | None,
) -> int:
    import omd
    from omd.programs.cli.progress import Progress
    from omd.programs.report.delivered import show_receipt
    from omd.programs.report.receipt import read_receipt
    from omd.rooms.delivery.run import is_decided

    def tell(line: str) -> None:
        click.echo(f"{time.strftime('%H:%M:%S')}  {short(line)}", err=True)

    with omd.connect(dsn or None, application_name="omd-delivery") as control:
        files = created.get("files")
        is_brief = files is not None and _are_small(files)
        spark = control._engines[SPARK].session(master, is_brief=is_brief, quiet=True)
        block = control.delivery.create(
            agreement, **created, wait=timedelta(seconds=wait), spark=spark
        )
        with block:
            tell(f"delivery {block.delivery_id}")
            with Progress(control, block.delivery_id, tell):
                outcome = block.run()
        receipt = read_receipt(control.delivery, block.delivery_id)
    if is_decided(outcome):
        show_receipt(receipt, output, page)
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
        delivery_id = outcome.facts["delivery_id"]
        click.echo(short(f"delivery {delivery_id} was not begun: {outcome.detail}"), err=True)
    return exit_code(outcome.status, outcome.reason)


def _arrived(
    dsn: str, agreement: str | None, is_look: bool, wait: float, master: str | None
) -> int:
    """Look at the locations, and unless ``is_look`` deliver until nothing is left.

    The exit code is 1 when a location could not be read, or a delivery was not accepted.
    """
    import omd
    from omd.doors import arrivals
    from omd.rooms.delivery.rows import ArrivalLocationsRow

    of_one: dict[str, Any] = {"agreement_code": agreement} if agreement else {}
    is_good = True
    with omd.connect(dsn or None, application_name="omd-delivery") as control:
        rows = control.report(ArrivalLocationsRow, order_by=["agreement_code"])
        codes = [agreement] if agreement else [r.agreement_code for r in rows if not r.is_inactive]
        spark = None
        if codes and not is_look:
            spark = control._engines[SPARK].session(master, is_brief=True, quiet=True)
        for code in codes:
            count = arrivals.look_now(control, code, spark)
            click.echo(f"Agreement {code}: folders found: {count:,}.", err=True)
            for outcome in () if is_look else _turns(control, spark, code, wait):
                _end_of(outcome)
                done = outcome.facts
                what = f"Delivery {done['delivery_id']} is {done['delivery_status']}."
                click.echo(what, err=True)
                is_good = is_good and outcome.status in ("S", "C")
        for location in control.report(ArrivalLocationsRow, order_by=["agreement_code"], **of_one):
            if location.problem is not None:
                is_good = False
                click.echo(short(f"{location.agreement_code}: {location.problem}"), err=True)
    return ExitCode.OK if is_good else ExitCode.FAILURE


def _turns(control: Control, spark: Any, code: str, wait: float) -> Iterator[Outcome[None]]:
    """Yield what becomes of each folder, up to one that would be taken again."""
    from omd.doors import arrivals

    while outcome := arrivals.perform(control, spark, code, wait=timedelta(seconds=wait)):
        yield outcome
        if outcome.status == "A" or outcome.reason == "FAILED":
            break

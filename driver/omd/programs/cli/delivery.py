"""The commands of models."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from omd._core.engines import SPARK
from omd.programs.cli.common import (
    add_view,
    dsn_option,
    open_control,
    opener,
)
from omd.programs.cli.model_facts import Followers
from omd.programs.terminal.commands import ExitCode, Group
from omd.programs.terminal.options import (
    format_option,
    output_option,
)
from omd.programs.terminal.tables import (
    show,
    show_document,
)
from omd.programs.terminal.text import short

if TYPE_CHECKING:
    from omd.doors.delivery import Delivery
    from omd.programs.cli.documents.delivery import Change, ModelFile


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


commands: list[click.Command] = [model]

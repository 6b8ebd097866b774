"""``omd export`` writes facts to files."""

from __future__ import annotations

from datetime import datetime

import click

from omd._core.engines import SPARK
from omd.programs.cli.common import dsn_option, report_error
from omd.programs.terminal.commands import ExitCode
from omd.programs.terminal.options import document_option, instant
from omd.programs.terminal.tables import show_document, show_table
from omd.rooms.control.codes import exit_code


@click.command()
@click.argument("agreement", required=False)
@click.argument("target", required=False)
@dsn_option
@document_option
@click.option("--resume", type=int, metavar="ID", help="Go on with this export instead.")
@click.option(
    "--entity", "entities", metavar="CODE", multiple=True, help="Only these; may be repeated."
)
@click.option(
    "--mode",
    type=click.Choice(["FULL", "CHANGES"], case_sensitive=False),
    help="CHANGES: what has changed since the newest export; by default all rows.",
)
@click.option(
    "--as-of", callback=instant, metavar="T", help="The moment of the rows; by default the newest."
)
@click.option("--partitions", type=int, metavar="N", help="Files per entity, at most.")
@click.option("--compression", metavar="NAME", help="uncompressed, snappy, gzip, lz4 or zstd.")
@click.option("--concurrently", type=int, metavar="N", help="Entities at the same time.")
@click.option("--master", metavar="URL", help="The master of Spark; by default local[*].")
def export(
    agreement: str | None,
    target: str | None,
    dsn: str,
    output: str,
    resume: int | None,
    entities: tuple[str, ...],
    mode: str | None,
    as_of: datetime | None,
    partitions: int | None,
    compression: str | None,
    concurrently: int | None,
    master: str | None,
) -> int:
    """Write facts to Parquet files under the folder TARGET, as AGREEMENT says.

    TARGET is a path or a URI of any file system of Hadoop. Whoever reads takes the files that
    _manifest.json names, which appears when all of them are there. When it fails, resume it: the
    rows are the same.

    \b
    Examples:
      omd export lake /data/out
      omd export lake s3a://lake/facts --mode CHANGES
      omd export --resume 17
    """
    import omd

    if (resume is None) == (agreement is None or target is None):
        raise click.UsageError("Name AGREEMENT and TARGET, or --resume ID.")
    options = {
        "partitions": partitions,
        "compression": compression,
        "max_concurrent_entities": concurrently,
    }
    with omd.connect(dsn or None, application_name="omd-facts") as control:
        room = control.facts
        spark = control._engines[SPARK].session(master, quiet=True)
        if resume is not None:
            exported = room._resume_export(resume, spark=spark)
        else:
            assert agreement is not None  # noqa: S101 - checked above
            assert target is not None  # noqa: S101 - checked above
            exported = room.export(
                agreement,
                target,
                entities=entities or None,
                mode=mode,
                as_of=as_of,
                options={name: value for name, value in options.items() if value is not None},
                spark=spark,
            )
    delivery_id, manifest = exported.facts["delivery_id"], exported.facts.get("manifest")
    if manifest is None:
        if exported.error is not None:
            return report_error(exported.error)
        click.echo(f"Delivery {delivery_id}: {exported.detail}", err=True)
        return exit_code(exported.status)
    if output == "json":
        show_document(manifest)
    else:
        columns = ("entity_code", "rows", "since")
        show_table([{c: e[c] for c in columns} for e in manifest["entities"]], columns)
    click.echo(f"Delivery {delivery_id}: {exported.facts['rows']:,} rows are exported.", err=True)
    return ExitCode.OK

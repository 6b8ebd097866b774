"""``omd dbt``: models of dbt under the control of OMD."""

from __future__ import annotations

from pathlib import Path

import click

from omd.programs.cli.common import dsn_option, open_control
from omd.programs.terminal.commands import Group
from omd.programs.terminal.options import output_option
from omd.programs.terminal.tables import show, titled


@click.group(cls=Group)
def dbt() -> None:
    """Run models of dbt as Modules."""


@dbt.command()
def path() -> None:
    """Print the folder of the dbt package omd, whose macros begin and end the runs.

    \b
    In packages.yml of your project:
      packages:
        - local: "{{ env_var('OMD_DBT_PATH') }}"
    Then: OMD_DBT_PATH=$(omd dbt path) dbt deps
    """
    from omd.integrations.dbt import package_path

    click.echo(package_path())


@dbt.command()
@click.argument(
    "manifest",
    type=click.Path(exists=True, dir_okay=False, readable=True, path_type=Path),
)
@dsn_option
@output_option
def register(manifest: Path, dsn: str, output: str) -> None:
    """Register the models of MANIFEST as Modules with their inputs, all of them or none.

    MANIFEST is the target/manifest.json that dbt parse writes. The models that call omd.begin()
    are registered, seeds and snapshots too; while none does, all are. The Module of a model is
    dbt.PROJECT.MODEL, or what meta.omd_module names; other keys omd_… of meta are arguments of
    omd register module, such as omd_area_code (PRES). A second time it changes nothing.
    """
    from omd.integrations.dbt import modules_of, register
    from omd.rooms.lineage.manifest import read_manifest

    read = read_manifest(manifest)
    nodes, are_begun = modules_of(read)
    with open_control(dsn) as control:
        done = register(control, read, nodes)
    show(done, titled("module_code AS module, table_code AS target, inputs"), output)
    if not are_begun:
        click.echo(
            "No model calls omd.begin() yet: add the hooks to dbt_project.yml, as the package's"
            " README shows.",
            err=True,
        )
    if left := [row.module_code for row in done if not row.can_be_undone]:
        click.echo(
            f"{len(left)} of {len(done)} can't be undone after they have succeeded: select"
            " {{ omd.module_instance_id() }} AS omd_insert_module_instance_id in the model, or"
            f" see omd register rollback. They are {', '.join(left[:20])}"
            f"{' …' if len(left) > 20 else ''}.",
            err=True,
        )


commands = [dbt]

"""Files of other tools, which are read as documents of ours."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from omd.programs.cli.documents.changes import Change, Documents, differences

if TYPE_CHECKING:
    import psycopg

    from omd.integrations.contracts.notes import Notes

CONTRACTS = ("odcs", "avro", "json-schema", "gx")
FORMATS = ("dbt", "openlineage", *CONTRACTS)


@dataclass(frozen=True, slots=True)
class Taking:
    """How a foreign file is read."""

    format: str  # one of FORMATS
    interface: str | None = None  # of a contract: the interface; None: it names it itself
    entity: str | None = None  # of a contract: the only entity
    key: Sequence[str] = ()  # of a contract: the key where it says none
    select: Sequence[str] = ()  # of dbt: the patterns of models; none: all

    def document(self, path: Path, *, strict: bool) -> str:
        """Return the file as YAML; what is not taken over stands there as comments.

        Raises:
            click.UsageError: it is no such file.
            ContractUnfit: it is strict, and something is not taken over.
        """
        if self.format == "dbt":
            from omd.programs.cli.topic_file import topic_file
            from omd.rooms.lineage.manifest import read_manifest

            return topic_file(read_manifest(path), self.select)
        if self.format == "openlineage":
            raise click.UsageError("the jobs of OpenLineage are no document; omd apply takes them.")
        from omd.programs.cli.documents.delivery import model_as_yaml

        model, notes = self.contract(path, strict=strict)
        return "".join(f"# {line}\n" for line in notes.lines()) + model_as_yaml(model)

    def contract(self, path: Path, *, strict: bool) -> tuple[dict[str, Any], Notes]:
        """Return the model of a contract, and what is not taken over, which is printed.

        Raises:
            click.UsageError: it is no such file.
            ContractUnfit: it is strict, and something is not taken over.
        """
        from omd.integrations.contracts.reading import read_contract, require_whole

        model, notes = read_contract(
            path, self.format, interface=self.interface, entity=self.entity, key=self.key
        )
        for line in notes.lines():
            click.echo(line, err=True)
        if strict:
            require_whole(
                path,
                notes,
                f"omd diff {path} --from {self.format} --output yaml prints the document without"
                " them, for omd apply.",
            )
        return model, notes

    def documents(
        self, paths: Sequence[Path], *, dry_run: bool, strict: bool, spark: bool | None
    ) -> list[Documents]:
        """Return the documents that the files are.

        Raises:
            click.UsageError: a file is no such file.
            ContractUnfit: it is strict, and something is not taken over.
        """
        if self.format == "dbt":
            return [DbtModels(path, self.select, dry_run=dry_run) for path in paths]
        if self.format == "openlineage":
            return [Jobs(path, dry_run=dry_run) for path in paths]
        from omd.programs.cli.documents.delivery import ModelDocument, ModelFile
        from omd.programs.terminal.yaml_file import Document

        return [
            ModelDocument(
                path,
                ModelFile(Document(self.contract(path, strict=strict)[0], path, {})),
                dry_run=dry_run,
                spark=spark,
                is_alone=True,
            )
            for path in paths
        ]


class _Modules(Documents):
    """Modules of another tool, with their inputs."""

    codes: Sequence[str]

    def apply(self, connection: psycopg.Connection[Any]) -> Iterator[Change]:
        """Register the Modules with their inputs."""
        before = self._registered()
        self._register(connection)
        for name, now in self._registered().items():
            yield from differences(name, before.get(name), now, now)

    def _register(self, connection: psycopg.Connection[Any]) -> None:
        raise NotImplementedError

    def _registered(self) -> dict[str, dict[str, Any]]:
        from omd.programs.cli.documents.control import registered
        from omd.rooms.control.rows import ModuleInputsRow

        known = registered(self.control, self.codes, ())
        for row in self.control.report(
            ModuleInputsRow, module_code=[*self.codes], order_by=["module_code", "table_code"]
        ):
            known[f"module:{row.module_code}"].setdefault("inputs", []).append(row.table_code)
        return known


class Jobs(_Modules):
    """The jobs of OpenLineage events, which other programs run."""

    def __init__(self, path: Path, *, dry_run: bool) -> None:
        super().__init__(dry_run=dry_run)
        from omd.integrations.lineage_events import read_jobs

        self._jobs = read_jobs(path)
        self.codes = list(self._jobs)

    def _register(self, connection: psycopg.Connection[Any]) -> None:
        from omd.integrations.dbt import AREA
        from omd.rooms.control.rows import ModuleListRow

        calls = self.control.calls.omd
        there = {
            row.module_code for row in self.control.report(ModuleListRow, module_code=self.codes)
        }
        for code, job in self._jobs.items():
            area = None if code in there else AREA
            calls.register_module(code, area_code=area, table_code=next(iter(job.outputs)))
        for code, job in self._jobs.items():  # one may read what the next one makes
            calls.declare_inputs(code, [*job.inputs])


class DbtModels(_Modules):
    """The models of a project of dbt, which are Modules that dbt performs."""

    def __init__(self, path: Path, select: Sequence[str], *, dry_run: bool) -> None:
        super().__init__(dry_run=dry_run)
        from omd.integrations.dbt import modules_of
        from omd.programs.cli.topic_file import is_selected
        from omd.rooms.lineage.manifest import read_manifest

        self._manifest = read_manifest(path)
        nodes, self._are_begun = modules_of(self._manifest)
        self._nodes = [n for n in nodes if not select or any(is_selected(n, p) for p in select)]
        self.codes = [node.code for node in self._nodes]

    def _register(self, connection: psycopg.Connection[Any]) -> None:
        from omd.integrations.dbt import register

        done = register(self.control, connection, self._manifest, self._nodes)
        if not self._are_begun:
            self.remarks.append(
                "No model calls omd.begin() yet: add the hooks to dbt_project.yml, as the package's"
                " README shows."
            )
        if left := [row.module_code for row in done if not row.can_be_undone]:
            self.remarks.append(
                f"{len(left)} of {len(done)} can't be undone after they have succeeded: select"
                " {{ omd.module_instance_id() }} AS omd_insert_module_instance_id in the model, or"
                f" see omd call register_rollback --help. They are {', '.join(left[:20])}"
                f"{' …' if len(left) > 20 else ''}."
            )

"""What the database knows of lake tables, as one run asks for it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from omd.rooms.lake.calls import LakeCalls
from omd.rooms.lake.rows import LakeCommitsRow, LakeTablesRow

if TYPE_CHECKING:
    from omd.rooms.control.connection import Connection
    from omd.rooms.control.rows import ModuleDefinitionRow
    from omd.rooms.control.run import Run


def module_of(control: Connection, code: str) -> ModuleDefinitionRow | None:
    """Return a Module that loads a table; None if there is none."""
    rows = LakeCalls(control._link).report(LakeTablesRow, table_code=code)
    codes = [code for row in rows for code in row.module_codes or []]
    return control._omd.module_definition(codes[0]) if codes else None


def recorded(calls: LakeCalls, code: str, versions: Sequence[int]) -> set[int]:
    """Return which of some versions of a table are recorded."""
    rows = calls.report(LakeCommitsRow, table_code=code, sequence_number=list(versions))
    return {row.sequence_number for row in rows}


class RunCatalogue:
    """The tables, commits and Modules that the database knows.

    Args:
        run: the run that asks.
    """

    def __init__(self, run: Run) -> None:
        self.run = run

    @property
    def calls(self) -> LakeCalls:
        """The routines of the room, over the connection of the run."""
        return LakeCalls(self.run._control._link)

    def module_of(self, code: str) -> ModuleDefinitionRow:
        """Return the Module that loads a table; that of this run where none is registered."""
        if code == self.run._module.table_code:
            return self.run._module
        return module_of(self.run._control, code) or self.run._module

    def commits_of(self, code: str, instances: Collection[int]) -> list[LakeCommitsRow]:
        """Return what runs have committed to a table, as far as it is recorded."""
        return self.calls.report(
            LakeCommitsRow, table_code=code, module_instance_id=sorted(instances)
        )

    def undone_of(self, code: str, instances: Collection[int]) -> set[int]:
        """Return which of some runs, that have committed to a table, are taken back."""
        if not instances:
            return set()
        return {
            row.module_instance_id
            for row in self.commits_of(code, instances)
            if row.module_instance_id is not None
            and row.rolled_back_by_module_instance_id is not None
        }

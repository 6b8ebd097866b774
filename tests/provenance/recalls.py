"""`Recalls` has SQL Modules that read each other's tables, and plans and executes recalls."""

from __future__ import annotations

from typing import Any

from psycopg import sql

from support.flow import Flow

STAMP = "current_setting('omd.module_instance_id')::bigint"


class Recalls(Flow):
    """Tables in dwh; the Module of a table has its name."""

    def made(self, name: str, *reads: str, rows: str | None = None, **attributes: Any) -> str:
        """Create a table and the Module that fills it with all that the tables it reads have."""
        self.conn.execute(
            sql.SQL("CREATE TABLE dwh.{} (v bigint, omd_insert_module_instance_id bigint)").format(
                sql.Identifier(name)
            )
        )
        tables = [sql.Identifier("dwh", read).as_string(None) for read in reads]
        body = " UNION ALL ".join(f"SELECT v FROM {table}" for table in tables)
        source = rows or body or "SELECT generate_series(1, 3) AS v"
        target = sql.Identifier("dwh", name).as_string(None)
        self.call(
            "register_module",
            **{
                "module_code": name,
                "area_code": "HSTG",
                "table_code": target,
                "executable": f"INSERT INTO {target} SELECT v, {STAMP} FROM ({source}) AS s",
                **attributes,
            },
        )
        self.call("declare_inputs", module_code=name, tables=tables)
        return name

    def go(self, *names: str) -> int:
        """Run these Modules, one after the other; return the last run."""
        for name in names:
            ran = self.call("run_module", module_code=name)
            assert ran["execution_status_code"] == "S", ran
        return int(ran["module_instance_id"])

    def plan(self, run: int | None = None, /, **arguments: Any) -> int:
        """Plan a recall; return its id."""
        given = {"reason": "it was wrong", **arguments}
        if run is not None:
            given["module_instance_id"] = run
        return int(self.call("omd_provenance.plan_recall", **given)["recall_id"])

    def items(self, recall: int, *columns: str) -> list[tuple[Any, ...]]:
        found = self.rows(
            f"SELECT {', '.join(columns)} FROM omd_report.recall_items WHERE recall_id = %s"
            " ORDER BY position",
            recall,
        )
        return [tuple(row.values()) for row in found]

    def recall(self, recall: int, *accept: str, wait: str = "0") -> dict[str, Any]:
        return self.call("omd_provenance.recall", recall_id=recall, accept=list(accept), wait=wait)

    def recalled(self, run: int | None = None, /, *accept: str, **arguments: Any) -> int:
        """Plan and execute a recall; return its id."""
        recall = self.plan(run, **arguments)
        self.recall(recall, *accept)
        return recall

    def standing(self) -> list[int]:
        return [
            row["id"]
            for row in self.rows(
                "SELECT module_instance_id AS id FROM omd.module_instance AS i"
                " INNER JOIN omd.module AS m USING (module_id)"
                " WHERE execution_status_code = 'S' AND rolled_back_by_module_instance_id IS NULL"
                " AND module_code <> 'provenance.recall' ORDER BY 1"
            )
        ]

    def values(self, table: str) -> list[int]:
        query = sql.SQL("SELECT v FROM dwh.{} ORDER BY v").format(sql.Identifier(table))
        return [row["v"] for row in self.conn.execute(query).fetchall()]

    def work(self, code: str) -> tuple[str, str | None, str | None]:
        [row] = self.rows(
            "SELECT state, reason, waits_for FROM omd_report.work WHERE code = %s", code
        )
        return row["state"], row["reason"], row["waits_for"]

    def perform(self) -> list[str]:
        """Run what is ready until nothing is; return what ran, in order."""
        ran = []
        while ready := self.rows("SELECT code FROM omd_report.ready_work ORDER BY code"):
            self.go(ready[0]["code"])
            ran.append(ready[0]["code"])
        return ran

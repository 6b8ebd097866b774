"""``/lake``: the lake tables, what was committed to them, and folders that are not committed."""

from __future__ import annotations

from omd.programs.page.markup import Html, badge, moment, number
from omd.programs.web import cells, lists, parts
from omd.programs.web.section import Asked, Row, Screen, Section, Select


def screen(asked: Asked) -> Screen:
    """Return the lake, with the commits of all tables or of one."""
    return Screen(
        "lake",
        "Lake",
        (_tables(), _commits(asked), _folders()),
        form=lists.filters(lists.field(asked, "table", "commits of the table")),
    )


def _tables() -> Section:
    select = Select(
        """\
SELECT table_code, table_format_code, module_codes, commit_datetime, operation,
    module_instance_id, sequence_number, total_files, total_rows, problem
FROM omd_report.lake_tables
ORDER BY table_code
LIMIT %(limit)s""",
        {"limit": lists.MOST},
    )
    return lists.listing(
        "tables", "Tables", "omd_report.lake_tables", select,
        {
            "table": lambda r: parts.link(
                parts.path("/lake", {"table": r["table_code"]}), r["table_code"]
            ),
            "format": lambda r: (r["table_format_code"] or "").lower(),
            "Modules": lambda r: cells.modules(r["module_codes"]),
            "last commit": lambda r: moment(r["commit_datetime"]),
            "what": lambda r: (r["operation"] or "").lower(),
            "run#": lambda r: cells.run(r["module_instance_id"]),
            "version#": lambda r: r["sequence_number"],
            "files#": lambda r: number(r["total_files"]),
            "rows#": lambda r: number(r["total_rows"]),
            "problem": lambda r: cells.words(r["problem"]),
        },
        key="table_code",
    )  # fmt: skip


def _commits(asked: Asked) -> Section:
    select = lists.select(
        asked,
        """\
SELECT commit_id, table_code, commit_datetime, operation, module_code, module_instance_id,
    execution_status_code, rolled_back_by_module_instance_id, added_files, added_rows,
    removed_files, removed_rows, total_rows, sequence_number
FROM omd_report.lake_commits{where}
ORDER BY commit_id DESC
LIMIT %(limit)s""",
        100,
        table="table_code",
        before="commit_id < %s::bigint",
    )
    return lists.listing(
        "commits", "Commits", "omd_report.lake_commits", select,
        {
            "commit#": lambda r: r["commit_id"],
            "table": lambda r: cells.text(r["table_code"]),
            "committed": lambda r: moment(r["commit_datetime"]),
            "what": lambda r: r["operation"].lower(),
            "Module": lambda r: cells.module(r["module_code"]),
            "run#": lambda r: cells.run(r["module_instance_id"]),
            "status": _commit_state,
            "files in#": lambda r: number(r["added_files"]),
            "rows in#": lambda r: number(r["added_rows"]),
            "files out#": lambda r: number(r["removed_files"]),
            "rows out#": lambda r: number(r["removed_rows"]),
            "rows then#": lambda r: number(r["total_rows"]),
            "version#": lambda r: r["sequence_number"],
        },
        key="commit_id",
        paged=lists.Paged(asked, "before", "commit_id"),
    )  # fmt: skip


def _commit_state(row: Row) -> Html:
    if row["rolled_back_by_module_instance_id"]:
        return cells.state("A", "undone")
    return badge(row["execution_status_code"])


_FOLDERS = {"WRITING": "E", "ABANDONED": "F"}


def _folders() -> Section:
    select = Select(
        """\
SELECT module_instance_id, module_code, write_number, table_code, folder_state,
    announced_datetime, folder
FROM omd_report.lake_folders
WHERE folder_state IN ('WRITING', 'ABANDONED')
ORDER BY module_instance_id DESC, write_number
LIMIT %(limit)s""",
        {"limit": lists.MOST},
    )
    return lists.listing(
        "folders", "Folders that are not committed", "omd_report.lake_folders", select,
        {
            "run#": lambda r: cells.run(r["module_instance_id"]),
            "Module": lambda r: cells.module(r["module_code"]),
            "table": lambda r: cells.text(r["table_code"]),
            "state": lambda r: cells.state(
                _FOLDERS.get(r["folder_state"], "C"), r["folder_state"].lower()
            ),
            "announced": lambda r: moment(r["announced_datetime"]),
            "folder": lambda r: cells.file(r["folder"]),
        },
        key=("module_instance_id", "write_number", "table_code"),
    )  # fmt: skip

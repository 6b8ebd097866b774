#!/usr/bin/env python3
"""Squash the migrations of before 1.0 into one file per room: what a new database begins with.

    python tools/baseline.py --embedded           # write the files
    python tools/baseline.py --embedded --check   # exit 1 when the committed files differ

Every migration with a number below 150 moves to ``migrations/before_1_0`` and is announced there by
the list of its room. A new database is then built by them, as an old one was, and the tables that
they made are read from its catalogue and written to ``migrations/V15n__<schema>.sql``: one file per
room, in the order of ``sql/install.sql``. It is done once, for 1.0: a released file never changes.
Use the newest PostgreSQL, which has names for NOT NULL constraints.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg
from psycopg.conninfo import make_conninfo
from psycopg.rows import dict_row

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    Row = dict[str, Any]
    Connection = psycopg.Connection[Row]

ROOT = Path(__file__).resolve().parents[1]
FIRST = 150  # the number of the first baseline; every migration below it is squashed
FORMER = "before_1_0"
FIRST_OF_ALL = "V001__process_control"
WIDTH = 100


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the files, or compare them."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--dsn", default=os.environ.get("OMD_DSN", ""), help="an empty database")
    parser.add_argument(
        "--embedded", action="store_true", help="use a new database on the embedded server"
    )
    parser.add_argument("--check", action="store_true", help="compare, and change nothing")
    options = parser.parse_args(arguments)
    sys.path.insert(0, str(ROOT / "driver"))
    if not options.check:
        move_files()
    dsn = _new_database() if options.embedded else options.dsn
    with psycopg.connect(dsn, autocommit=True, row_factory=dict_row) as conn:
        found = _linted(baselines(conn))
    if options.check:
        return _check(found)
    for path in (ROOT / "migrations").glob("V*.sql"):
        if path.name not in found and number_of(path.stem) in range(FIRST, FIRST + len(found)):
            path.unlink()
    for name, text in found.items():
        (ROOT / "migrations" / name).write_text(text, encoding="utf-8")
    for schema in rooms():
        announce(schema, found)
    return 0


def rooms() -> list[str]:
    """Return the rooms, in the order of the list."""
    text = (ROOT / "sql/install.sql").read_text(encoding="utf-8")
    return re.findall(r"(?m)^\\ir install/(\w+)\.sql$", text)


def number_of(name: str) -> int:
    """Return the number of a migration."""
    return int(name[1:4])


# --- the lists


BLOCK = re.compile(
    r"\\set checksum '(?P<checksum>\w+)'\n(?:\\set phase '(?P<phase>\w+)'\n)?"
    r"\\set migration '(?P<name>\w+)'\n"
    r"\\ir \.\./setup/claim\.psql\n\\if :pending\n\\ir [^\n]+\n\\endif\n\n?"
)


def block(name: str, checksum: str, phase: str) -> str:
    """Return the lines that announce a migration and include it."""
    folder = f"{FORMER}/" if phase == FORMER else ""
    return (
        f"\\set checksum '{checksum}'\n\\set phase '{phase}'\n\\set migration '{name}'\n"
        "\\ir ../setup/claim.psql\n\\if :pending\n"
        f"\\ir ../../migrations/{folder}{name}.sql\n\\endif\n"
    )


def move_files() -> None:
    """Move what is squashed, and let the lists say so."""
    target = ROOT / "migrations" / FORMER
    target.mkdir(exist_ok=True)
    for path in sorted((ROOT / "migrations").glob("V*.sql")):
        if number_of(path.stem) < FIRST:
            path.rename(target / path.name)
    for schema in rooms():
        file = ROOT / "sql/install" / f"{schema}.sql"
        text = with_part(file.read_text(encoding="utf-8"))
        former = [m for m in BLOCK.finditer(text) if number_of(m["name"]) < FIRST]
        if not former:
            file.write_text(text, encoding="utf-8")
            continue
        blocks = [block(m["name"], m["checksum"], FORMER) for m in former]
        rest = BLOCK.sub(lambda m: "" if number_of(m["name"]) < FIRST else m[0], text)
        rest = re.sub(
            r"-- What databases from before 1.0 lack.\n\\if :former\n+\\endif\n\n", "", rest
        )
        head, _, tail = rest.partition("\n\n")
        file.write_text(
            f"{head}\n\n-- What databases from before 1.0 lack.\n\\if :former\n"
            + "\n".join(blocks)
            + f"\\endif\n\n{tail}",
            encoding="utf-8",
        )


def with_part(text: str) -> str:
    """Return a list whose files that may be repeated are for the installation only."""
    if "\\if :is_install\n" in text:
        return text
    head, endif, tail = text.rpartition("\\endif\n")
    if not endif:
        head, _, tail = text.partition("\n\n")
        head += "\n"
    return f"{head}{endif}\n\\if :is_install\n{tail.strip()}\n\\endif\n"


def announce(schema: str, found: Mapping[str, str]) -> None:
    """Let the list of a room name its baseline, after what is of before."""
    file = ROOT / "sql/install" / f"{schema}.sql"
    text = file.read_text(encoding="utf-8")
    text = BLOCK.sub(lambda m: "" if m["phase"] == "baseline" else m[0], text)
    for name, content in found.items():
        if name.partition("__")[2] == f"{schema}.sql":
            checksum = hashlib.sha256(content.encode()).hexdigest()
            lines = block(name.removesuffix(".sql"), checksum, "baseline")
            before, endif, after = text.partition("\\if :former\n")
            if endif:
                # The last migration of before ends two lines above the end of its part.
                inner, end, after = after.partition("\\endif\n\\endif\n\n")
                text = f"{before}{endif}{inner}{end}{lines}\n{after}"
            else:
                head, _, tail = text.partition("\n\n")
                text = f"{head}\n\n{lines}\n{tail}"
    file.write_text(text, encoding="utf-8")


# --- a database as it was built before 1.0


def _new_database() -> str:
    from omd import embedded

    embedded.start()
    server = embedded.dsn()
    with psycopg.connect(server, autocommit=True) as conn:
        conn.execute("DROP DATABASE IF EXISTS omd_baseline WITH (FORCE)")
        conn.execute("CREATE DATABASE omd_baseline")
    return make_conninfo(server, dbname="omd_baseline")


def baselines(conn: Connection) -> dict[str, str]:
    """Install OMD as before 1.0; return the files that describe what the migrations have made."""
    from omd.install import read_manifest
    from omd.install.manifest import Kind, Phase
    from omd.install.running import execute, pinned

    made: dict[str, list[int]] = {}  # the oids of relations, types, routines and schemas of a room
    rows: dict[str, list[str]] = {}
    reference = "".join(
        path.read_text(encoding="utf-8") for path in (ROOT / "sql/reference").rglob("*.sql")
    )
    room, before = "", set[int]()
    with pinned(conn):
        for entry in read_manifest(ROOT):
            is_former = entry.phase is Phase.BEFORE
            if is_former and not room:
                room, before = entry.room, _oids(conn)
            elif room and not is_former:
                made[room] = sorted(_oids(conn) - before)
                for table in _tables(conn, made[room]):
                    if f"INTO {table} " not in reference:
                        rows[table] = list(_inserts(conn, table))
                room = ""
            if is_former or entry.kind in (Kind.SETUP, Kind.REPEATABLE):
                execute(conn, entry.path, entry.text)
        conn.execute("SET LOCAL search_path = ''")
        return {
            f"V{FIRST + number}__{name}.sql": _file(conn, name, made[name], rows)
            for number, name in enumerate(name for name in rooms() if name in made)
        }


def _oids(conn: Connection) -> set[int]:
    return {
        row["oid"]
        for row in conn.execute(
            """
            SELECT o.oid::bigint AS oid
            FROM (
                SELECT c.oid, c.relnamespace AS n FROM pg_class AS c
                WHERE c.relkind IN ('r', 'p', 'S', 'c')
                UNION ALL SELECT t.oid, t.typnamespace FROM pg_type AS t WHERE t.typtype = 'd'
                UNION ALL SELECT p.oid, p.pronamespace FROM pg_proc AS p
                UNION ALL SELECT n.oid, n.oid FROM pg_namespace AS n
            ) AS o
            INNER JOIN pg_namespace AS s ON o.n = s.oid
            WHERE s.nspname ~ '^omd(_|$)'
            """
        )
    }


def _tables(conn: Connection, oids: list[int]) -> list[str]:
    found = conn.execute(
        "SELECT c.oid::regclass::text AS name FROM pg_class AS c"
        " WHERE c.oid = ANY (%s::oid[]) AND c.relkind = 'r' ORDER BY c.oid",
        [oids],
    )
    return [row["name"] for row in found]


def _inserts(conn: Connection, table: str) -> Iterator[str]:
    """Yield statements for the rows that migrations insert; a value of its default is left out."""
    columns = conn.execute(
        "SELECT a.attname AS name, pg_get_expr(d.adbin, d.adrelid) AS fallback"
        " FROM pg_attribute AS a LEFT JOIN pg_attrdef AS d"
        " ON a.attrelid = d.adrelid AND a.attnum = d.adnum"
        " WHERE a.attrelid = %s::regclass AND a.attnum > 0 AND NOT a.attisdropped"
        " AND a.attidentity = '' ORDER BY a.attnum",
        [table],
    ).fetchall()
    told = [c for c in columns if not re.search(r"\w\(", c["fallback"] or "")]
    if not columns:
        return
    chosen = ", ".join(
        f"CASE WHEN t.{c['name']} IS DISTINCT FROM {c['fallback'] or 'NULL'}"
        f" THEN quote_literal(t.{c['name']}::text) END"
        for c in told
    )
    query = f"SELECT ARRAY[{chosen}]::text[] AS v FROM {table} AS t ORDER BY t.ctid"  # noqa: S608
    for row in conn.execute(query.encode()).fetchall():
        values = {c["name"]: v for c, v in zip(told, row["v"], strict=True) if v is not None}
        if values:
            into = f"INSERT INTO {table} ({', '.join(values)})"
            yield f"{into} VALUES ({', '.join(values.values())});"
        else:
            yield f"INSERT INTO {table} DEFAULT VALUES;"


# --- what the catalogue says, as SQL


def _file(conn: Connection, room: str, oids: list[int], rows: Mapping[str, list[str]]) -> str:
    told = (
        f"-- The tables of {room} in 1.0, with which a new database begins. tools/baseline.py has\n"
        "-- written them from the catalogue that the migrations of before_1_0 lead to."
        " Applied once."
    )
    parts = [told]
    parts += _schemas(conn, oids)
    parts += _types(conn, oids)
    later: list[str] = []
    seen: set[int] = set()
    for table in conn.execute(
        "SELECT c.oid::bigint AS oid, c.oid::regclass::text AS name, c.relkind::text AS kind,"
        " c.reloptions AS options, c.relpersistence::text AS persistence,"
        " c.relreplident::text AS identity, pg_get_partkeydef(c.oid) AS key,"
        " obj_description(c.oid, 'pg_class') AS comment"
        " FROM pg_class AS c WHERE c.oid = ANY (%s::oid[]) AND c.relkind IN ('r', 'p')"
        " ORDER BY c.oid",
        [oids],
    ).fetchall():
        seen.add(table["oid"])
        parts.append(_table(conn, table, seen, oids, later))
        if rows.get(table["name"]):
            parts.append("\n".join(rows[table["name"]]))
    return "\n\n".join(parts + later) + "\n"


def _comment(what: str, text: str | None) -> str:
    """Return a COMMENT; a long text is continued on further lines, as the lexer allows."""
    if text is None:
        return ""
    words = text.replace("'", "''").split(" ")
    lines, line = [], ""
    for word in words:
        if line and len(line) + len(word) + 4 > WIDTH:
            lines.append(line)
            line = ""
        line += f"{word} "
    lines.append(line[:-1])
    on, told = f"COMMENT ON {what} IS", "\n".join(f"'{line}'" for line in lines)
    between = " " if len(lines) == 1 and len(on) + len(told) + 2 <= WIDTH else "\n"
    return f"{on}{between}{told};"


def _schemas(conn: Connection, oids: list[int]) -> Iterator[str]:
    for row in conn.execute(
        "SELECT nspname AS name, obj_description(oid, 'pg_namespace') AS comment"
        " FROM pg_namespace WHERE oid = ANY (%s::oid[]) ORDER BY oid",
        [oids],
    ).fetchall():
        yield f"CREATE SCHEMA {row['name']};\n{_comment('SCHEMA ' + row['name'], row['comment'])}"


def _types(conn: Connection, oids: list[int]) -> Iterator[str]:
    for row in conn.execute(
        "SELECT p.oid::regprocedure::text AS name, pg_get_functiondef(p.oid) AS text,"
        " obj_description(p.oid, 'pg_proc') AS comment"
        " FROM pg_proc AS p WHERE p.oid = ANY (%s::oid[]) ORDER BY p.oid",
        [oids],
    ).fetchall():
        yield "-- A type needs it; its own file replaces it.\n" + row["text"].rstrip() + ";"
    for row in conn.execute(
        "SELECT t.oid::bigint AS oid, t.oid::regtype::text AS name, t.typnotnull AS required,"
        " format_type(t.typbasetype, t.typtypmod) AS base, t.typdefault AS fallback,"
        " obj_description(t.oid, 'pg_type') AS comment"
        " FROM pg_type AS t WHERE t.oid = ANY (%s::oid[]) ORDER BY t.oid",
        [oids],
    ).fetchall():
        checks = conn.execute(
            "SELECT conname AS name, pg_get_constraintdef(oid, TRUE) AS text,"
            " convalidated AS valid, obj_description(oid, 'pg_constraint') AS comment"
            " FROM pg_constraint WHERE contypid = %s::oid AND contype = 'c' ORDER BY oid",
            [row["oid"]],
        ).fetchall()
        text = f"CREATE DOMAIN {row['name']} AS {row['base']}"
        text += f"\nDEFAULT {row['fallback']}" if row["fallback"] else ""
        text += "\nNOT NULL" if row["required"] else ""
        for check in checks:
            if check["valid"]:
                text += f"\nCONSTRAINT {check['name']} {_shorter(check['text'])}"
        text += ";"
        for check in checks:
            if not check["valid"]:
                text += (
                    f"\nALTER DOMAIN {row['name']} ADD CONSTRAINT {check['name']}\n"
                    f"{_shorter(check['text'])};"
                )
        yield f"{text}\n{_comment('DOMAIN ' + row['name'], row['comment'])}"
    for row in conn.execute(
        "SELECT c.oid::bigint AS oid, c.oid::regclass::text AS name,"
        " obj_description(c.reltype, 'pg_type') AS comment"
        " FROM pg_class AS c WHERE c.oid = ANY (%s::oid[]) AND c.relkind = 'c' ORDER BY c.oid",
        [oids],
    ).fetchall():
        columns = _columns(conn, row["oid"])
        body = ",\n".join(f"    {c['name']} {c['type']}" for c in columns)
        lines = [f"CREATE TYPE {row['name']} AS (\n{body}\n);"]
        lines.append(_comment("TYPE " + row["name"], row["comment"]))
        lines += [_comment(f"COLUMN {row['name']}.{c['name']}", c["comment"]) for c in columns]
        yield "\n".join(line for line in lines if line)
    for row in conn.execute(
        "SELECT c.oid::regclass::text AS name, format_type(s.seqtypid, NULL) AS type, s.*,"
        " obj_description(c.oid, 'pg_class') AS comment"
        " FROM pg_class AS c INNER JOIN pg_sequence AS s ON c.oid = s.seqrelid"
        " WHERE c.oid = ANY (%s::oid[]) AND NOT EXISTS (SELECT FROM pg_depend AS d"
        " WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype IN ('a', 'i'))"
        " ORDER BY c.oid",
        [oids],
    ).fetchall():
        text = f"CREATE SEQUENCE {row['name']} AS {row['type']}{_sequence(row)};"
        yield f"{text}\n{_comment('SEQUENCE ' + row['name'], row['comment'])}".rstrip()


def _sequence(row: Row) -> str:
    """Return the options that differ from those that a sequence has by itself."""
    text = ""
    if row["seqincrement"] != 1:
        text += f" INCREMENT BY {row['seqincrement']}"
    if row["seqmin"] != 1:
        text += f" MINVALUE {row['seqmin']}"
    if row["seqstart"] != row["seqmin"]:
        text += f" START WITH {row['seqstart']}"
    if row["seqcache"] != 1:
        text += f" CACHE {row['seqcache']}"
    return text + (" CYCLE" if row["seqcycle"] else "")


def _columns(conn: Connection, oid: int) -> list[Row]:
    return conn.execute(
        """
        SELECT
            quote_ident(a.attname) AS name,
            replace(
                format_type(a.atttypid, a.atttypmod), 'timestamp with time zone', 'timestamptz'
            ) AS type,
            a.attnotnull AS required,
            a.attidentity::text AS identity,
            a.attgenerated::text AS generated,
            pg_get_expr(d.adbin, d.adrelid, TRUE) AS fallback,
            CASE WHEN a.attcollation <> t.typcollation THEN a.attcollation::regcollation::text END
            AS collation,
            CASE WHEN a.attstorage <> t.typstorage THEN a.attstorage::text END AS storage,
            to_jsonb(a) ->> 'attstattarget' AS statistics,
            a.attoptions AS options,
            s.seqincrement, s.seqmin, s.seqstart, s.seqcache, s.seqcycle,
            n.conname AS constraint_name,
            left(c.relname || '_' || a.attname, 54) || '_not_null' AS usual_name,
            col_description(a.attrelid, a.attnum) AS comment
        FROM pg_attribute AS a
        INNER JOIN pg_type AS t ON a.atttypid = t.oid
        INNER JOIN pg_class AS c ON a.attrelid = c.oid
        LEFT JOIN pg_attrdef AS d ON a.attrelid = d.adrelid AND a.attnum = d.adnum
        LEFT JOIN pg_sequence AS s
            ON s.seqrelid = pg_get_serial_sequence(a.attrelid::regclass::text, a.attname)::regclass
        LEFT JOIN pg_constraint AS n
            ON a.attrelid = n.conrelid AND n.contype = 'n' AND n.conkey = ARRAY[a.attnum]
        WHERE a.attrelid = %s::oid AND a.attnum > 0 AND NOT a.attisdropped
        ORDER BY a.attnum
        """,
        [oid],
    ).fetchall()


def _column(column: Row) -> str:
    text = f"{column['name']} {column['type']}"
    if column["collation"]:
        text += f" COLLATE {column['collation']}"
    if column["required"]:
        usual = column["constraint_name"] in (None, column["usual_name"])
        text += "" if usual else f" CONSTRAINT {column['constraint_name']}"
        text += " NOT NULL"
    if column["identity"]:
        always = "ALWAYS" if column["identity"] == "a" else "BY DEFAULT"
        options = _sequence(column).strip()
        text += f" GENERATED {always} AS IDENTITY" + (f" ({options})" if options else "")
    elif column["generated"]:
        text += f" GENERATED ALWAYS AS ({column['fallback']}) STORED"
    elif column["fallback"] is not None:
        text += f" DEFAULT {column['fallback']}"
    return text


def _shorter(text: str) -> str:
    """Return the text of a constraint as people write it."""
    text = re.sub(
        r"([\w.]+) = ANY \(ARRAY\[((?:'[^']*'::text(?:, )?)+)\]\)",
        lambda m: f"{m[1]} IN ({m[2].replace('::text', '')})",
        text,
    )
    return re.sub(r"^CHECK \(VALUE ", "CHECK (VALUE ", text)


def _table(conn: Connection, table: Row, seen: set[int], oids: list[int], later: list[str]) -> str:
    name = table["name"]
    columns = _columns(conn, table["oid"])
    lines = [_column(column) for column in columns]
    after = []
    for found in conn.execute(
        "SELECT quote_ident(conname) AS name, pg_get_constraintdef(oid, TRUE) AS text,"
        " convalidated AS valid, confrelid::bigint AS refers,"
        " obj_description(oid, 'pg_constraint') AS comment"
        " FROM pg_constraint WHERE conrelid = %s::oid AND contype IN ('p', 'u', 'c', 'f', 'x')"
        " ORDER BY oid",
        [table["oid"]],
    ).fetchall():
        text = f"CONSTRAINT {found['name']} {_shorter(found['text'])}"
        added = f"ALTER TABLE {name} ADD {text};"
        if found["refers"] in oids and found["refers"] not in seen:
            later.append(added)
        elif not found["valid"]:
            after.append(added)
        else:
            lines.append(text)
        if found["comment"]:
            after.append(_comment(f"CONSTRAINT {found['name']} ON {name}", found["comment"]))
    unlogged = "UNLOGGED " if table["persistence"] == "u" else ""
    text = f"CREATE {unlogged}TABLE {name} (\n    " + ",\n    ".join(lines) + "\n)"
    text += f" PARTITION BY {table['key']}" if table["key"] else ""
    text += f" WITH ({', '.join(table['options'])})" if table["options"] else ""
    statements = [text + ";"]
    for column in columns:
        where = f"ALTER TABLE {name} ALTER COLUMN {column['name']}"
        if column["storage"]:
            kinds = {"p": "PLAIN", "e": "EXTERNAL", "m": "MAIN", "x": "EXTENDED"}
            statements.append(f"{where} SET STORAGE {kinds[column['storage']]};")
        if column["statistics"] not in (None, "-1"):
            statements.append(f"{where} SET STATISTICS {column['statistics']};")
        if column["options"]:
            statements.append(f"{where} SET ({', '.join(column['options'])});")
    statements += after
    for index in conn.execute(
        "SELECT pg_get_indexdef(i.indexrelid) AS text, i.indexrelid::regclass::text AS name,"
        " i.indisreplident AS is_identity,"
        " split_part(i.indexrelid::regclass::text, '.', 2) AS bare,"
        " obj_description(i.indexrelid, 'pg_class') AS comment"
        " FROM pg_index AS i WHERE i.indrelid = %s::oid AND NOT EXISTS (SELECT FROM pg_constraint"
        " AS c WHERE c.conindid = i.indexrelid AND c.contype IN ('p', 'u', 'x'))"
        " ORDER BY i.indexrelid",
        [table["oid"]],
    ).fetchall():
        statements.append(index["text"].replace(" USING btree", "") + ";")
        if index["comment"]:
            statements.append(_comment(f"INDEX {index['name']}", index["comment"]))
        if index["is_identity"]:
            statements.append(f"ALTER TABLE {name} REPLICA IDENTITY USING INDEX {index['bare']};")
    statements += [
        row["text"] + ";"
        for row in conn.execute(
            "SELECT pg_get_statisticsobjdef(oid) AS text FROM pg_statistic_ext"
            " WHERE stxrelid = %s::oid ORDER BY oid",
            [table["oid"]],
        )
    ]
    if table["identity"] == "f":
        statements.append(f"ALTER TABLE {name} REPLICA IDENTITY FULL;")
    statements.append(_comment(f"TABLE {name}", table["comment"]))
    statements += [_comment(f"COLUMN {name}.{c['name']}", c["comment"]) for c in columns]
    return "\n".join(statement for statement in statements if statement)


def _linted(files: Mapping[str, str]) -> dict[str, str]:
    """Return the files in the style of the house."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(ROOT / ".sqlfluff", folder)
        for name, text in files.items():
            (Path(folder) / name).write_text(text, encoding="utf-8")
        subprocess.run(
            [sys.executable, "-m", "sqlfluff", "fix", "--quiet", "--processes", "2", folder],
            check=False,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        return {name: (Path(folder) / name).read_text(encoding="utf-8") for name in files}


def _check(found: Mapping[str, str]) -> int:
    differ = [
        name
        for name, text in found.items()
        if not (ROOT / "migrations" / name).is_file()
        or (ROOT / "migrations" / name).read_text(encoding="utf-8") != text
    ]
    for name in differ:
        print(f"migrations/{name} differs from what the migrations of before lead to")
    return int(bool(differ))


if __name__ == "__main__":
    sys.exit(main())

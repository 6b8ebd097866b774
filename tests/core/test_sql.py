"""What the driver sends names the schema of each function, type, operator and relation.

A session of the driver keeps its search_path, because executables and transforms of users are
resolved by it; so somebody who may create in a schema of that path could take over the driver's
own names. The demos speak to people, and pin the path of their sessions instead.
"""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import psycopg
import pytest

import omd
from omd.rooms.control.rows import ModuleExecutionLogRow
from support.offenders import assert_none
from support.strangers import assert_nothing_happened, plant

PACKAGE = Path(__file__).parents[2] / "driver" / "omd"
# Demos are no part of the product; the other writes SQL into a file for a program of others. The
# page shows the SQL that it reads by, and pins the path of its sessions (tests/web/test_traps.py).
# What a dry run and the doctor read is long, and both pin the path of the transaction
# (tests/install/test_strangers.py).
PINNED = {
    PACKAGE / "programs" / "install" / "catalogue.py",
    PACKAGE / "programs" / "cli" / "doctor_statements.py",
}
FILES = sorted(
    f
    for f in PACKAGE.rglob("*.py")
    if f.relative_to(PACKAGE).parts[:2] not in (("programs", "demo"), ("programs", "web"))
    and f.name != "metric_files.py"
    and f not in PINNED
)

STATEMENT = re.compile(
    r"\s*(SELECT\b|WITH \w+ AS|CALL |INSERT INTO|UPDATE \S+ (AS \w+ )?SET|DELETE FROM|TRUNCATE "
    r"|CREATE |SET |COPY |LOCK TABLE|ALTER |DROP |LISTEN )"
)
# Spark and DuckDB have other names, and no stranger creates one there.
ELSEWHERE = re.compile(r"\.sql$|\bre\.compile$")

# The grammar itself resolves these.
SYNTAX = re.compile(
    r"all|and|any|array|as|by|case|cast|coalesce|conflict|else|exists|filter|from|greatest|lateral"
    r"|least|not|on|only|operator|or|ordinality|over|partition|row|rows|select|set|then|union"
    r"|values|when|where|with"
)
TYPES = re.compile(
    r"bigint|bit|boolean|char|decimal|int|integer|interval|numeric|real|smallint|time|timestamp"
    r"|varchar"
)
# These words look an operator up by the search_path.
WORDS = re.compile(
    r"\b(IN\s*\(|LIKE\b|ILIKE\b|BETWEEN\b|NULLIF\b|DISTINCT FROM\b|USING\s*\(|NATURAL\b|SIMILAR\b"
    r"|CASE\s+(?!WHEN\b)\w)",
    re.IGNORECASE,
)


def loose(text: str) -> list[str]:
    """Return what a statement, or a part of one, names without its schema."""
    text = re.sub(r"--[^\n]*|'(?:[^']|'')*'", "''", text)
    text = re.sub(r'"(?:[^"]|"")*"', "{}", text)
    text = re.sub(r"\A\s*EXPLAIN \([^)]*\)", "", text)  # its options are no arguments
    ctes = set(re.findall(r"(?:WITH|,)\s+(\w+)\s+AS\s+\(", text))
    found = re.findall(r"OPERATOR\((?!pg_catalog\.)[^)]*\)", text)
    text = re.sub(r"OPERATOR\([^)]*\)", " ", text)
    found += WORDS.findall(text)
    text = WORDS.sub(" ", text)
    for type_ in re.findall(r"::\s*([\w.{]+)", text):
        if not TYPES.fullmatch(type_) and not type_.startswith(("pg_catalog.", "omd", "{")):
            found.append(f"::{type_}")
    text = re.sub(r"::\s*[\w.{}]+(\[\])?|ROWS FROM", " ", text)
    text = re.sub(r"\bDO UPDATE\b|\bSHARE UPDATE EXCLUSIVE\b", " ", text)
    found += re.findall(r"COLLATE (?!pg_catalog\.)\S+", text)
    for word, relation in re.findall(
        r"\b(FROM|JOIN|INTO|UPDATE|TRUNCATE TABLE|LOCK TABLE)\s+(?:ONLY\s+|LATERAL\s+)?([\w.{(]+)",
        text,
    ):
        if "." not in relation and relation[0] not in "{(" and relation not in ctes:
            found.append(f"{word} {relation}")
    without_aliases = re.sub(r"\bAS \w+\s*\(", " (", text)
    for function in re.findall(r"(?<![\w.}])([A-Za-z_]\w*)\s*\(", without_aliases):
        if not (SYNTAX.fullmatch(function.lower()) or TYPES.fullmatch(function)):
            found.append(f"{function}()")
    text = re.sub(r"\bSET\b(?:\s+LOCAL)?[^;]*", " ", text)
    text = re.sub(r"=>|%s|\$\d*|\(\*\)|\.\*|(SELECT|UNLISTEN) \*|\{[^}]*\}", " ", text)
    return found + re.findall(r"[=<>|~+\-*/%@#&!^]+", text)


@cache
def texts(file: Path) -> list[tuple[int, str]]:
    """Return the SQL in a module: what is a statement, and what is composed or executed."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    nodes = list(ast.walk(tree))
    parents = {child: node for node in nodes for child in ast.iter_child_nodes(node)}
    found = []
    for node in nodes:
        if not isinstance(node, ast.Constant | ast.JoinedStr):
            continue
        above = parents[node]
        if isinstance(above, ast.JoinedStr | ast.FormattedValue | ast.Expr):
            continue  # part of another one, or a docstring
        text = whole(node)
        called = outer(node, parents)
        if text is None or (called is not None and ELSEWHERE.search(called)):
            continue
        is_sent = called is not None and re.search(r"(\bsql\.SQL|\.execute)$", called)
        if is_sent or STATEMENT.match(text):
            found.append((node.lineno, text))
    return found


def outer(node: ast.AST, parents: dict[ast.AST, ast.AST]) -> str | None:
    """Return the function to which a text is given, directly or as one of two texts."""
    child, above = node, parents[node]
    while isinstance(above, ast.IfExp | ast.BinOp):
        child, above = above, parents[above]
    if isinstance(above, ast.Call) and child in above.args[:1]:
        return ast.unparse(above.func)
    return None


def whole(node: ast.Constant | ast.JoinedStr) -> str | None:
    if isinstance(node, ast.Constant):
        value = node.value.decode(errors="replace") if isinstance(node.value, bytes) else node.value
        return value if isinstance(value, str) else None
    return "".join(
        part.value if isinstance(part, ast.Constant) else "{}"  # type: ignore[misc]
        for part in node.values
    )


def test_every_name_has_its_schema() -> None:
    assert_none(
        (f"{file.relative_to(PACKAGE)}, line {line}", f"{names} in {text!r}")
        for file in FILES
        for line, text in texts(file)
        if (names := loose(text))
    )


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("SELECT count(*) FROM omd.module", ["count()"]),
        ("SELECT 'x'::text", ["::text"]),
        ("SELECT FROM pg_class", ["FROM pg_class"]),
        ("SELECT FROM omd.module AS m WHERE m.id = 1", ["="]),
        ("SELECT FROM omd.module AS m WHERE m.id IN (1)", ["IN ("]),
        ("{} IN ({})", ["IN ("]),
        ('{0} COLLATE "C"', ["COLLATE {}"]),
        ("SELECT 1 AS a ORDER BY a USING <", ["<"]),
        ("SELECT a || b", ["||"]),
        ("SELECT a OPERATOR(public.=) b", ["OPERATOR(public.=)"]),
        ("DELETE FROM module", ["FROM module"]),
        ("SELECT 1 / current_setting('x')::bigint", ["current_setting()", "/"]),
        ("SELECT CASE a WHEN b THEN 1 END", ["CASE a"]),
        ("SELECT nullif(a, b)", ["nullif"]),
        ("SELECT pg_catalog.count(*) FROM omd.x WHERE {} OPERATOR(pg_catalog.=) $1::bigint", []),
        ("WITH a AS (SELECT 1) SELECT * FROM a JOIN pg_catalog.unnest(%s) AS u (n) ON true", []),
        ("SET LOCAL search_path = pg_catalog, pg_temp", []),
        ("CALL omd.fence(p_x => $1::pg_catalog.text[])", []),
    ],
)
def test_a_name_without_schema_is_seen(text: str, names: list[str]) -> None:
    assert loose(text) == names


def test_the_statements_of_the_driver_are_seen() -> None:
    seen = {"/".join(f.relative_to(PACKAGE).parts[:2]) for f in FILES for _ in texts(f)}
    assert seen >= {f"programs/{p}" for p in ("cli", "worker", "install", "embedded.py")}
    assert {part.split("/")[0] for part in seen} >= {"_core", "spark"}


def test_the_driver_springs_no_trap(dsn: str) -> None:
    """Its session finds a stranger's functions, operators, types and relations first."""
    with psycopg.connect(dsn) as conn:
        conn.execute("CREATE SCHEMA dwh")
        conn.execute("CREATE TABLE dwh.t (omd_insert_module_instance_id bigint)")
    hostile = plant(dsn, FILES)
    with omd.connect(hostile) as control:
        control.calls.omd.register_module(
            "m", area_code="INT", table_code="dwh.t", table_type_code="HUB"
        )
        control.calls.omd.register_batch("b", frequency_code="Adhoc")
        control.calls.omd.add_module_to_batch("b", "m")
        with control.batch("b") as batch, batch.module("m"):
            assert control.calls.omd.explain_begin(module_code="m")
        rows = control.report(
            ModuleExecutionLogRow,
            order_by=["module_instance_id"],
            after={"module_instance_id": 0},
            module_code=["m", "n"],
            execution_status_code="S",
        )
        assert [row.module_code for row in rows] == ["m"]
    assert_nothing_happened(dsn)

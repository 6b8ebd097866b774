"""What runs as the owner of OMD: which statements each routine with his rights reaches.

A routine that is SECURITY DEFINER runs with the rights of omd_owner, and so does whatever it
calls, writes or reads: routines, functions in views, triggers, defaults and checks of tables.
Views, tables and routines whose body the server has parsed say by pg_depend what they use; the body
of a routine in PL/pgSQL is cut into words, without its comments and texts.

A statement is open if what it names is known only when it runs, so it may be what users made.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import psycopg

    Connection = psycopg.Connection[dict[str, Any]]

# Bodies that generated routines have, over tables that OMD makes for users.
GENERATED = """
    CALL omd_delivery.deploy_model('{"interface": "i", "entities": [{"name": "e", "key": ["k"],
        "attributes": [{"name": "k", "type": "integer"}]}]}');
    CALL omd_delivery.register_tenant('t');
    CALL omd_delivery.register_agreement('a', 't', 'i');
    CALL omd_facts.deploy('i');
    CALL omd_dispatch.register_family('PLAIN', '{"DEPOT": "text"}');
    CALL omd_dispatch.register_family('MIRRORED', p_migration_status => 3);
"""
ROUTINES = """
    SELECT p.oid, format('%s.%s', p.pronamespace::regnamespace, quote_ident(p.proname)) AS name,
        p.prosecdef AS definer,
        coalesce(pg_get_function_sqlbody(p.oid), p.prosrc) AS body
    FROM pg_proc AS p WHERE p.proowner = 'omd_owner'::regrole"""
RELATIONS = """
    SELECT c.oid, format('%s.%s', c.relnamespace::regnamespace, quote_ident(c.relname)) AS name,
        c.relkind AS kind,
        c.relkind = 'v' AND NOT coalesce(c.reloptions && '{security_invoker=true}', FALSE)
            AS definer,
        CASE WHEN c.relkind IN ('v', 'm') THEN pg_get_viewdef(c.oid) ELSE '' END AS body
    FROM pg_class AS c
    WHERE c.relowner = 'omd_owner'::regrole AND c.relkind IN ('r', 'p', 'v', 'm')"""
# Whatever belongs to a routine or relation (a rule, a default, a check, an index) and uses another.
USES = """
    WITH part AS (
        SELECT 'pg_proc'::regclass AS class, p.oid, 'pg_proc'::regclass AS of_class, p.oid AS of,
            FALSE AS is_of_rows
        FROM pg_proc AS p
        UNION ALL
        SELECT 'pg_rewrite'::regclass, r.oid, 'pg_class'::regclass, r.ev_class, FALSE
        FROM pg_rewrite AS r
        UNION ALL
        SELECT 'pg_attrdef'::regclass, a.oid, 'pg_class'::regclass, a.adrelid, TRUE
        FROM pg_attrdef AS a
        UNION ALL
        SELECT 'pg_constraint'::regclass, c.oid, 'pg_class'::regclass, c.conrelid, TRUE
        FROM pg_constraint AS c WHERE c.conrelid > 0
        UNION ALL
        SELECT 'pg_class'::regclass, i.indexrelid, 'pg_class'::regclass, i.indrelid, TRUE
        FROM pg_index AS i
    )
    SELECT DISTINCT p.of_class, p.of, d.refclassid AS to_class, d.refobjid AS to, p.is_of_rows
    FROM pg_depend AS d INNER JOIN part AS p ON d.classid = p.class AND d.objid = p.oid
    WHERE d.refclassid IN ('pg_proc'::regclass, 'pg_class'::regclass)
        AND NOT (d.refclassid = p.of_class AND d.refobjid = p.of)"""
TRIGGERS = """
    SELECT t.tgrelid AS table, t.tgfoid AS function, t.tgtype AS type,
        coalesce(pg_get_triggerdef(t.oid) ~ 'CURRENT_USER <> ', FALSE) AS spares_owner
    FROM pg_trigger AS t WHERE NOT t.tgisinternal"""

WORD = re.compile(
    r"""(?P<comment>--[^\n]*|/\*.*?\*/)
    |(?P<text>\b[eE]?'(?:[^'\\]|''|\\.)*'|'(?:[^']|'')*'|\$(?P<tag>\w*)\$.*?\$(?P=tag)\$)
    |(?P<word>"(?:[^"]|"")*"|[A-Za-z_][\w$]*)
    |(?P<sign>\S)""",
    re.VERBOSE | re.DOTALL,
)
# Functions that run a text, or convert one to a type that a user names.
EVALUATES = re.compile(
    r"(query|table|cursor|schema|database)_to_xml\w*|dblink\w*|ts_stat|ts_rewrite|pg_input_\w+"
)
# Tables that name routines of rooms, which a text then calls. Those of omd.room_hook are called for
# their hook, which the caller names.
HOOKS = """
    SELECT format('%s.%s', c.relnamespace::regnamespace, quote_ident(c.relname)) AS table,
        quote_ident(a.attname) AS column,
        (
            SELECT quote_ident(s.attname) || ' || ''.'' || ' FROM pg_attribute AS s
            WHERE s.attrelid = c.oid AND s.attname = 'schema_name'
        ) AS schema
    FROM pg_class AS c INNER JOIN pg_attribute AS a ON a.attrelid = c.oid
    WHERE c.relowner = 'omd_owner'::regrole AND c.relkind = 'r' AND a.attnum > 0
        AND a.attname ~ '(^|_)routine$' AND NOT a.attisdropped AND c.relname <> 'room_hook'"""
CALLED = re.compile(r"\b(omd\w*\.\w+)(?=\()|^'(omd\w*\.\w+)'$")
EVENTS = {"INSERT": 4, "DELETE": 8, "UPDATE": 16, "TRUNCATE": 32, "MERGE": 28}


@dataclass
class Node:
    """A routine or a relation."""

    name: str
    kind: str
    definer: bool
    body: str
    words: list[str] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    uses: set[str] = field(default_factory=set)
    open: Counter[str] = field(default_factory=Counter)


def words_of(body: str) -> tuple[list[str], list[str]]:
    """Return the words and signs of a body, where a text is '', and its texts."""
    found, texts = [], []
    for match in WORD.finditer(body):
        if match["text"]:
            found.append("''")
            texts.append(match["text"])
        elif match["word"] or match["sign"]:
            found.append(match["word"] or match["sign"])
    return found, texts


class Reach:
    """All that belongs to omd_owner, and what uses what."""

    def __init__(self, conn: Connection) -> None:
        self.nodes: dict[str, Node] = {}
        by_oid: dict[tuple[str, int], str] = {}
        for kind, query in (("pg_proc", ROUTINES), ("pg_class", RELATIONS)):
            for row in conn.execute(query.encode()):
                by_oid[kind, row["oid"]] = row["name"]
                # A name may be that of a routine and of a view: the routine has parentheses.
                name = row["name"] + ("()" if kind == "pg_proc" else "")
                node = Node(name, row.get("kind", "f"), row["definer"], row["body"])
                node.words, node.texts = words_of(row["body"])
                self.nodes[name] = node
                by_oid[kind, row["oid"]] = name
        fires: dict[str, list[tuple[int, str, bool]]] = {}
        for row in conn.execute(TRIGGERS.encode()):
            table = by_oid.get(("pg_class", row["table"]))
            function = by_oid.get(("pg_proc", row["function"]))
            if table and function:
                fires.setdefault(table, []).append((row["type"], function, row["spares_owner"]))
        of_rows: dict[str, set[str]] = {}
        for row in conn.execute(USES.encode()):
            of = by_oid.get((self.text(row["of_class"]), row["of"]))
            to = by_oid.get((self.text(row["to_class"]), row["to"]))
            if of and to:
                (of_rows.setdefault(of, set()) if row["is_of_rows"] else self.nodes[of].uses).add(
                    to
                )
        hooks: dict[tuple[str, str], set[str]] = {}
        for row in conn.execute(HOOKS.encode()):
            value = f"{row['schema'] or ''}{row['column']}"
            for named in conn.execute(f"SELECT {value} AS name FROM {row['table']}".encode()):
                if f"{named['name']}()" in self.nodes:
                    column = (row["table"], row["column"])
                    hooks.setdefault(column, set()).add(f"{named['name']}()")
        by_hook: dict[str, set[str]] = {}
        for row in conn.execute("SELECT hook, routine FROM omd.room_hook"):
            by_hook.setdefault(f"'{row['hook']}'", set()).add(f"{row['routine']}()")
        for node in self.nodes.values():
            self.read(node, fires, of_rows)
            if node.open["EXECUTE"]:
                for (table, column), routines in hooks.items():
                    if table in node.uses and column in node.words:
                        node.uses |= routines
                for text in node.texts:
                    found = {f"{a or b}()" for a, b in CALLED.findall(text)}
                    node.uses |= found & self.nodes.keys()
                    node.uses |= by_hook.get(text, set())

    @staticmethod
    def text(class_: Any) -> str:
        return {"1255": "pg_proc", "1259": "pg_class"}.get(str(class_), str(class_))

    def read(
        self,
        node: Node,
        fires: dict[str, list[tuple[int, str, bool]]],
        of_rows: dict[str, set[str]],
    ) -> None:
        """Find what the words of a body use, and its open statements."""
        words = [*node.words, "", "", ""]
        upper = [word.upper() for word in words]
        for n, word in enumerate(words[:-3]):
            following = upper[n + 1]
            if upper[n] == "EXECUTE" and following not in ("FUNCTION", "PROCEDURE", "ON"):
                node.open["EXECUTE"] += 1
            elif upper[n] == "IMMEDIATE" and upper[max(n - 3, 0)] == "SET":
                node.open["SET CONSTRAINTS"] += 1  # what waits is a trigger of anybody's
            elif upper[n] in ("FETCH", "MOVE") and following not in ("FIRST", "NEXT"):
                node.open["FETCH"] += 1
            elif upper[n] == "PG_TEMP" and following == ".":
                node.open["pg_temp"] += 1
            elif following == "(" and EVALUATES.fullmatch(word):
                node.open[word] += 1
            elif words[n + 1 : n + 4] == [":", ":", "regtype"] and word != "''":
                node.open["regtype"] += 1
            if following != ".":
                continue
            name = f"{word}.{words[n + 2]}"
            called = f"{name}()"
            if words[n + 3 : n + 4] == ["("] and called in self.nodes:
                node.uses.add(called)
            elif name in self.nodes:
                node.uses.add(name)
                event = EVENTS.get(self.before(upper, n), 0)
                if event:
                    node.uses |= of_rows.get(name, set())
                for type_, function, spares_owner in fires.get(name, ()):
                    if type_ & event and not (spares_owner and node.definer):
                        node.uses.add(function)

    @staticmethod
    def before(upper: list[str], n: int) -> str:
        """Return which write the words before a name are."""
        if upper[n - 1] == "ONLY":
            n -= 1
        if upper[n - 1] in ("INTO", "FROM"):
            return upper[n - 2] if upper[n - 2] in ("INSERT", "MERGE", "DELETE") else ""
        return upper[n - 1] if upper[n - 1] in ("UPDATE", "TRUNCATE") else ""

    def reached(self) -> dict[str, str]:
        """Return what runs as the owner, each with what uses it; "" for where it begins."""
        found = {name: "" for name, node in self.nodes.items() if node.definer}
        todo = list(found)
        while todo:
            name = todo.pop()
            for used in sorted(self.nodes[name].uses):
                if used not in found:
                    found[used] = name
                    todo.append(used)
        return found

    def way(self, name: str, found: dict[str, str]) -> str:
        """Return how a routine is reached, from the routine with the owner's rights."""
        way = [name]
        while found[way[-1]]:
            way.append(found[way[-1]])
        return " > ".join(reversed(way))

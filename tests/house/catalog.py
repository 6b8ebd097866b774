"""Every routine of every room, from the catalog and the files; it is read once for all tests."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import omd.programs.install
from house.exceptions import NEVER_RAISED

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import psycopg

    Connection = psycopg.Connection[dict[str, Any]]

ROLES = ("omd_reader", "omd_runner", "omd_admin")
SCHEMAS = "SELECT oid FROM pg_namespace WHERE nspname ~ '^omd(_|$)'"
FOLDER = omd.programs.install.sql_root() / "procedures"
FILES: list[Path] = sorted(FOLDER.rglob("*.sql"))

NEVER: dict[str, set[str]] = {}
for _errors, _, _edges in NEVER_RAISED:
    for _edge in _edges:
        NEVER.setdefault(_edge, set()).update(_errors.split())
STRING = r"'(?:[^']|'')*'"
# Hooks whose errors a COMMENT names one by one; of others it says that they are those of the room.
NAMED_ERRORS = "FORGET_ATTEMPTS|RECALL_[A-Z_]+|TAKE_BACK(?:_OWN)?|ERASE"
WRITE = re.compile(r"\b(INSERT INTO|UPDATE|DELETE FROM)\s+(?:ONLY\s+)?(omd\w*\.\w+)", re.IGNORECASE)
# A trigger with a condition on current_user does not fire for a routine with the owner's rights.
TRIGGERS = f"""
    SELECT
        c.relnamespace::regnamespace || '.' || c.relname AS table,
        t.tgfoid::regproc::text AS function,
        t.tgqual IS NOT NULL AND pg_get_triggerdef(t.oid) ~ 'CURRENT_USER <> ' AS spares_owner,
        CASE WHEN t.tgtype & 4 > 0 THEN '{{INSERT INTO}}'::text[] ELSE '{{}}' END
        || CASE WHEN t.tgtype & 8 > 0 THEN '{{DELETE FROM}}'::text[] ELSE '{{}}' END
        || CASE WHEN t.tgtype & 16 > 0 THEN '{{UPDATE}}'::text[] ELSE '{{}}' END AS events
    FROM pg_trigger AS t
    INNER JOIN pg_class AS c ON t.tgrelid = c.oid
    WHERE NOT t.tgisinternal AND c.relnamespace IN ({SCHEMAS})"""
ROUTINES = """
    SELECT
        p.oid,
        n.nspname AS schema,
        n.nspname || '.' || p.proname AS name,
        p.proname AS routine,
        p.prokind AS kind,
        p.pronargs AS arguments,
        p.prosecdef AS definer,
        p.prosqlbody IS NOT NULL AS atomic,
        p.provolatile = 'v' OR p.prokind = 'p' AS is_volatile,
        p.prorettype = 'trigger'::regtype AS is_trigger,
        coalesce(p.proconfig, '{}') AS settings,
        p.proowner::regrole::text AS owner,
        pg_get_functiondef(p.oid) AS definition,
        l.audience,
        l.is_public,
        l.comment,
        l.roles AS granted,
        ARRAY(
            SELECT r FROM unnest(%s::text[]) AS r WHERE has_function_privilege(r, p.oid, 'EXECUTE')
        ) AS callable_by
    FROM omd_report.routine_list AS l
    INNER JOIN pg_proc AS p ON l.routine_oid = p.oid
    INNER JOIN pg_namespace AS n ON p.pronamespace = n.oid
    ORDER BY 3"""


@dataclass(frozen=True)
class Routine:
    """A routine as it is installed."""

    oid: int
    schema: str
    name: str
    routine: str
    kind: str
    arguments: int
    definer: bool
    atomic: bool
    is_volatile: bool
    is_trigger: bool
    settings: list[str]
    owner: str
    definition: str
    audience: str
    is_public: bool
    comment: str
    granted: list[str]
    callable_by: list[str] = field(repr=False)

    @property
    def is_called(self) -> bool:
        """Whether somebody calls it who is no routine of ours: a person, a program, the driver."""
        return self.is_public or self.audience == "DRIVER"

    @cached_property
    def text(self) -> str:
        """Return the definition without its comments."""
        return re.sub(
            r"('(?:[^']|'')*')|--[^\n]*", lambda found: found.group(1) or "", self.definition
        )

    @cached_property
    def raises(self) -> set[str]:
        """The errors that its own body raises, without OM9nn, which no caller has to expect."""
        found = re.findall(r"(?:raise_error\s*\(|ERRCODE\s*=)\s*'(OM[0-8]\d\d)'", self.text)
        return set(found)

    @property
    def executes_text(self) -> bool:
        body = re.sub(STRING, "''", self.text)
        return bool(
            re.search(r"\bEXECUTE\b|query_to_xml|cursor_to_xml|dblink", body, re.IGNORECASE)
        )


class Catalog:
    """All routines, and which routine calls which."""

    def __init__(self, conn: Connection) -> None:
        rows = conn.execute(ROUTINES, [list(ROLES)])
        self.routines = {row["name"]: Routine(**row) for row in rows}
        self.triggers = conn.execute(TRIGGERS.encode()).fetchall()
        self.hooks: dict[str, set[str]] = {}
        for row in conn.execute("SELECT hook, routine FROM omd.room_hook"):
            self.hooks.setdefault(row["hook"], set()).add(row["routine"])
        self.calls = {
            name: self.names(routine.text) | self.hooked(name, routine.text)
            for name, routine in self.routines.items()
        }

    def __iter__(self) -> Iterator[Routine]:
        return iter(self.routines.values())

    def of_files(self) -> Iterator[tuple[Path, Routine]]:
        """Yield each file of procedures with its routine.

        A file without a routine is found by test_every_routine_has_its_file.
        """
        for file in FILES:
            if routine := self.routines.get(name_of(file)):
                yield file, routine

    def names(self, text: str) -> set[str]:
        """Return the routines that a text calls; a routine that names itself is one of them."""
        found = set(re.findall(r"\b(omd\w*\.\w+)\s*\(", text)) & self.routines.keys()
        if "omd._raise_again" in found:  # what began is named in a table
            found |= {"omd.begin_run", "omd._require_database_run"}
        head = re.match(r"CREATE OR REPLACE \w+ (omd\w*\.\w+)", text)
        return found - {head.group(1)} if head else found

    def hooked(self, name: str, text: str, hooks: str = "[A-Z_]+") -> set[str]:
        """Return the routines of rooms that a part of a routine calls by their hook."""
        if not self.routines[name].executes_text:
            return set()
        return {
            routine
            for hook in re.findall(f"'({hooks})'", text)
            for routine in self.hooks.get(hook, ())
        }

    def fired(self, name: str, text: str) -> set[str]:
        """The trigger functions of what a part of a routine writes."""
        writes = {(event.upper(), table) for event, table in WRITE.findall(text)}
        return {
            trigger["function"]
            for trigger in self.triggers
            for event in trigger["events"]
            if (event, trigger["table"]) in writes
            and not (trigger["spares_owner"] and self.routines[name].definer)
        }

    def parts(self, name: str, text: str) -> Iterator[tuple[set[str], Any]]:
        """Yield what each part of a routine calls, and which errors are caught there."""
        for part, caught in sections(text):
            done = re.sub(STRING, "''", part)
            hooked = self.hooked(name, part, NAMED_ERRORS)
            yield (self.names(done) | self.fired(name, done) | hooked) - {name}, caught

    def raised(self, name: str) -> set[str]:
        """Return the errors that may leave a routine: its own, and uncaught ones of its callees."""
        return self._raised()[name]

    def _raised(self) -> dict[str, set[str]]:
        if not hasattr(self, "_codes"):
            parts = {name: list(self.parts(name, r.text)) for name, r in self.routines.items()}
            codes = {name: set(routine.raises) for name, routine in self.routines.items()}
            changed = True
            while changed:
                changed = False
                for name in codes:
                    for callees, caught in parts[name]:
                        for callee in callees:
                            never = NEVER.get(f"{name} > {callee}", set())
                            new = {c for c in codes[callee] if not caught(c) and c not in never}
                            new -= codes[name]
                            codes[name] |= new
                            changed |= bool(new)
            self._codes = codes
        return self._codes


def name_of(file: Path) -> str:
    """Return the name of the routine that a file is to hold."""
    return f"{file.relative_to(FOLDER).parts[0]}.{file.stem}"


def sections(text: str) -> Any:
    """Return the parts of a body, each with a function that tells which errors it catches.

    A part is what stands between two words that open or close a block.
    """
    word = re.compile(
        r"\$(\w+)\$.*?\$\1\$|'(?:[^']|'')*'|\b(END\s+(?:IF|LOOP|CASE)|END|BEGIN(?!\s+ATOMIC)|CASE|IF|LOOP"
        r"|(?<!RAISE )EXCEPTION)\b",
        re.DOTALL,
    )
    body = re.search(r"AS \$(\w*)\$(.*)\$\1\$", text, re.DOTALL)
    if not body:
        yield text, lambda _: False
        return
    text = body.group(2)
    blocks: list[dict[str, Any]] = []  # open ones
    parts: list[tuple[str, list[dict[str, Any]]]] = []
    at = 0
    for match in word.finditer(text):
        found = match.group(2)
        if found is None:  # a string
            continue
        parts.append((text[at : match.start()], [b for b in blocks if b["guarded"]]))
        at = match.end()
        if found == "EXCEPTION":
            blocks[-1]["guarded"] = False
            blocks[-1]["handlers_from"] = at
        elif found.startswith("END"):
            block = blocks.pop()
            if block["handlers_from"]:
                block["handlers"] = text[block["handlers_from"] : match.start()]
        elif found in ("BEGIN", "CASE", "IF", "LOOP"):
            blocks.append({"guarded": found == "BEGIN", "handlers_from": None, "handlers": None})
    parts.append((text[at:], []))
    assert not blocks, "a block has no end"

    for part, around in parts:
        handlers = [block["handlers"] for block in around if block["handlers"]]
        yield part, lambda code, handlers=handlers: any(catches(h, code) for h in handlers)


def catches(handlers: str, code: str) -> bool:
    """Return whether handlers end an error, that is, do not raise it again."""
    for condition, action in re.findall(
        r"WHEN\s+(.*?)\s+THEN(.*?)(?=\bWHEN\s|$)",
        handlers,
        re.DOTALL,
    ):
        if re.search(rf"\b(OTHERS|{code})\b", condition):
            return not re.search(r"\bRAISE\s*;", action)
    return False

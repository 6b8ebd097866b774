"""A migration after 1.0 is applied while OMD is used: it rewrites no table, it stops nobody."""

from __future__ import annotations

import re

import pytest

from omd.programs import install
from omd.programs.install.manifest import Phase
from support import next_release
from support.offenders import assert_none

CHUNK = 10_000
# What is refused in any phase, and why.
REFUSED = {
    r"\bADD COLUMN\b[^,;]*\bDEFAULT\b[^,;]*\w\s*\(": "a computed DEFAULT rewrites the table",
    r"\bADD COLUMN\b[^,;]*\bGENERATED\b": "a generated column rewrites the table",
    r"\bADD COLUMN\b[^,;]*\b(?:PRIMARY KEY|UNIQUE)\b": "it builds an index without CONCURRENTLY",
    r"\bALTER COLUMN\b\s+\w+\s+(?:SET DATA )?TYPE\b": "another type rewrites the table",
    r"\bALTER COLUMN\b\s+\w+\s+ADD GENERATED\b": "it rewrites the table",
    r"\bSET (?:LOGGED|UNLOGGED|TABLESPACE|ACCESS METHOD)\b": "it rewrites the table",
    r"\b(?:CLUSTER|VACUUM|REINDEX)\b": "it rewrites tables or indexes",
    r"\bADD CONSTRAINT\b[^,;]*\b(?:CHECK|FOREIGN KEY)\b(?![^;]*\bNOT VALID\b)": (
        "it looks at every row under its lock: NOT VALID, then VALIDATE in a concurrent file"
    ),
    r"\bADD (?:CONSTRAINT \w+ )?(?:PRIMARY KEY|UNIQUE)\b(?! USING INDEX)": (
        "it builds an index without CONCURRENTLY: USING INDEX"
    ),
    r"\bADD (?:CONSTRAINT \w+ )?EXCLUDE\b": "it builds an index without CONCURRENTLY",
}


def problems(text: str, phase: Phase, locks: str = "") -> list[str]:
    """Return what is wrong with the text of a migration."""
    text = re.sub(r"(?m)--.*$", "", text)
    bare = re.sub(r"(?s)(\$\w*\$).*?\1", "''", re.sub(r"'(?:[^']|'')*'", "''", text))
    new = set(re.findall(r"\bCREATE (?:UNLOGGED )?TABLE (?:IF NOT EXISTS )?([\w.]+)", bare))
    found = []
    statements = [part.strip() for part in bare.split(";") if part.strip()]
    for statement in statements:
        table = re.match(r"ALTER TABLE (?:IF EXISTS )?(?:ONLY )?([\w.]+)", statement)
        if table and table[1] in new:
            continue
        found += [why for pattern, why in REFUSED.items() if re.search(pattern, statement)]
        index = re.match(
            r"CREATE (?:UNIQUE )?INDEX (?P<how>.*?)\s*\w+ ON (?:ONLY )?(?P<table>[\w.]+)",
            statement,
            re.DOTALL,
        )
        if index and index["table"] not in new:
            if index["how"].split() != ["CONCURRENTLY", "IF", "NOT", "EXISTS"]:
                found.append("an index is made CONCURRENTLY IF NOT EXISTS")
            elif phase is not Phase.CONCURRENT:
                found.append("CONCURRENTLY is of the phase concurrent")
        if re.search(r"\bVALIDATE CONSTRAINT\b", statement) and phase is not Phase.CONCURRENT:
            found.append("VALIDATE is of the phase concurrent")
        if table and phase is Phase.INSTALL:
            found.append("a table is altered in the phase expand or contract")
        if re.match(r"(?:UPDATE|DELETE)\b", statement) and phase is Phase.EXPAND:
            found.append("rows are changed in the phase backfill")
    if phase in (Phase.BACKFILL, Phase.CONCURRENT) and len(statements) != 1:
        found.append("it is one statement")
    if phase is Phase.BACKFILL:
        limits = [int(limit) for limit in re.findall(r"\bLIMIT (\d+)", bare)]
        if not limits or max(limits) > CHUNK:
            found.append(f"it takes at most {CHUNK} rows at a time (LIMIT)")
        if not re.search(r"\bIS NULL\b", bare):
            found.append("it asks for what is still empty (IS NULL), else it does not end")
    if phase in (Phase.EXPAND, Phase.CONTRACT):
        altered = set(re.findall(r"\bALTER TABLE (?:IF EXISTS )?(?:ONLY )?([\w.]+)", bare))
        altered |= set(re.findall(r"\bTRIGGER \w+\b[^;]*? ON ([\w.]+)", bare))
        missing = altered - new - {name.strip() for name in locks.split(",")}
        if missing:
            found.append(
                f"its list names what it locks: \\set locks '{', '.join(sorted(missing))}'"
            )
    return found


def test_a_later_migration_rewrites_no_table_and_indexes_concurrently():
    """What is new in the installation itself, as data for new routines, may still be there."""
    later = [
        entry
        for entry in install.read_manifest()
        if entry.kind is install.Kind.MIGRATION and entry.phase is not Phase.BASELINE
    ]
    assert_none(
        (entry.path, problem)
        for entry in later
        for problem in problems(entry.text, entry.phase, entry.locks)
    )


def test_no_migration_is_older_than_the_baselines():
    """A released file never changes, so what comes later is a new one."""
    entries = [e for e in install.read_manifest() if e.kind is install.Kind.MIGRATION]
    baselines = [int(e.name[1:4]) for e in entries if e.phase is Phase.BASELINE]
    assert_none(
        (entry.path, "its number is that of a file from before 1.0")
        for entry in entries
        if entry.phase is not Phase.BASELINE and int(entry.name[1:4]) <= max(baselines)
    )


@pytest.mark.parametrize("name", next_release.STEPS)
def test_the_release_of_the_tests_is_as_it_should_be(name):
    text = next_release.STEPS[name]
    phase = Phase(text.partition("\n")[0].removeprefix("-- phase: "))
    assert problems(text, phase, next_release.TABLE) == []


@pytest.mark.parametrize(
    ("phase", "text"),
    [
        ("expand", "ALTER TABLE omd.module ADD COLUMN x timestamptz DEFAULT clock_timestamp();"),
        ("expand", "ALTER TABLE omd.module ADD COLUMN x int GENERATED ALWAYS AS (1) STORED;"),
        ("expand", "ALTER TABLE omd.module ALTER COLUMN module_code TYPE varchar;"),
        ("expand", "ALTER TABLE omd.module ADD CONSTRAINT ck_x CHECK (module_id > 0);"),
        ("expand", "ALTER TABLE omd.module ADD CONSTRAINT uq_x UNIQUE (job);"),
        ("expand", "CREATE INDEX ix_x ON omd.module (job);"),
        ("expand", "CREATE INDEX CONCURRENTLY IF NOT EXISTS ix_x ON omd.module (job);"),
        ("expand", "UPDATE omd.module SET job = NULL;"),
        ("expand", "ALTER TABLE omd.batch ADD COLUMN x int;"),
        ("concurrent", "CREATE INDEX CONCURRENTLY ix_x ON omd.module (job);"),
        ("concurrent", "SELECT 1; SELECT 2;"),
        ("backfill", "UPDATE omd.module SET job = '' WHERE job IS NULL;"),
        ("backfill", "UPDATE omd.module SET job = '' WHERE ctid IN (SELECT ctid LIMIT 20000);"),
        ("install", "ALTER TABLE omd.module ADD COLUMN x int;"),
        ("contract", "VACUUM omd.module;"),
    ],
)
def test_what_would_stop_others_is_refused(phase, text):
    assert problems(text, Phase(phase), "omd.module") != []


def test_a_new_table_may_have_what_it_likes():
    text = "CREATE TABLE omd.x (a int); CREATE INDEX ix_x_a ON omd.x (a);"
    assert problems(text, Phase.EXPAND) == []

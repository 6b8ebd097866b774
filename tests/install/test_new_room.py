"""A new room is its own folders, a word in `doors/registry.py` and a line in `sql/install.sql`."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

MIGRATION = """\
CREATE SCHEMA omd_empty;
COMMENT ON SCHEMA omd_empty IS 'Empty: a room with one table.';

CREATE TABLE omd_empty.thing (
    thing_id integer GENERATED ALWAYS AS IDENTITY,
    thing_code text NOT NULL,
    CONSTRAINT pk_thing PRIMARY KEY (thing_id),
    CONSTRAINT uq_thing_thing_code UNIQUE (thing_code)
);
COMMENT ON TABLE omd_empty.thing IS 'Things.';
COMMENT ON COLUMN omd_empty.thing.thing_id IS 'Surrogate key.';
COMMENT ON COLUMN omd_empty.thing.thing_code IS 'The thing.';
"""

ROUTINE = """\
-- A thing is known by its code: to add it again changes nothing.

CREATE OR REPLACE PROCEDURE omd_empty.add_thing(
    p_thing_code text,
    p_is_known boolean DEFAULT NULL,
    INOUT p_thing_id integer DEFAULT NULL
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $add_thing$
BEGIN
    PERFORM omd.require_name('p_thing_code', p_thing_code);
    INSERT INTO omd_empty.thing AS t (thing_code) VALUES (p_thing_code)
    ON CONFLICT (thing_code) DO UPDATE SET thing_code = excluded.thing_code
    RETURNING t.thing_id INTO p_thing_id;
END
$add_thing$;

COMMENT ON PROCEDURE omd_empty.add_thing IS
'Adds the thing p_thing_code. p_is_known: says nothing. Answers p_thing_id. Errors: OM005, OM013. '
'Locks: the thing. Call again when the answer was lost.';
REVOKE ALL ON PROCEDURE omd_empty.add_thing FROM PUBLIC;
GRANT EXECUTE ON PROCEDURE omd_empty.add_thing TO omd_runner;
"""

VIEW = """\
CREATE OR REPLACE VIEW omd_report.thing_list AS
SELECT t.thing_id, t.thing_code FROM omd_empty.thing AS t;
COMMENT ON VIEW omd_report.thing_list IS 'Every thing.';
COMMENT ON COLUMN omd_report.thing_list.thing_id IS 'Surrogate key.';
COMMENT ON COLUMN omd_report.thing_list.thing_code IS 'The thing.';
"""

GRANTS = """\
GRANT USAGE ON SCHEMA omd_empty TO omd_reader;
GRANT SELECT ON ALL TABLES IN SCHEMA omd_empty, omd_report TO omd_reader;
"""

LIST = f"""\
\\set checksum '{hashlib.sha256(MIGRATION.encode()).hexdigest()}'
\\set migration 'V999__empty'
\\ir ../setup/claim.psql
\\if :pending
\\ir ../../migrations/V999__empty.sql
\\endif
\\ir ../../procedures/omd_empty/add_thing.sql
\\ir ../views/omd_empty/thing_list.sql
\\ir ../grants/omd_empty.sql
"""

FILES = {
    "migrations/V999__empty.sql": MIGRATION,
    "procedures/omd_empty/add_thing.sql": ROUTINE,
    "sql/views/omd_empty/thing_list.sql": VIEW,
    "sql/grants/omd_empty.sql": GRANTS,
    "sql/install/omd_empty.sql": LIST,
    "driver/omd/rooms/empty/__init__.py": '"""Things."""\n',
}
LINES = {
    "driver/omd/doors/registry.py": ('"control", "lake", "lineage", ', '"empty", '),
    "sql/install.sql": ("\\ir install/omd_lineage.sql\n", "\\ir install/omd_empty.sql\n"),
}


@pytest.fixture
def house(tmp_path: Path) -> Path:
    """A copy of the repository with one more room, for which nothing is generated yet."""
    for name in ("driver", "migrations", "procedures", "sql", "tools"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "docs/reference/former.tsv"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    for name, (before, line) in LINES.items():
        file = tmp_path / name
        text = file.read_text()
        assert text.count(before) == 1
        file.write_text(text.replace(before, before + line))
    return tmp_path


def test_a_new_room_needs_its_folders_a_word_and_a_line(house: Path, empty_dsn: str) -> None:
    def python(*arguments: str) -> str:
        done = subprocess.run(
            [sys.executable, *arguments],
            check=False,
            capture_output=True,
            text=True,
            cwd=house,
            env={**os.environ, "PYTHONPATH": str(house / "driver"), "OMD_DSN": empty_dsn},
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def omd(*arguments: str) -> str:
        return python("-c", "from omd.programs.cli.main import main; main()", *arguments)

    install = (
        "import os, psycopg, omd.programs.install;"
        "omd.programs.install.install(psycopg.connect(os.environ['OMD_DSN'], autocommit=True))"
    )
    python("-c", install)
    python("tools/generate.py")
    python("tools/generate.py", "--check")

    reference = (house / "docs/reference/routines.md").read_text()
    assert "### omd_empty.add_thing" in reference
    assert "## omd_report.thing_list" in (house / "docs/reference/views.md").read_text()
    call = (
        "import omd; room = omd.connect().calls.omd_empty;"
        "print(room.add_thing('x'), room.add_thing('x'))"
    )
    assert python("-c", call) == "1 1\n"
    omd("call", "omd_empty.add_thing", "--thing-code", "y", "--is-known", "true")
    assert omd("report", "thing_list", "--output", "csv") == "thing_id,thing_code\n1,x\n3,y\n"
    python("-c", "import omd; omd.errors.lookup('OM015')")
    assert "Says nothing" in omd("call", "omd_empty.add_thing", "--help")

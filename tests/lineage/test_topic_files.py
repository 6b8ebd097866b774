"""Topics in YAML files: omd apply and omd diff."""

from __future__ import annotations

import json
import re
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import click
import psycopg
import pytest

import omd
from omd.doors.lineage import Lineage
from omd.programs.cli.documents.lineage import read_topics
from support.documents import document

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Iterator
    from pathlib import Path

    Command = Callable[..., subprocess.CompletedProcess[str]]
    Connection = psycopg.Connection[dict[str, Any]]

SCHEMA = """
CREATE SCHEMA stg; CREATE SCHEMA etl; CREATE SCHEMA fact;
CREATE TABLE stg.a (at timestamptz, n bigint);
CREATE INDEX ON stg.a (at, n);
INSERT INTO stg.a SELECT timestamptz '2020-01-01 12:00+00' + i * interval '1 minute', i
  FROM generate_series(1, 40) AS i;
CREATE TABLE fact.a (pos timestamptz, id bigint, omd_insert_module_instance_id bigint);
CREATE INDEX ON fact.a (pos, id);
CREATE VIEW etl.a AS
SELECT a.n AS id, a.at AS pos FROM stg.a AS a WHERE omd_lineage.in_block(a.at, a.n);
CREATE TABLE fact.b (id bigint, omd_insert_module_instance_id bigint);
CREATE VIEW etl.b AS SELECT a.id FROM fact.a AS a WHERE omd_lineage.in_block(a.pos, a.id);
"""
# The topics stand before what they depend on.
FILE = """\
# What the shop needs.
topics:
  fact.b: {depends_on: [fact.a], transforms: [etl.b]}
  fact.a:
    depends_on: [stg.a]   # the base table
    transforms:
      - etl.a
    repeat: 1:30:00
    maxstep: 10
    comment: Ärger mit "Anführung"
    inactive_indicator: no
    start_pos: 2020-01-01T12:05:00+00:00
    start_id: 5
  stg.a: {pos_column: at, id_column: n}
"""


@pytest.fixture
def room(dsn: str) -> Iterator[Lineage]:
    with omd.connect(dsn) as control:
        with control.transaction() as connection:
            connection.execute(SCHEMA)
        yield control._lineage


@pytest.fixture
def omd_(omd_command: Command, dsn: str, room: Lineage) -> Command:
    return lambda *arguments, **options: omd_command(*arguments, dsn=dsn, **options)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "topics.yaml"
    path.write_text(FILE, encoding="utf-8")
    return path


def history(conn: Connection) -> int:
    return int(conn.execute("SELECT count(*) AS n FROM omd_lineage.topic_history").fetchone()["n"])


def test_a_file_is_compared_applied_and_then_changes_nothing(
    omd_: Command, room: Lineage, conn: Connection, dsn: str, file: Path
) -> None:
    dry = omd_("apply", "--dry-run", str(file))
    assert (dry.returncode, room.ready_list()) == (0, []), dry.stderr
    assert "Files: 1; changes to come: " in dry.stderr
    differs = omd_("diff", str(file), "--output", "json")
    assert differs.returncode == 1, differs.stderr
    told = {(row["document"], row["path"]): row["new"] for row in json.loads(differs.stdout)}
    assert told["topic:fact.a", "repeat"] == 90 * 60
    new = {document for document, path in told if path == "NEW"}
    assert new == {"topic:stg.a", "topic:fact.a", "topic:fact.b"}
    assert history(conn) == 0

    done = omd_("apply", str(file))
    assert done.returncode == 0, done.stderr
    assert "WARN" not in done.stderr
    assert "not a topic yet" not in done.stderr
    room._control.calls.omd_lineage.probe_sources()
    step = room.step("fact.a")
    assert (step.status, step.facts["rows"]) == ("S", 10)
    assert conn.execute("SELECT min(id) AS id FROM fact.a").fetchone()["id"] == 6

    # The offset has moved on, so the start of a new topic no longer matters.
    before = history(conn)
    again = omd_("apply", str(file))
    assert (again.returncode, again.stdout, "no change" in again.stderr) == (0, "", True)
    same = omd_("diff", str(file))
    assert (same.returncode, same.stdout) == (0, "")
    assert history(conn) == before
    assert room.plan("fact.a").start_id == 15
    assert file.read_text(encoding="utf-8") == FILE

    for topic in ("stg.a", "fact.a", "fact.b"):
        shown = document(dsn, "topic", topic)
        file.write_text(shown, encoding="utf-8")
        same = omd_("diff", str(file))
        assert (same.returncode, same.stdout) == (0, ""), shown
    assert document(dsn, "module", "fact.b") == shown
    assert 'comment: Ärger mit "Anführung"' in document(dsn, "topic", "fact.a")


def test_a_changed_file_shows_the_values_before_and_after(
    omd_: Command, room: Lineage, file: Path, tmp_path: Path
) -> None:
    assert omd_("apply", str(file)).returncode == 0
    one = tmp_path / "one.yaml"
    one.write_text(
        "topic: fact.a\nrepeat: 5 minutes\nmaxstep: 10\narea_code: HSTG\nbefore_sql: [SELECT 1]\n"
        "---\ntopic: fact.b\ncomment:\ninactive_indicator: Y\n"
    )
    differs = omd_("diff", str(one), "--output", "json")
    assert differs.returncode == 1, differs.stderr
    rows = [tuple(change.values()) for change in json.loads(differs.stdout)]
    assert sorted(rows) == [
        ("topic:fact.a", "area_code", "PRES", "HSTG"),
        ("topic:fact.a", "before_sql", [], ["SELECT 1"]),
        ("topic:fact.a", "repeat", 5400, 300),
        ("topic:fact.b", "inactive_indicator", "N", "Y"),
    ]
    # Somebody has changed a topic by hand: the file sets it back.
    room.register_topic("fact.a", repeat=timedelta(days=2))
    done = omd_("apply", str(file), "--output", "json")
    rows = [tuple(change.values()) for change in json.loads(done.stdout)]
    assert rows == [("topic:fact.a", "repeat", 172800, 5400)]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "topics:\n  fact.a:\n    depends: [stg.a]\n",
            ":3: depends is not known. Did you mean depends_on? Known are ",
        ),
        ("topics:\n  fact.a:\n    depends_on: stg.a\n", ":3: depends_on must be a list"),
        ("topics:\n  fact.a:\n    depends_on: [[x]]\n", ":3: each item of depends_on must be a"),
        ("topic: fact.a\nmaxstep: many\n", ":2: maxstep must be a whole number, not many"),
        ("topic: fact.a\nadvance_when_quiet: 7\n", ":2: advance_when_quiet must be true or fa"),
        ("topic: fact.a\nstart_pos: soon\n", ":2: start_pos must be like"),
        ("topic: fact.a\ncomment: x\ncomment: y\n", ":3: comment stands here twice"),
        ("topic: fact.a\n---\ntopic: fact.a\n", ":3: fact.a stands in "),
        ("- fact.a\n", ":1: a mapping is expected"),
        ("fact.a: {}\n", ":1: topic or topics is expected"),
        ("topics: {fact.a: {}\n", "expected ',' or '}'"),
        ("topic: fact.a\nrepeat: [1]\n", ":2: repeat must be a single value"),
    ],
)
def test_what_a_file_may_not_say_is_told_with_its_line(
    tmp_path: Path, text: str, told: str
) -> None:
    path = tmp_path / "wrong.yaml"
    path.write_text(text)
    with pytest.raises(click.UsageError, match=re.escape(told)):
        read_topics([path])


def test_files_are_applied_together_or_not_at_all(
    omd_: Command, room: Lineage, tmp_path: Path
) -> None:
    first, second = tmp_path / "first.yaml", tmp_path / "second.yaml"
    first.write_text("topic: stg.a\npos_column: at\nid_column: n\n")
    second.write_text("topic: fact.a\ntransforms: [etl.a]\n")
    done = omd_("apply", str(first), str(second))
    assert (done.returncode, "OM013" in done.stderr) == (1, True)
    with pytest.raises(omd.errors.lookup("OM015")):
        room.topic_definition("stg.a")
    second.write_text("topic: fact.a\ndepends: [stg.a]\n")
    unknown = omd_("diff", str(first), str(second))
    assert (unknown.returncode, f"{second}:2: depends is not known" in unknown.stderr) == (2, True)

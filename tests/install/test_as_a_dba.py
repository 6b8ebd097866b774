"""What a careful administrator asks before: the plan, the script and the dry run tell the truth."""

from __future__ import annotations

import gzip
import json
import re
import subprocess
import threading

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from omd.programs import install
from support.programs import BIN
from support.released import RELEASED

pytestmark = pytest.mark.server  # what a role may do differs between versions of PostgreSQL

ROLES = [
    "omd_owner",
    "omd_guest",
    "omd_runner",
    "omd_admin",
    "omd_reader",
    "omd_data_reader",
    "omd_data_writer",
]
# This reads the catalogue in its own way.
SEEN = {
    "schema": "SELECT nspname FROM pg_namespace",
    "table": "SELECT oid::regclass::text FROM pg_class WHERE relkind IN ('r', 'p')",
    "view": "SELECT oid::regclass::text FROM pg_class WHERE relkind = 'v'",
    "sequence": "SELECT oid::regclass::text FROM pg_class WHERE relkind = 'S'",
    "index": "SELECT oid::regclass::text FROM pg_class"
    " WHERE relkind IN ('i', 'I') AND relnamespace::regnamespace::text !~ '^pg_'",
    "constraint": "SELECT conrelid::regclass || '.' || quote_ident(conname) FROM pg_constraint"
    " WHERE conrelid <> 0 AND contype IN ('p', 'u', 'f', 'c', 'x')",
    "trigger": "SELECT tgrelid::regclass || '.' || quote_ident(tgname) FROM pg_trigger"
    " WHERE NOT tgisinternal",
    "routine": "SELECT oid::regprocedure::text FROM pg_proc",
    "role": "SELECT rolname FROM pg_roles",
    "membership": "SELECT DISTINCT format('%I in %I', member::regrole, roleid::regrole)"
    " FROM pg_auth_members",
}
DATABASE_RIGHTS = """
    SELECT a.grantee::regrole || ' ' || a.privilege_type FROM pg_database AS d,
        aclexplode(coalesce(d.datacl, acldefault('d', d.datdba))) AS a
    WHERE d.datname = current_database() AND a.grantee <> 0
"""


def seen(dsn: str) -> dict[str, set[str]]:
    with psycopg.connect(dsn, options="-c search_path=pg_catalog") as conn:
        return {
            kind: {row[0] for row in conn.execute(query)}
            for kind, query in {**SEEN, "right": DATABASE_RIGHTS}.items()
        }


def told_by(program: str, *arguments: str) -> str:
    """Return what it prints without what differs each time."""
    done = subprocess.run([BIN / program, *arguments], check=True, capture_output=True, text=True)
    noise = re.compile(r"\\(un)?restrict |ALTER TABLE ONLY .* SET \(pg_attver=")
    return "\n".join(line for line in done.stdout.splitlines() if not noise.match(line))


def dumped(dsn: str, *options: str) -> str:
    return told_by("pg_dump", *options, dsn)


def pg_roles(dsn: str) -> str:
    return told_by("pg_dumpall", "--roles-only", "-d", dsn)


def recorded(dsn: str):
    with psycopg.connect(dsn) as conn:
        return conn.execute(
            "SELECT path, kind, checksum, product_version, applied_by FROM omd.installed_file"
            " ORDER BY path"
        ).fetchall()


def rows(done) -> list[dict[str, str]]:
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def objects(told, *changes: str) -> dict[str, set[str]]:
    return {
        kind: {row["object"] for row in told if row["change"] in changes and row["kind"] == kind}
        for kind in SEEN
    }


def outside(told, action: str) -> set[str]:
    return {r["path"] for r in told if r["kind"] == "outside" and r["action"] == action}


def numbers(conn: psycopg.Connection) -> dict[str, int | None]:
    """Return how far each sequence is."""
    return dict(
        conn.execute(
            "SELECT s.seqrelid::regclass::text, pg_sequence_last_value(s.seqrelid)"
            " FROM pg_sequence AS s"
        ).fetchall()
    )


def run_script(dsn: str, text: str, tmp_path) -> None:
    file = tmp_path / "script.sql"
    file.write_text(text, encoding="utf-8")
    done = subprocess.run(
        [BIN / "psql", "-X", "-q", "-f", file, dsn], check=False, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")


def compare(omd_here, dsn: str, tmp_path) -> list[dict[str, str]]:
    """Ask for all three, then install by the script; return what the dry run told."""
    before, was = seen(dsn), dumped(dsn, "-s")
    planned = rows(omd_here("install", "--plan", "--all", "--output", "json", dsn=dsn))
    tried = omd_here("install", "--dry-run", "--output", "json", "--hold-limit", "1min", dsn=dsn)
    changes = rows(tried)
    script = omd_here("install", "--script", dsn=dsn)
    assert script.returncode == 0, script.stderr
    assert (seen(dsn), dumped(dsn, "-s")) == (before, was)
    assert "Rolled back: nothing has changed." in tried.stderr

    run_script(dsn, script.stdout, tmp_path)

    after = seen(dsn)
    new = {kind: after[kind] - before[kind] for kind in before}
    gone = {kind: before[kind] - after[kind] for kind in before}
    for kind in SEEN:
        made, dropped = ("GRANT", "REVOKE") if kind == "membership" else ("CREATE", "DROP")
        of_types = {o for o in objects(changes, made)[kind] if o.startswith("omd.") and ".ck_" in o}
        assert objects(changes, made)[kind] - new[kind] <= of_types, kind  # those of domains
        assert new[kind] <= objects(changes, made)[kind], kind
        assert objects(changes, dropped)[kind] == gone[kind], kind
    assert outside(planned, "apply") == (
        {f"role {role}" for role in new["role"]}
        | {f"membership of {m}" for m in new["membership"]}
        | {
            f"CREATE on database {r['object'].split()[1]}"
            for r in changes
            if new["right"] and r["object"].startswith("database ")
        }
    )
    files = {r["path"] for r in planned if r["action"] in ("apply", "re-apply")}
    files -= outside(planned, "apply")
    assert files == set(re.findall(r"f \(path, .*\nVALUES \('(.*?)'", script.stdout))
    return changes


@pytest.fixture
def place(fresh_server, empty_databases):
    return empty_databases[0]


def test_an_empty_database(omd_here, place, empty_databases, tmp_path):
    told = compare(omd_here, place, tmp_path)
    changes = objects(told, "CREATE")
    assert set(ROLES) <= changes["role"]
    assert "omd_reader in pg_monitor" not in objects(told, "GRANT")["membership"]
    assert "pg_monitor in omd_reader" in objects(told, "GRANT")["membership"]
    assert {
        "change": "GRANT",
        "kind": "privilege",
        "object": "database d0",
        "detail": "CREATE to omd_owner",
    } in told
    assert {r["kind"] for r in told} == {*SEEN, "privilege"}
    # The command does the same.
    other = empty_databases[1]
    with psycopg.connect(other, autocommit=True) as conn:
        install.install(conn)
    assert dumped(place, "-s") == dumped(other, "-s")
    assert recorded(place) == recorded(other)


def test_an_installation_that_is_up_to_date(omd_here, place, tmp_path):
    with psycopg.connect(place, autocommit=True) as conn:
        install.install(conn)
    was = dumped(place, "-s")
    assert compare(omd_here, place, tmp_path) == []
    assert dumped(place, "-s") == was
    tried = omd_here("install", "--dry-run", dsn=place)
    assert "Held no lock" in tried.stderr or "Held ShareRowExclusive" in tried.stderr


def test_an_upgrade(omd_here, place, empty_databases, tmp_path, psql):
    dump = tmp_path / "released.sql"
    dump.write_bytes(
        (install.sql_root() / install.ROLES).read_bytes()
        + gzip.decompress(RELEASED[-1].read_bytes())
    )
    for dsn in empty_databases[:2]:
        assert "ERROR" not in psql(dsn, dump).stderr
    told = compare(omd_here, place, tmp_path)
    assert {"ALTER", "CREATE"} <= {row["change"] for row in told}
    other = empty_databases[1]
    with psycopg.connect(other, autocommit=True) as conn:
        install.install(conn)
    assert dumped(place, "-s") == dumped(other, "-s")
    assert recorded(place) == recorded(other)


def test_a_script_refuses_another_state(omd_here, place, tmp_path):
    script = omd_here("install", "--script", dsn=place).stdout
    file = tmp_path / "script.sql"
    file.write_text(script)
    run_script(place, script, tmp_path)
    was = dumped(place)
    done = subprocess.run(
        [BIN / "psql", "-X", "-q", "-f", file, place], check=False, capture_output=True, text=True
    )
    assert done.returncode == 3
    assert "another state of OMD" in done.stderr
    assert dumped(place) == was


def test_a_plan_needs_connect_only_and_later_omd_reader(omd_here, fresh_server, place):
    with psycopg.connect(place, autocommit=True) as conn:
        conn.execute("CREATE ROLE nobody LOGIN")
        try:
            nobody = make_conninfo(place, user="nobody")
            told = rows(omd_here("install", "--plan", "--output", "json", dsn=nobody))
            assert {f"role {role}" for role in ROLES} <= outside(told, "apply")
            install.install(conn)
            done = omd_here("install", "--plan", dsn=nobody)
            assert done.returncode == 1
            assert 'GRANT omd_reader TO "nobody"' in done.stderr
            conn.execute("GRANT omd_reader TO nobody")
            told = rows(omd_here("install", "--plan", "--output", "json", dsn=nobody))
            assert {row["action"] for row in told} == {"run"}
        finally:
            conn.execute("DROP ROLE nobody")


def test_a_dry_run_that_stops_others_is_broken_off(
    omd_here, fresh_server, place, tree, monkeypatch
):
    """It holds a lock on a table with rows, which an insert would wait for."""
    with psycopg.connect(place, autocommit=True) as conn:
        install.install(conn)
    tree.add_repeatable(
        "procedures/omd/slow.sql", "LOCK TABLE omd.batch IN SHARE MODE;\nSELECT pg_sleep(30);\n"
    )
    monkeypatch.setattr(install.manifest, "sql_root", lambda: tree.root)
    done = omd_here("install", "--dry-run", "--hold-limit", "300ms", dsn=place)
    assert done.returncode == 1
    assert done.stdout == ""
    assert "Held Share on omd.batch for 0." in done.stderr
    assert "Rolled back at procedures/omd/slow.sql" in done.stderr
    with psycopg.connect(place) as conn:
        assert not conn.execute(
            "SELECT FROM omd.installed_file WHERE path LIKE '%slow%'"
        ).fetchall()


def test_a_dry_run_waits_for_a_lock_no_longer_than_it_may(
    omd_here, fresh_server, place, tree, monkeypatch
):
    with psycopg.connect(place, autocommit=True) as conn:
        install.install(conn)
        tree.add_repeatable(
            "procedures/omd/more.sql", "ALTER TABLE omd.batch ADD COLUMN more integer;\n"
        )
        monkeypatch.setattr(install.manifest, "sql_root", lambda: tree.root)
        with psycopg.connect(place, application_name="long report") as other:
            other.execute("SELECT FROM omd.batch")
            done = omd_here("install", "--dry-run", "--lock-timeout", "200ms", dsn=place)
            assert done.returncode == 1
            assert "procedures/omd/more.sql" in done.stderr
            assert f"process {other.info.backend_pid} of" in done.stderr
            assert "(long report)" in done.stderr
            assert omd_here("install", "--lock-timeout", "0.2", dsn=place).returncode == 1
        long = ("--hold-limit", "1min")  # the machine may be slow
        tried = omd_here("install", "--dry-run", "--output", "json", *long, dsn=place)
        told = rows(tried)
        assert {
            "change": "ALTER",
            "kind": "table",
            "object": "omd.batch",
            "detail": "column more added",
        } in told
        assert re.search(r"Held AccessExclusive on omd\.batch for \d\.\d\d s\.", tried.stderr)


@pytest.mark.parametrize("is_upgrade", [False, True], ids=["up to date", "upgrade"])
def test_a_dry_run_does_not_settle_a_server_that_has_changed(
    omd_here, fresh_server, place, tree, monkeypatch, is_upgrade
):
    """What passes over numbers survives a rollback."""
    if is_upgrade:
        tree.add_migration("V999__more", "CREATE TABLE omd.more (i integer);")
    with psycopg.connect(place, autocommit=True) as conn:
        install.install(conn)
        conn.execute("SET ROLE omd_owner")
        conn.execute(
            "UPDATE omd.installation SET system_identifier = system_identifier - 1,"
            " server_start = server_start - interval '1 day'"
        )
        conn.execute("RESET ROLE")
        monkeypatch.setattr(install.manifest, "sql_root", lambda: tree.root)
        before = numbers(conn)
        tried = omd_here("install", "--dry-run", "--hold-limit", "1min", dsn=place)
        assert tried.returncode == 0, tried.stderr
        assert "takes it back (cleanup): sql/cleanup/server.sql" in tried.stderr
        assert ("omd.more" in tried.stdout) is is_upgrade
        # What an upgrade enters again with ON CONFLICT draws some; nothing is passed over.
        drawn = numbers(conn)
        assert {name for name in drawn if (drawn[name] or 0) - (before[name] or 0) > 1000} == set()
        assert drawn["omd.settled_server"] == before["omd.settled_server"]
        assert is_upgrade or drawn == before
        # The installation does it.
        install.install(conn)
        settled = numbers(conn)
        assert (settled["omd.write_number"] or 0) >= 1_000_000
        assert settled["omd.settled_server"] is not None
        assert conn.execute("SELECT kind FROM omd.server_change").fetchall() == [("MOVED",)]


@pytest.mark.parametrize("way", ["command", "script"])
def test_somebody_else_makes_the_roles(omd_here, fresh_server, place, tmp_path, way):
    with psycopg.connect(place, autocommit=True) as conn:
        conn.execute(
            "CREATE ROLE builder LOGIN; CREATE ROLE dba LOGIN CREATEROLE;"
            "GRANT CREATE ON DATABASE d0 TO dba WITH GRANT OPTION"
        )
    builder, dba = (make_conninfo(place, user=user) for user in ("builder", "dba"))
    try:
        for refused in (("install", "--only", "objects"), ("install",)):
            done = omd_here(*refused, dsn=builder)
            assert done.returncode == 1
            assert "OM906" in done.stderr
        assert (
            "omd install --only roles --installer builder"
            in omd_here("install", "--only", "objects", dsn=builder).stderr
        )
        before = seen(place)
        for part, dsn, more in (
            ("roles", dba, ["--installer", "builder"]),
            ("objects", builder, []),
        ):
            if way == "command":
                done = omd_here("install", "--only", part, *more, dsn=dsn)
                assert done.returncode == 0, done.stderr
            else:
                script = omd_here("install", "--script", "--only", part, *more, dsn=dsn)
                assert ("'CREATE ROLE" in script.stdout) is (part == "roles")
                file = tmp_path / "part.sql"
                file.write_text(script.stdout)
                done = subprocess.run(
                    [BIN / "psql", "-X", "-q", "-f", file, dsn],
                    check=False,
                    capture_output=True,
                    text=True,
                )
                assert "ERROR" not in done.stderr
                assert done.returncode == 0
            if part == "roles":
                made = seen(place)
                for kind in ("schema", "table", "routine"):
                    assert made[kind] == before[kind]
                roles_only = dumped(place, "-s", "-C"), pg_roles(fresh_server)
        assert omd_here("doctor", dsn=builder).returncode in (0, 1)
        # Upgrades and removal are the builder's too.
        assert omd_here("install", "--only", "objects", dsn=builder).returncode == 0
        assert omd_here("uninstall", "--yes", "--keep-roles", dsn=builder).returncode == 0
        assert (dumped(place, "-s", "-C"), pg_roles(fresh_server)) == roles_only
    finally:
        with psycopg.connect(place, autocommit=True) as conn:
            install.uninstall(conn)
            conn.execute("DROP OWNED BY builder, dba; DROP ROLE builder, dba")


@pytest.mark.parametrize("way", ["command", "script", "psql"])
def test_a_removal_leaves_nothing(omd_here, fresh_server, empty_databases, tmp_path, way):
    """Also where default privileges and privileges were given to the roles, in two databases."""
    first, second = empty_databases[:2]
    for dsn in (first, second):
        with psycopg.connect(dsn, autocommit=True) as conn:
            conn.execute("CREATE SCHEMA mine; CREATE TABLE mine.t (i integer)")
    before = [dumped(d, "-s", "-C") for d in (first, second)], pg_roles(fresh_server)
    for dsn in (first, second):
        with psycopg.connect(dsn, autocommit=True) as conn:
            install.install(conn)
    with psycopg.connect(second, autocommit=True) as conn:
        conn.execute(
            "GRANT SELECT ON mine.t TO omd_reader; GRANT USAGE ON SCHEMA mine TO omd_runner;"
            "ALTER DEFAULT PRIVILEGES IN SCHEMA mine GRANT SELECT ON TABLES TO omd_reader;"
            "ALTER DEFAULT PRIVILEGES FOR ROLE omd_owner GRANT SELECT ON TABLES TO PUBLIC;"
            "COMMENT ON ROLE omd_reader IS 'reads'"
        )
    for dsn in (first, second):
        if way == "command":
            done = omd_here("uninstall", "--yes", dsn=dsn)
            assert ("the roles stay" in done.stderr) is (dsn == first)
        else:
            file = install.sql_root() / install.UNINSTALL
            if way == "script":
                file = tmp_path / "remove.sql"
                file.write_text(omd_here("uninstall", "--script", dsn=dsn).stdout)
            done = subprocess.run(
                [BIN / "psql", "-X", "-q", "-f", file, dsn],
                check=False,
                capture_output=True,
                text=True,
            )
            assert "ERROR" not in done.stderr
        assert done.returncode == 0, done.stderr
        if dsn == first:
            assert dumped(first, "-s", "-C") == before[0][0]
    assert ([dumped(d, "-s", "-C") for d in (first, second)], pg_roles(fresh_server)) == before


def test_two_removals_and_an_installation_at_once(fresh_server, place):
    """One works and the others wait; none fails."""
    with psycopg.connect(place, autocommit=True) as conn:
        install.install(conn)
    start = threading.Barrier(3)
    failures = []

    def work(what):
        try:
            with psycopg.connect(place, autocommit=True) as conn:
                start.wait()
                what(conn)
        except Exception as error:  # noqa: BLE001 - whatever it is
            failures.append(error)

    threads = [
        threading.Thread(target=work, args=[what])
        for what in (install.uninstall, install.uninstall, install.uninstall)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    with psycopg.connect(place, autocommit=True) as conn:
        assert not install.is_installed(conn)


def test_who_granted_it_does_not_matter_to_a_removal(fresh_server, place):
    """A superuser's REVOKE is the owner's, and takes back nothing that another has granted."""
    before = dumped(place, "-s", "-C"), pg_roles(fresh_server)
    with psycopg.connect(place, autocommit=True) as conn:
        conn.execute(
            "CREATE ROLE dba LOGIN CREATEROLE;GRANT CREATE ON DATABASE d0 TO dba WITH GRANT OPTION"
        )
        with psycopg.connect(make_conninfo(place, user="dba"), autocommit=True) as other:
            install.install(other)
        install.uninstall(conn)
        conn.execute("DROP OWNED BY dba; DROP ROLE dba")
    assert (dumped(place, "-s", "-C"), pg_roles(fresh_server)) == before

"""The installer: it installs, upgrades an older release, runs several times at once, uninstalls."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psycopg
import pytest

from omd import errors
from omd.programs import embedded, install
from omd.programs.install import Action, Kind, upgrading
from omd.programs.install.manifest import known_as
from support.server import QUICK, VERSION

FUNCTION = "CREATE OR REPLACE FUNCTION omd.added() RETURNS integer LANGUAGE sql AS 'SELECT {}';\n"
MIGRATION = "migrations/V150__omd.sql"
REPEATABLE = "procedures/omd/begin_module.sql"
VIEW = "sql/views/omd/throughput_per_day.sql"
BEGIN = "procedures/omd/runs/begin_module.sql"  # where it lies
VIEW_FILE = "sql/views/omd/runs/throughput_per_day.sql"
GRANTS = tuple(
    f"sql/grants/{r}.sql"
    for r in (
        "omd",
        "omd_lake",
        "omd_lineage",
        "omd_dispatch",
        "omd_delivery",
        "omd_facts",
        "omd_decision",
        "omd_provenance",
        "omd_event",
        "omd_report",
        "omd_web",
    )
)
ADDED = "procedures/omd/added.sql"


@pytest.fixture
def empty(empty_dsn):
    with psycopg.connect(empty_dsn, autocommit=True) as conn:
        yield conn


@pytest.fixture
def installed(dsn):
    with psycopg.connect(dsn, autocommit=True) as conn:
        yield conn


def changes(steps):
    return {s.path: s.action for s in steps if s.action not in (Action.KEEP, Action.RUN)}


def recorded(conn):
    return dict(conn.execute("SELECT path, checksum FROM omd.installed_file").fetchall())


def test_an_empty_database_gets_every_file_and_the_second_time_nothing(empty):
    assert not install.is_installed(empty)
    assert install.installed_version(empty) is None
    assert install.needs_install(empty)

    first = changes(install.install(empty))
    applied_at = "SELECT max(applied_at) FROM omd.installed_file"
    before = empty.execute(applied_at).fetchone()
    second = changes(install.install(empty))

    assert set(first.values()) == {Action.APPLY}
    assert first.keys() == recorded(empty).keys()
    assert second == {}
    assert empty.execute(applied_at).fetchone() == before
    assert install.is_installed(empty)
    assert not install.needs_install(empty)
    assert install.installed_version(empty) == install.product_version()


def test_everything_belongs_to_the_owner_role(installed):
    foreign = installed.execute(
        """
        SELECT c.oid::regclass::text FROM pg_class c
         WHERE c.relnamespace IN ('omd'::regnamespace, 'omd_report'::regnamespace)
           AND c.relowner <> 'omd_owner'::regrole
        UNION ALL
        SELECT p.oid::regprocedure::text FROM pg_proc p
         WHERE p.pronamespace IN ('omd'::regnamespace, 'omd_report'::regnamespace)
           AND p.proowner <> 'omd_owner'::regrole
        """
    ).fetchall()
    assert foreign == []


def test_ten_commands_at_once_install_once(empty, omd_command):
    # Hold the installers' lock until all ten wait for it, so that they run at the same time.
    empty.execute("SELECT pg_advisory_lock(7302500, 0)")
    with ThreadPoolExecutor(10) as pool:
        running = [pool.submit(omd_command, "install", dsn=empty.info.dsn) for _ in range(10)]
        try:
            wait_for_installers(empty, 10)
        finally:
            empty.execute("SELECT pg_advisory_unlock_all()")
        done = [command.result() for command in running]

    assert [d.returncode for d in done] == [0] * 10, [d.stderr for d in done]
    assert sorted(d.stderr.split()[0] for d in done) == ["Installed"] + ["Nothing"] * 9


def wait_for_installers(conn, number):
    """Return when so many wait: one for the lock, and the others for their turn, by trying."""
    waiting = """
        SELECT count(*) FROM pg_stat_activity
         WHERE datname = current_database() AND pid <> pg_backend_pid()
           AND (wait_event = 'advisory' OR query LIKE '%pg_try_advisory_lock(7302500%')
    """
    deadline = time.monotonic() + 60
    while conn.execute(waiting).fetchone() != (number,):
        assert time.monotonic() < deadline, "the installers do not wait for each other"
        time.sleep(0.02)


def test_ten_databases_of_a_new_server_install_at_once(empty_databases):
    def run(dsn):
        with psycopg.connect(dsn, autocommit=True) as conn:
            return changes(install.install(conn))

    with ThreadPoolExecutor(10) as pool:
        done = list(pool.map(run, empty_databases))

    assert all(set(actions.values()) == {Action.APPLY} for actions in done)


def test_an_installation_fits_the_lock_table_of_a_server_as_it_comes(empty, monkeypatch):
    """Of 64 times 100 places, what is made here may take half."""
    held = 0
    execute = upgrading.execute

    def watched(conn, path, text):
        nonlocal held
        execute(conn, path, text)
        if path == GRANTS[-1]:
            (held,) = conn.execute(
                "SELECT count(DISTINCT (locktype, database, relation, classid, objid)) "
                "FROM pg_locks WHERE pid = pg_backend_pid()"
            ).fetchone()

    monkeypatch.setattr(upgrading, "execute", watched)
    install.install(empty)

    assert 1000 < held <= 3200


def test_a_server_with_few_locks_is_left_as_it_was_and_the_hint_says_what_to_set(new_home):
    home = new_home()
    few = {"max_connections": "10", "max_locks_per_transaction": "10"}
    embedded.start(home, version=VERSION, settings={**QUICK, **few})
    with psycopg.connect(embedded.dsn(home, "postgres"), autocommit=True) as conn:
        with pytest.raises(install.InstallError, match="out of shared memory") as caught:
            install.install(conn)
        assert "Set max_locks_per_transaction to 256" in caught.value.hint
        assert not install.is_installed(conn)


def test_an_older_release_is_upgraded_to_the_same_as_a_new_installation(empty, tree, dsn, dump):
    tree.add_repeatable(ADDED, FUNCTION.format(1))
    line = "\\ir ../views/omd/runs/throughput_per_day.sql\n"
    assert line in tree.first_room.read_text()
    tree.first_room.write_text(tree.first_room.read_text().replace(line, ""))
    install.install(empty, tree.root)
    # The manifest only forgets files; a migration has to drop what was in them.
    empty.execute("DROP FUNCTION omd.added()")

    steps = changes(install.install(empty))

    # The grants are unchanged, but the new view has none of them yet.
    again = dict.fromkeys(GRANTS, Action.REAPPLY)
    assert steps == {VIEW: Action.APPLY, **again, ADDED: Action.FORGET}
    assert dump(empty.info.dsn) == dump(dsn)


def test_a_new_migration_runs_once_and_every_repeatable_again(installed, tree):
    repeatables = {path for path in recorded(installed) if not path.startswith("migrations/")}
    tree.add_migration("V999__more", "CREATE TABLE omd.more (i integer);")

    steps = changes(install.install(installed, tree.root))

    assert steps.pop("migrations/V999__more.sql") == Action.APPLY
    assert steps == dict.fromkeys(repeatables, Action.REAPPLY)
    assert installed.execute("SELECT count(*) FROM omd.more").fetchone() == (0,)
    assert changes(install.install(installed, tree.root)) == {}


def test_a_changed_repeatable_is_applied_again_and_then_the_grants(installed, tree):
    tree.add_repeatable(ADDED, FUNCTION.format(1))
    install.install(installed, tree.root)
    (tree.root / ADDED).write_text(FUNCTION.format(2))
    assert install.needs_install(installed, tree.root)

    steps = changes(install.install(installed, tree.root))

    # The file is of events, so the grants of the rooms before do not need it.
    assert steps == dict.fromkeys((ADDED, *GRANTS[-3:]), Action.REAPPLY)
    assert installed.execute("SELECT omd.added()").fetchone() == (2,)


def test_a_migration_edited_after_its_release_is_refused(empty, tree):
    tree.append(MIGRATION, "SELECT 1;\n")
    with pytest.raises(errors.lookup("OM901"), match=f"{MIGRATION} .* its release") as caught:
        install.install(empty, tree.root)
    assert caught.value.sqlstate == "OM901"
    assert "new migration" in caught.value.hint


def test_a_migration_changed_after_it_was_applied_is_refused(installed, tree, dump):
    before = dump(installed.info.dsn), recorded(installed)
    tree.append(MIGRATION, "SELECT 1;\n")
    tree.release(MIGRATION)
    tree.append(BEGIN, "-- changed\n")
    for refused in (install.install, install.plan, install.needs_install):
        with pytest.raises(errors.lookup("OM901"), match="after it was applied"):
            refused(installed, tree.root)
    assert (dump(installed.info.dsn), recorded(installed)) == before


def test_a_database_newer_than_the_package_is_refused(installed, tree):
    tree.add_migration("V999__more", "CREATE TABLE omd.more (i integer);")
    install.install(installed, tree.root)
    with pytest.raises(install.InstallError, match="V999__more") as caught:
        install.install(installed)
    assert "upgrade omd" in caught.value.hint


def test_a_failing_file_is_named_with_its_line_and_leaves_nothing_behind(empty, tree, dump):
    before = dump(empty.info.dsn)
    tree.add_repeatable("procedures/omd/bad.sql", "-- é\nSELECT 1;\nSELECT no_such_column;\n")
    with pytest.raises(install.InstallError, match=r"procedures/omd/bad\.sql, line 3: ") as caught:
        install.install(empty, tree.root)
    assert caught.value.sqlstate == "42703"
    assert dump(empty.info.dsn) == before


def test_a_manifest_with_an_unknown_line_is_refused(tree):
    tree.manifest.write_text(tree.manifest.read_text() + "DROP TABLE omd.batch;\n")
    with pytest.raises(install.InstallError, match=r"line \d+ is not understood: DROP"):
        install.read_manifest(tree.root)


def test_a_manifest_that_names_a_missing_file_is_refused(tree):
    (tree.root / BEGIN).unlink()
    with pytest.raises(install.InstallError, match=r"line \d+: there is no file .*begin_module"):
        install.read_manifest(tree.root)


def test_a_connection_in_a_transaction_is_refused(empty):
    with empty.transaction():
        empty.execute("SELECT 1")
        with pytest.raises(install.InstallError, match="in a transaction"):
            install.install(empty)


def test_the_plan_says_what_an_installation_does_and_changes_nothing(empty, dump):
    before = dump(empty.info.dsn)
    planned = changes(install.plan(empty))
    assert dump(empty.info.dsn) == before
    assert planned == changes(install.install(empty))


def test_uninstall_leaves_nothing_behind(empty, dump):
    before = dump(empty.info.dsn)
    install.install(empty)
    assert dump(empty.info.dsn) != before
    install.uninstall(empty)
    assert dump(empty.info.dsn) == before
    assert not install.is_installed(empty)


MODEL = """
    CALL omd_delivery.deploy_model('{"interface": "shop", "entities": [{"name": "orders",
        "key": ["nbr"], "attributes": [{"name": "nbr", "type": "integer"}]}]}');
    CALL omd_delivery.register_tenant('t');
    CALL omd_delivery.register_agreement('a', 't', 'shop');
"""


def test_uninstall_keeps_delivered_rows_and_says_so(empty):
    """They belong to who removes OMD; an installation later does not take them over."""
    install.install(empty)
    empty.execute(MODEL)
    empty.execute("SET ROLE omd_owner")
    empty.execute(
        "INSERT INTO lvl_shop.orders (nbr, acm_start_dt, acm_end_dt, acm_record_ind, acm_audit_id)"
        " VALUES (1, now(), '9999-12-31 00:00+00', 'N', 1)"
    )
    empty.execute("INSERT INTO stg_a.orders (nbr) VALUES ('2')")
    empty.execute("RESET ROLE")
    told = []
    empty.add_notice_handler(
        lambda t: told.append((t.severity_nonlocalized, t.message_primary, t.message_hint))
    )
    install.uninstall(empty)
    [(message, hint)] = [(message, hint) for kind, message, hint in told if kind == "WARNING"]
    assert message.endswith("now: lvl_shop, stg_a, wrk_shop")
    assert empty.execute("SELECT nbr FROM lvl_shop.orders").fetchall() == [(1,)]
    assert empty.execute("SELECT nbr FROM stg_a.orders").fetchall() == [("2",)]
    owners = "SELECT DISTINCT nspowner::regrole = current_user::regrole FROM pg_namespace"
    assert empty.execute(f"{owners} WHERE nspname ~ '^(lvl|wrk|stg)_'").fetchall() == [(True,)]
    install.install(empty)
    with pytest.raises(psycopg.Error) as caught:
        empty.execute(MODEL)
    assert caught.value.sqlstate == "OM233"
    empty.execute(hint)
    empty.execute(MODEL)


def test_no_routine_that_stays_has_the_rights_of_who_removes_omd(empty):
    """It would call names that are gone, and that anybody may create again."""
    install.install(empty)
    empty.execute(MODEL)
    empty.execute("CALL omd_facts.deploy('shop')")
    kept = "FROM pg_proc WHERE pronamespace::regnamespace::text ~ '^(cfl|gdal|asof)_' AND prosecdef"
    assert empty.execute(f"SELECT count(*) > 0 {kept}").fetchone() == (True,)
    install.uninstall(empty)
    assert empty.execute(f"SELECT {kept}").fetchall() == []


def test_the_last_database_to_uninstall_takes_the_roles_with_it(fresh_server, empty_databases):
    from_server = "SELECT count(*) FROM pg_roles WHERE rolname LIKE 'omd\\_%'"
    with psycopg.connect(fresh_server, autocommit=True) as conn:
        first, second = (psycopg.connect(d, autocommit=True) for d in empty_databases[:2])
        with first, second:
            install.install(first)
            install.install(second)
            assert conn.execute(from_server).fetchone() == (7,)
            # What is kept must not keep the roles either.
            first.execute(MODEL)
            install.uninstall(first)
            assert conn.execute(from_server).fetchone() == (7,)
            install.uninstall(second)
            assert conn.execute(from_server).fetchone() == (0,)


def test_it_can_be_installed_again_after_uninstall(empty, dump):
    install.install(empty)
    first = dump(empty.info.dsn)
    install.uninstall(empty)
    install.install(empty)
    assert dump(empty.info.dsn) == first


def test_the_manifest_lists_every_file_once():
    root = install.sql_root()
    listed = [e.path for e in install.read_manifest() if e.kind is not Kind.SETUP]
    folders = ["migrations", "procedures", *(f"sql/{f}" for f in ("views", "triggers"))]
    folders += [f"sql/{f}" for f in ("reference", "grants", "prepare", "cleanup", "rights")]
    files = [p.relative_to(root) for f in folders for p in (root / f).rglob("*.sql")]
    there = [known_as(file.as_posix()) for file in files]
    assert sorted(listed) == sorted(there)


def test_a_file_that_only_moves_is_the_same_one(empty, tree):
    install.install(empty, tree.root)
    listed = tree.root / "sql/install/omd.sql"
    for old, chapter in ((BEGIN, "elsewhere"), (VIEW_FILE, "elsewhere")):
        new = f"{known_as(old).rpartition('/')[0]}/{chapter}/{Path(old).name}"
        (tree.root / new).parent.mkdir()
        (tree.root / old).rename(tree.root / new)
        name = old.removeprefix("sql/")
        text = listed.read_text()
        assert name in text
        listed.write_text(text.replace(name, new.removeprefix("sql/")))
    assert [s.path for s in install.plan(empty, tree.root) if s.action is not Action.RUN] == [
        s.path for s in install.plan(empty, tree.root) if s.action is Action.KEEP
    ]
    assert {REPEATABLE, VIEW} <= {s.path for s in install.plan(empty, tree.root)}


def test_psql_installs_the_same(empty_dsn, dsn, psql, dump):
    done = psql(empty_dsn, install.sql_root() / install.MANIFEST)
    assert done.returncode == 0, done.stderr
    assert dump(empty_dsn) == dump(dsn)


def test_psql_and_the_command_take_turns(empty, psql, dump):
    manifest = install.sql_root() / install.MANIFEST
    install.install(empty)
    first = dump(empty.info.dsn)
    done = psql(empty.info.dsn, manifest)
    assert done.returncode == 0, done.stderr
    # psql knows no checksums: what it applied is applied once more.
    assert set(changes(install.install(empty)).values()) == {Action.APPLY}
    assert changes(install.install(empty)) == {}
    assert dump(empty.info.dsn) == first


def test_psql_refuses_a_changed_migration(installed, tree, psql, dump):
    before = dump(installed.info.dsn), recorded(installed)
    tree.append(MIGRATION, "SELECT 1;\n")
    tree.release(MIGRATION)
    done = psql(installed.info.dsn, tree.manifest)
    assert done.returncode == 3
    assert "changed" in done.stderr
    assert (dump(installed.info.dsn), recorded(installed)) == before


def test_psql_uninstalls_the_same(empty, psql, dump):
    before = dump(empty.info.dsn)
    install.install(empty)
    done = psql(empty.info.dsn, install.sql_root() / install.UNINSTALL)
    assert done.returncode == 0, done.stderr
    assert dump(empty.info.dsn) == before


def test_the_package_folder_is_found_from_a_checkout():
    root = install.sql_root()
    assert (root / install.MANIFEST).is_file()
    assert root == Path(__file__).resolve().parents[2]

"""Documents of stages: problems, versions, differences, and the Module of a stage."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

from psycopg.types.json import Jsonb

from decision.conftest import together

if TYPE_CHECKING:
    from collections.abc import Callable

    from decision.conftest import Room


def test_every_problem_is_told_at_once(room: Room) -> None:
    document = room.scene()
    room.conn.execute("CREATE TABLE app.bare (k text, at timestamp)")
    wrong = copy.deepcopy(document)
    wrong |= {"mode": "key", "batch_size": -1, "typo": 1, "ruleset": "nobody", "keep": None}
    wrong["links"][0] |= {"buffer": True, "arrival": "nix", "array": "yes"}
    wrong["links"][1] |= {"parameter": "a", "reject": {"on": [], "abort_after": "x"}}
    wrong["links"] += [
        {"name": "a", "source": "app.nix", "arrival": "id"},
        {"name": "bare", "source": "app.bare", "arrival": "k"},
        {"name": "none", "source": "x", "arrival": "id"},
        7,
    ]
    wrong["outputs"] += [
        {"name": "bare", "table": "app.bare", "propagate": {"link": "z", "by": "KEY"}},
        {"name": "own", "table": "omd.module", "columns": []},
        {"name": "twice", "table": '"app"."out"', "columns": ["nix"]},
    ]
    wrong["window"] = {"column": "at", "delay": "never"}
    found = room.problems(wrong)
    assert found.keys() >= {
        "mode",
        "batch_size",
        "typo",
        "ruleset",
        "keep",
        "links.a.buffer",
        "links.a.arrival",
        "links.a.array",
        "links.a.name",
        "links.a.source",
        "links.b.parameter",
        "links.b.reject.on",
        "links.b.reject.abort_after",
        "links.bare.arrival",
        "links.bare.source",
        "links.none.source",
        "links[5]",
        "outputs.bare.table",
        "outputs.bare.propagate.link",
        "outputs.bare.propagate.by",
        "outputs.own.table",
        "outputs.own.columns",
        "outputs.twice.table",
        "outputs.twice.columns",
        "window.delay",
    }
    assert room.problems({**document, "mode": "BATCH"}).keys() == {"keys"}
    assert room.problems({**document, "keys": []}).keys() == {"keys"}
    assert room.problems({"stage": "s"}).keys() == {"links", "outputs", "ruleset"}
    for nonsense in ([], 5, "s", None):
        assert room.problems(nonsense) == {"": "expected: an object"}  # type: ignore[arg-type]
    room.conn.execute("ALTER TABLE app.b ADD at timestamptz")
    room.conn.execute("ALTER TABLE app.a ADD at timestamptz")
    room.conn.execute("ALTER TABLE app.out ADD i integer GENERATED ALWAYS AS IDENTITY")
    window = {"column": "at", "delay": "infinity"}
    assert room.problems({**document, "window": window}).keys() == {"window.delay"}
    outputs = [{**document["outputs"][0], "columns": ["k", "i"]}]
    assert room.problems({**document, "outputs": outputs}).keys() == {"outputs.out.columns"}
    many = [{"name": f"l{n}", "source": "app.b", "arrival": "id"} for n in range(51)]
    assert room.problems({**document, "links": many}).keys() == {"links"}
    # Types of one family fit, others do not.
    room.conn.execute("ALTER TABLE app.b ALTER k TYPE text")
    assert "is text" in room.problems(document)["links.b.source"]


def test_a_document_is_a_new_version_only_where_it_differs(room: Room) -> None:
    document = room.scene()

    def define(**arguments: Any) -> tuple[int, list[Any]]:
        answer = room.define(document, **arguments)
        return answer["version"], [(c["path"], c["old"], c["new"]) for c in answer["changes"]]

    assert define() == (1, [])
    # Defaults and other spellings make no difference.
    document |= {"keep": "CYCLES", "max_array_rows": 100000, "batch_size": 0}
    document["links"][0] |= {"source": 'APP."a"', "array": True, "parameter": "a"}
    document["links"][0]["reject"]["on"].reverse()
    assert define() == (1, [])
    document["links"][1]["array"] = False
    document["keep"] = "NONE"
    changes = [("keep", "CYCLES", "NONE"), ("links.b.array", True, False)]
    assert define(dry_run=True) == (2, changes)
    assert define(dry_run=True) == (2, changes)
    assert define() == (2, changes)
    assert define() == (2, [])
    # The first link is the primary one.
    document["links"].reverse()
    assert define() == (3, [("links", ["a", "b"], ["b", "a"])])
    del document["links"][0]["reject"]
    document["outputs"].append({"name": "o2", "table": "app.o2"})
    room.conn.execute("CREATE TABLE app.o2 (omd_insert_module_instance_id bigint)")
    version, found = define()
    assert version == 4
    assert [path for path, _, _ in found] == ["links.b.reject", "outputs", "outputs.o2"]
    assert room.one("SELECT count(*) FROM omd_decision.stage_version") == 4
    row = room.rows("SELECT * FROM omd_report.decision_stage_list")[0]
    assert (row["stage_code"], row["version"], row["module_code"]) == ("s", 4, "s")


def test_definitions_at_once_become_a_version_each(
    room: Room, another: Callable[..., Room]
) -> None:
    document = room.scene()
    sessions = [another(role="omd_admin") for _ in range(4)]
    answers = together(
        *(
            lambda s=s, n=n: s.define({**document, "max_array_rows": n})["version"]
            for n, s in enumerate(sessions, start=1)
        )
    )
    assert sorted(answers) == [2, 3, 4, 5]
    new = [another(role="omd_admin") for _ in range(3)]
    answers = together(
        *(lambda s=s: s.define({**document, "stage": "new"})["version"] for s in new)
    )
    assert answers == [1, 1, 1]


def test_every_table_that_a_version_has_named_is_rolled_back(room: Room) -> None:
    document = room.scene("jsonb_build_object('out', p -> 'a')")
    room.fill("a", (1, 1), (2, 2))
    first = room.run()["module_instance_id"]
    room.conn.execute('CREATE TABLE app."o{table}\\" (k int, omd_insert_module_instance_id bigint)')
    document["outputs"] = [{"name": "out", "table": 'app."o{table}\\"'}]
    room.define(document)
    second = room.run()["module_instance_id"]
    assert room.one('SELECT count(*) FROM app."o{table}\\"') == 2
    for instance in (first, second):
        room.set_next("R", module=instance)
    room.function("'{}'")
    room.ruleset({"ruleset": "f", "kind": "FUNCTION", "content": "app.f"})
    assert room.run()["execution_status_code"] == "S"
    assert room.one('SELECT count(*) FROM app."o{table}\\"') == 0
    assert room.one("SELECT count(*) FROM app.out") == 0
    # A table that is gone is not asked for any more, once the stage is defined again.
    room.conn.execute("DROP TABLE app.out")
    room.define(document)
    room.set_next("R", module=room.run()["module_instance_id"])
    assert room.run()["execution_status_code"] == "S"


def test_a_module_of_another_owner_is_not_taken(room: Room) -> None:
    document = room.scene()
    other = {**document, "stage": "t", "module": {"module_code": "s"}}
    assert room.problems(other).keys() == {"module.module_code"}
    room.call("omd.register_module", module_code="m", area_code="HSTG", table_code="app.a")
    other["module"] = {"module_code": "m"}
    assert room.problems(other).keys() == {"module.module_code"}
    other["module"] = {"module_code": "own", "area_code": "INT"}
    assert room.define(other)["version"] == 1
    assert room.one("SELECT area_code FROM omd.module WHERE module_code = 'own'") == "INT"


def test_names_may_be_hostile(room: Room) -> None:
    room.scene()
    odd = 'x"; DROP {table} %s \\ é'
    quoted = '"' + odd.replace('"', '""') + '"'
    room.conn.execute(
        f"CREATE SCHEMA {quoted}; CREATE TABLE {quoted}.{quoted} ({quoted} int, s int,"
        " omd_insert_module_instance_id bigint);".encode()
    )
    document = {
        "stage": odd,
        "mode": "KEY",
        "keys": [{"column": odd}],
        "ruleset": odd,
        "links": [
            {
                "name": odd,
                "source": f"{quoted}.{quoted}",
                "arrival": "s",
                "reject": {"on": ["LEFTOVER"]},
            },
            {"name": "it's", "source": f"{quoted}.{quoted}", "arrival": "s", "array": False},
        ],
        "outputs": [{"name": odd, "table": "app.out", "parameter": odd}],
    }
    room.conn.execute(
        f"CREATE FUNCTION {quoted}.{quoted}(jsonb) RETURNS jsonb LANGUAGE sql IMMUTABLE"
        " AS 'SELECT $1'".encode()
    )
    room.ruleset({"ruleset": odd, "kind": "FUNCTION", "content": f"{quoted}.{quoted}"})
    room.define(document)
    room.conn.execute(f"INSERT INTO {quoted}.{quoted} VALUES (1, 1)".encode())
    assert len(room.cycles(odd)) == 1
    done = room.run(odd)
    assert (done["execution_status_code"], done["cycles"]) == ("S", 1), done
    assert room.one("SELECT count(*) FROM app.out") == 1


def test_documents_are_bounded(room: Room) -> None:
    stage = room.scene()
    deep: Any = 1
    for _ in range(100):
        deep = [{"a": deep}]
    detail = room.refused("OM082", "define_stage", stage=Jsonb({**stage, "wave": {"x y": deep}}))
    assert detail["path"].startswith("wave.x y[0].a[0].a")
    assert detail["problem"] == "it is nested more than 64 deep"
    for content in (deep, "x" * 10_000_001):
        ruleset = {"ruleset": "m", "kind": "JDM", "content": content}
        detail = room.refused("OM082", "define_ruleset", ruleset=Jsonb(ruleset))
        assert "more than" in detail["problem"]

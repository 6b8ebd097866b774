"""Model documents: each key, each wrong value, what contradicts itself, and settings."""

from __future__ import annotations

import copy
import json
from typing import TYPE_CHECKING, Any

import pytest

import omd
import omd.errors

if TYPE_CHECKING:
    from conftest import Room

BASE: dict[str, Any] = {
    "interface": "i",
    "entities": [
        {
            "name": "p",
            "key": ["a", "b"],
            "attributes": [
                {"name": "a", "type": "integer"},
                {"name": "b", "type": "text(3)"},
                {"name": "c", "type": "date"},
                {"name": "m", "type": "text", "mandatory": True},
                {"name": "old", "type": "text", "retired": True},
            ],
            "alternate_keys": [{"name": "k", "attributes": ["c"]}],
            "constraints": [
                {"name": "v", "type": "value", "attribute": "c", "check": "c > '2026-01-01'"}
            ],
        },
        {
            "name": "q",
            "key": ["x", "y", "z"],
            "attributes": [
                {"name": "x", "type": "bigint"},
                {"name": "y", "type": "text"},
                {"name": "z", "type": "date"},
                {"name": "w", "type": "boolean"},
            ],
            "relationships": [{"name": "r", "parent": "p", "columns": ["x", "y"]}],
        },
    ],
}
ENTITY, CHILD = ("entities", 0), ("entities", 1)
ATTRIBUTE = (*ENTITY, "attributes", 2)
KEY = (*ENTITY, "alternate_keys", 0)
RELATIONSHIP = (*CHILD, "relationships", 0)
CONSTRAINT = (*ENTITY, "constraints", 0)
GONE = object()


def changed(*changes: tuple[tuple[Any, ...], Any]) -> Any:
    """Return the document with other values at these paths."""
    model = copy.deepcopy(BASE)
    for path, value in changes:
        node = model
        for step in path[:-1]:
            node = node[step]
        if value is GONE:
            del node[path[-1]]
        elif isinstance(node, list) and path[-1] == "new":
            node.append(value)
        else:
            node[path[-1]] = value
    return model


def written(path: tuple[Any, ...]) -> str:
    """Return a path as DETAIL has it."""
    return "".join(f"[{s}]" if isinstance(s, int) else f".{s}" for s in path).removeprefix(".")


CODE = [None, 1, "", "A", "1a", "_a", "a-b", "a b", "ä", "a" * 42, ["a"], {}, True]
TEXT = [None, 1, "", "  \n", [], {}, True]
TYPES = (
    "int|varchar(3)|json|text(0)|text(-1)|text()|char(1)|numeric|numeric(5)|numeric(39,0)"
    "|numeric(3,4)|numeric(0,0)|date[]|text(10485761)|timestamp(3)|numeric(5,-1)|text(1e1)"
    "|text(3); DROP TABLE x"
)
NAMES = [None, "a", [], [1], ["a", "a"], ["a", None], {}, [["a"]], [f"a{n}" for n in range(33)]]
FLAG = [None, 0, "true", "yes", [], {}]
OBJECT = [None, 1, "a", [], True]
WRONG: list[tuple[tuple[Any, ...], list[Any]]] = [
    (("interface",), [GONE, *CODE]),
    (("entities",), [GONE, None, [], {}, "p"]),
    (("settings",), OBJECT),
    (("facts",), OBJECT),
    ((*ENTITY, "name"), [GONE, *CODE]),
    ((*ENTITY, "key"), [GONE, *NAMES]),
    ((*ENTITY, "attributes"), [GONE, None, [], {}, "a"]),
    ((*ENTITY, "alternate_keys"), [None, {}, "k"]),
    ((*ENTITY, "relationships"), [None, {}, 1]),
    ((*ENTITY, "constraints"), [None, {}, 1]),
    ((*ENTITY, "indicator"), OBJECT),
    ((*ENTITY, "derived"), OBJECT),
    ((*ENTITY, "retired"), FLAG),
    ((*ENTITY, "facts"), OBJECT),
    ((*ATTRIBUTE, "name"), [GONE, *CODE, "acm_x", "delivery_id", "xmin", "cmax"]),
    (
        (*ATTRIBUTE, "type"),
        [GONE, None, 1, "", *TYPES.split("|")],
    ),
    ((*ATTRIBUTE, "mandatory"), FLAG),
    ((*ATTRIBUTE, "values"), [None, [], {}, "a", [None], [[]], [{}]]),
    ((*ATTRIBUTE, "source"), [*TEXT, "x" * 64, "ctid", "tableoid"]),
    ((*ATTRIBUTE, "computed"), TEXT),
    ((*ATTRIBUTE, "format"), TEXT),
    ((*ATTRIBUTE, "retired"), FLAG),
    ((*ATTRIBUTE, "facts"), OBJECT),
    ((*KEY, "name"), [GONE, *CODE]),
    ((*KEY, "attributes"), [GONE, *NAMES]),
    ((*RELATIONSHIP, "name"), [GONE, *CODE]),
    ((*RELATIONSHIP, "parent"), [GONE, *TEXT, "nobody"]),
    ((*RELATIONSHIP, "columns"), [GONE, *NAMES, ["x"], ["x", "y", "z"]]),
    ((*RELATIONSHIP, "context_filter"), FLAG),
    ((*RELATIONSHIP, "child_required"), FLAG),
    ((*CONSTRAINT, "name"), [GONE, *CODE]),
    ((*CONSTRAINT, "type"), [GONE, None, 1, "VALUE", "datatype"]),
    ((*CONSTRAINT, "attribute"), [GONE, *TEXT]),
    ((*CONSTRAINT, "check"), [GONE, *TEXT, "c", "c > now()", "m = ''", "old = ''", "c > 1"]),
    ((*CONSTRAINT, "query"), [*TEXT, "SELECT 1"]),
]


ALONE = {
    *("entities", "attributes", "alternate_keys", "relationships", "constraints"),
    *("parent", "columns", "attribute", "check", "query"),
}


def test_each_wrong_value_is_told_with_its_path(room: Room) -> None:
    # One document may be wrong in many places that do not depend on each other.
    apart = [(path, values) for path, values in WRONG if path[-1] not in ALONE]
    rounds = [
        [(path, values[n]) for path, values in apart if n < len(values)]
        for n in range(max(len(values) for _, values in apart))
    ]
    rounds += [[(p, value)] for p, values in WRONG if p[-1] in ALONE for value in values]
    silent = []
    for cases in rounds:
        problems = room.wrong(changed(*cases))
        silent += [case for case in cases if written(case[0]) not in problems]
    assert silent == []
    assert room.one("SELECT count(*) FROM omd_delivery.interface") == 0
    assert room.diff(BASE) != []


def test_each_wrong_value_is_told_as_it_stands(room: Room) -> None:
    told = room.wrong(
        changed(
            ((*ATTRIBUTE, "mandatory"), "yes"),
            ((*ATTRIBUTE, "type"), "varchar(7)"),
            ((*CHILD, "retired"), 5),
            (("settings",), {"p.v": {"threshold": "x" * 100}}),
        )
    )
    assert told[written((*ATTRIBUTE, "mandatory"))] == 'expected: true or false; found: "yes"'
    assert told[written((*ATTRIBUTE, "type"))].endswith('; found: "varchar(7)"')
    assert told[written((*CHILD, "retired"))] == "expected: true or false; found: 5"
    assert told['settings["p.v"].threshold'] == (
        f'expected: a number of rows, or none; found: "{"x" * 58}…'
    )
    assert room.wrong([1])[""] == "expected: an object; found: [1]"
    path = (*ENTITY, "attributes", 1, "values")
    told = room.wrong(changed((path, ["abc", "abcd"])))
    assert told[f"{written(path)}[1]"].endswith('; found: "abcd"')


def test_each_unknown_key_is_told_with_its_path(room: Room) -> None:
    places = [(), ENTITY, ATTRIBUTE, KEY, RELATIONSHIP, CONSTRAINT]
    paths = [(*place, "colour") for place in places]
    assert room.wrong(changed(*((path, 1) for path in paths))) == {
        written(path): "unknown key" for path in paths
    }
    deep = changed(
        ((*ENTITY, "indicator"), {"colour": 1, "column": "", "delete": 5}),
        ((*CHILD, "derived"), {"colour": 1, "from": [], "query": " "}),
        (("settings",), {"p.v": {"colour": 1, "threshold": -1}, "p.k": 5}),
    )
    assert set(room.wrong(deep)) == {
        *(f"entities[0].indicator.{key}" for key in ("colour", "column", "delete")),
        *(f"entities[1].derived.{key}" for key in ("colour", "from", "query")),
        *(f'settings["p.v"].{key}' for key in ("colour", "threshold")),
        'settings["p.k"]',
    }


def test_what_is_no_document_is_told_so(room: Room) -> None:
    for model in (1, "x", [], None, True, {}, {"entities": [1, None, {}]}):
        assert room.wrong(model)


CONTRADICTIONS: dict[str, Any] = {
    "entities[1].name": ((*CHILD, "name"), "p"),
    "entities[0].attributes[5].name": (
        (*ENTITY, "attributes", "new"),
        {"name": "a", "type": "text"},
    ),
    "entities[0].key[1]": ((*ENTITY, "key"), ["a", "zzz"]),
    "entities[0].key[0]": ((*ENTITY, "key"), ["old", "a"]),
    "entities[0].alternate_keys[0].attributes[1]": ((*KEY, "attributes"), ["c", "old"]),
    "entities[0].alternate_keys[1].name": (
        (*ENTITY, "alternate_keys", "new"),
        {"name": "k", "attributes": ["m"]},
    ),
    "entities[0].constraints[0].name": ((*CONSTRAINT, "name"), "k"),
    "entities[1].relationships[0].name": ((*RELATIONSHIP, "name"), "primary_key"),
    "entities[0].attributes[2]": (
        ATTRIBUTE,
        {"name": "c", "type": "date", "source": "s", "computed": "x"},
    ),
    "entities[0].attributes[0].format": ((*ENTITY, "attributes", 0, "format"), "yyyy"),
    "entities[0].attributes[1].values[1]": ((*ENTITY, "attributes", 1, "values"), ["abc", "abcd"]),
    "entities[0].attributes[0].values[2]": (
        (*ENTITY, "attributes", 0, "values"),
        [1, "2", 3000000000],
    ),
    "entities[0].attributes[2].values[1]": ((*ATTRIBUTE, "values"), ["2026-02-28", "2026-02-29"]),
    "entities[1].relationships[0].columns[1]": ((*RELATIONSHIP, "columns"), ["x", "z"]),
    "entities[1].derived.from[0]": ((*CHILD, "derived"), {"from": ["nobody"], "query": "SELECT 1"}),
    "entities[1].derived.from[1]": ((*CHILD, "derived"), {"from": ["p", "q"], "query": "SELECT 1"}),
    "entities[0].constraints[0].query": ((*CONSTRAINT, "query"), "SELECT 1"),
    "entities[0].constraints[0].check": ((*CONSTRAINT, "check"), "a > 1"),
    "entities[0].constraints[0].attribute": (
        CONSTRAINT,
        {"name": "v", "type": "record", "attribute": "c", "check": "a > 1"},
    ),
}


def test_what_contradicts_itself_is_told_with_its_path(room: Room) -> None:
    found = {path: room.wrong(changed(change)) for path, change in CONTRADICTIONS.items()}
    assert {path for path, problems in found.items() if path not in problems} == set()
    every = room.wrong(
        changed(
            ((*ENTITY, "colour"), 1), ((*KEY, "attributes"), ["zzz"]), ((*CONSTRAINT, "check"), "(")
        )
    )
    assert set(every) == {
        "entities[0].colour",
        "entities[0].alternate_keys[0].attributes[0]",
        "entities[0].constraints[0].check",
    }
    child = changed(
        ((*CHILD, "name"), "c"),
        ((*RELATIONSHIP, "name"), "datatype"),
        ((*RELATIONSHIP, "child_required"), True),
    )
    assert "entities[1].relationships[0].name" in room.wrong(child)  # p.c.datatype is that of c


def test_context_filters_form_no_circle(room: Room) -> None:
    back = {"name": "back", "parent": "q", "columns": ["a", "b", "c"]}
    assert set(room.wrong(changed(((*ENTITY, "relationships"), [back])))) == {
        "entities[0].relationships[0].context_filter",
        "entities[1].relationships[0].context_filter",
    }
    room.deploy(changed(((*ENTITY, "relationships"), [{**back, "context_filter": False}])))
    own = {"name": "own", "parent": "q", "columns": ["x", "y", "z"]}
    assert list(room.wrong(changed(((*CHILD, "relationships", "new"), own)))) == [
        "entities[1].relationships[1].context_filter"
    ]
    rows = room.rows(
        "SELECT relationship_code, is_dependent, has_context_filter FROM omd_delivery.relationship"
    )
    assert {tuple(row.values()) for row in rows} == {("r", True, True), ("back", True, False)}


def test_types_may_be_written_as_sql_writes_them(room: Room) -> None:
    types = {
        "boolean": "boolean",
        "smallint": "smallint",
        "bigint": "bigint",
        "numeric(38, 38)": "numeric(38,38)",
        "NUMERIC(1,0)": "numeric(1,0)",
        "double  precision": "double precision",
        "text": "text",
        "text ( 7 )": "character varying(7)",
        "character varying(8)": "character varying(8)",
        "timestamp": "timestamp without time zone",
        "timestamp without time zone": "timestamp without time zone",
        "timestamptz": "timestamp with time zone",
        "timestamp with time zone": "timestamp with time zone",
    }
    attributes = [{"name": f"t{n}", "type": written} for n, written in enumerate(types)]
    entity = {"name": "e", "key": ["t0"], "attributes": attributes}
    room.deploy({"interface": "i", "entities": [entity]})
    rows = room.rows("SELECT data_type FROM omd_delivery.attribute ORDER BY ordinal")
    assert [row["data_type"] for row in rows] == list(types.values())
    assert room.deploy(room.document("i"))[1] == []


WRONG_SETTINGS: list[tuple[str, dict[str, Any]]] = [
    ("p.v", {"action": "FLY"}),
    ("p.v", {"action": None}),
    ("p.v", {"threshold": -1}),
    ("p.v", {"threshold": 1.5}),
    ("p.v", {"threshold": "many"}),
    ("p.v", {"threshold": True}),
    ("p.v", {"threshold_percent": 100.1}),
    ("p.v", {"threshold_percent": "none"}),
    ("p.v", {"threshold_percent": -0.1}),
    ("p.v", {"warn": "none"}),
    ("p.v", {"warn": 2.5}),
    ("p.v", {"warn_percent": 101}),
    ("p.v", {"enabled": "false"}),
]
IMPOSSIBLE: list[tuple[str, dict[str, Any]]] = [
    ("p.columns", {"threshold": 1}),
    ("p.columns", {}),
    ("p.row_count", {"action": "S"}),
    ("p.row_format", {"action": "N"}),
    ("p.row_format", {"enabled": False}),
    ("p.a.datatype", {"action": "E"}),
    ("p.m.datatype", {"action": "E"}),
    ("p.c.datatype", {"action": "N"}),
    ("p.c.datatype", {"enabled": False}),
    ("p.m.mandatory", {"action": "E"}),
    ("p.primary_key", {"action": "N"}),
    ("p.primary_key", {"enabled": False}),
    ("p.k", {"action": "N"}),
    ("p.k", {"enabled": False}),
    ("q.r", {"action": "E"}),
    ("p.context", {"action": "E"}),
    ("p.deletes", {"action": "S"}),
    ("p.deletes", {"enabled": False}),
]
POSSIBLE: dict[str, dict[str, Any]] = {
    "p.row_count": {"threshold": 3, "threshold_percent": 0},
    "p.row_format": {"action": "SKIP ROW", "threshold": 9223372036854775807},
    "p.c.datatype": {"action": "EMPTY COLUMN", "threshold_percent": 100},
    "p.m.mandatory": {"action": "NO ACTION", "enabled": False},
    "p.v": {"action": "empty column", "warn": 0, "warn_percent": 0.5},
    "p.k": {"action": "E"},
    "q.r": {"action": "N", "enabled": False},
    "q.context": {"action": "S", "enabled": False, "threshold": "none"},
    "p.deletes": {"threshold_percent": 10},
}


def test_settings_are_held_against_their_constraints(room: Room) -> None:
    silent = []
    for code, setting in WRONG_SETTINGS:
        (field,) = setting
        if f'settings["{code}"].{field}' not in room.wrong(
            changed((("settings",), {code: setting}))
        ):
            silent.append((code, setting))
    for code, setting in IMPOSSIBLE:
        problems = room.wrong(changed((("settings",), {code: setting})), "OM042")
        if list(problems) != [f'settings["{code}"]']:
            silent.append((code, setting))
    assert silent == []
    unknown = {
        "p.nothing": {},
        "p.old.datatype": {},
        "p.a.mandatory": {},
        "p": {},
        "P.V": {},
        "": {},
    }
    detail = room.refused("OM035", "deploy_model", model=changed((("settings",), unknown)))
    assert detail["constraint_codes"] == sorted(unknown)
    room.deploy(changed((("settings",), POSSIBLE)))
    assert room.deploy(changed((("settings",), {**POSSIBLE, "p.context": {}})))[1] == []


def test_every_constraint_of_a_model_is_registered(room: Room) -> None:
    room.deploy(
        changed(
            ((*ENTITY, "attributes", 1, "values"), ["x"]),
            ((*ENTITY, "attributes", 0, "mandatory"), True),
            ((*RELATIONSHIP, "child_required"), True),
            (
                (*CHILD, "constraints"),
                [{"name": "s", "type": "set", "query": "SELECT x, y, z FROM q"}],
            ),
        )
    )
    rows = room.rows(
        "SELECT constraint_code, stage, expression FROM omd_delivery.model_constraint"
        " INNER JOIN omd_delivery.entity USING (entity_id)"
        " ORDER BY entity.ordinal, model_constraint.ordinal"
    )
    assert [(r["constraint_code"], r["stage"]) for r in rows] == [
        *((f"p.{code}", 1) for code in ("columns", "row_count", "row_format")),
        *((f"p.{code}.datatype", 1) for code in "abcm"),
        ("p.m.mandatory", 1),
        ("p.b.enumeration", 1),
        ("p.v", 1),
        ("p.primary_key", 1),
        ("p.k", 2),
        ("p.q.r", 2),
        ("p.context", 2),
        ("p.deletes", 2),
        *((f"q.{code}", 1) for code in ("columns", "row_count", "row_format")),
        *((f"q.{code}.datatype", 1) for code in "xyzw"),
        ("q.s", 2),
        ("q.primary_key", 1),
        ("q.r", 2),
        ("q.context", 2),
        ("q.deletes", 2),
    ]
    assert [r["expression"] for r in rows if r["expression"]] == [
        "c > '2026-01-01'",
        "SELECT x, y, z FROM q",
    ]


def test_a_model_is_bounded(room: Room, model: dict[str, Any], dsn: str) -> None:
    deep: Any = 1
    for _ in range(3000):
        deep = {"a": deep}
    as_text = '{"a": ' * 3000 + "1" + "}" * 3000
    model["facts"] = {"b": [0, "here"]}
    text = json.dumps(model).replace('"here"', as_text)
    detail = room.refused("OM030", "deploy_model", model=text)
    assert detail["problems"][0]["path"].startswith("facts.b[1].a.a.a")
    large = json.dumps(model).replace("here", "x" * 10_000_001)
    assert "bytes" in room.refused("OM030", "deploy_model", model=large)["problem"]
    # The driver finds out what no text of the database can be.
    control = omd.connect(dsn)
    for value, path, problem in (
        (deep, "facts.b[1].a.a", "64 deep"),
        ({"c\0": 1}, "facts.b[1].c\\x00", "U+0000"),
        (["\ud800"], "facts.b[1][0]", "half a surrogate pair"),
    ):
        model["facts"]["b"][1] = value
        with pytest.raises(omd.errors.lookup("OM030")) as caught:
            control.calls.omd_delivery.deploy_model(model)
        assert caught.value.sqlstate == "OM030"
        assert caught.value.detail["path"].startswith(path)
        assert problem in caught.value.detail["problem"]
    model["facts"]["b"][1] = "😀"
    control.calls.omd_delivery.deploy_model(model)
    control.close()
    assert room.one("SELECT count(*) FROM omd_delivery.model_version") == 1

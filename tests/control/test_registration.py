"""Registration of Batches and Modules: it goes by code, is repeatable, and refuses nonsense."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg
import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future

    from support.flow import Flow

HOSTILE = [
    "x'; DROP TABLE omd.batch; --",
    'double "quotes"',
    "back\\slash",
    "{table} %s %I $1",
    "emoji 🚕 and ünïcode",
    "line\nbreak",
    "x" * 2600,
]
BATCH = {
    "frequency_code": ("Daily", "Weekly"),
    "batch_description": ("one", "two"),
    "inactive_indicator": ("N", "Y"),
    "continue_on_failure": (False, True),
}
MODULE = {
    "area_code": ("STG", "HSTG"),
    "table_code": ("stg.one", "stg.two"),
    "table_type_code": ("STG", "HSTG"),
    "platform_code": ("POSTGRES", "SPARK"),
    "executable": ("SELECT 1", "SELECT 2"),
    "module_description": ("one", "two"),
    "business_key_columns": (["a"], ["a", "b"]),
    "effective_date_column": ("from_1", "from_2"),
    "expiry_date_column": ("to_1", "to_2"),
    "current_indicator_column": ("current_1", "current_2"),
    "insert_instance_column": ("ins_1", "ins_2"),
    "update_instance_column": ("upd_1", "upd_2"),
    "inactive_indicator": ("N", "Y"),
}


def registered(flow: Flow, kind: str, code: str) -> dict[str, Any]:
    (row,) = flow.rows(f"SELECT * FROM omd.{kind} WHERE {kind}_code = %s", code)
    return row


@pytest.mark.parametrize(("kind", "attributes"), [("batch", BATCH), ("module", MODULE)])
def test_registering_again_changes_every_attribute_given(
    flow: Flow, kind: str, attributes: dict[str, tuple[Any, Any]]
) -> None:
    code = {f"{kind}_code": "x"}
    first = flow.call(
        f"register_{kind}", **code, **{name: old for name, (old, _) in attributes.items()}
    )
    for name, (_, new) in attributes.items():
        before = registered(flow, kind, "x")
        again = flow.call(f"register_{kind}", **code, **{name: new})
        assert again == first
        assert registered(flow, kind, "x") == {**before, name: new}


@pytest.mark.parametrize(("kind", "attributes"), [("batch", BATCH), ("module", MODULE)])
def test_null_keeps_the_present_value(
    flow: Flow, kind: str, attributes: dict[str, tuple[Any, Any]]
) -> None:
    code = {f"{kind}_code": "x"}
    flow.call(f"register_{kind}", **code, **{name: new for name, (_, new) in attributes.items()})
    before = registered(flow, kind, "x")
    flow.call(f"register_{kind}", **code, **dict.fromkeys(attributes))
    assert registered(flow, kind, "x") == before


def test_companions_are_replaced_as_a_whole(flow: Flow) -> None:
    def companions() -> list[str]:
        return [
            row["module_code"]
            for row in flow.rows(
                "SELECT c.module_code FROM omd.module_companion AS mc"
                " JOIN omd.module AS c ON c.module_id = mc.companion_module_id ORDER BY 1"
            )
        ]

    for code in ("m", "c_1", "c_2"):
        flow.module(code)
    flow.call("register_module", module_code="m", companion_module_codes=["c_1"])
    flow.call("register_module", module_code="m")
    assert companions() == ["c_1"]
    flow.call("register_module", module_code="m", companion_module_codes=["c_2"])
    assert companions() == ["c_2"]
    flow.refused("OM002", "register_module", module_code="m", companion_module_codes=["nope"])
    assert companions() == ["c_2"]


def test_a_module_may_be_its_own_companion_never(flow: Flow) -> None:
    flow.module()
    with pytest.raises(psycopg.Error):
        flow.call("register_module", module_code="m", companion_module_codes=["m"])


def test_registering_a_member_again_changes_its_place(flow: Flow) -> None:
    flow.batch("b", "m")
    flow.batch("child")
    flow.call("add_batch_to_parent_batch", batch_code="child", parent_batch_code="b", sequence=1)
    calls: dict[str, dict[str, Any]] = {
        "add_module_to_batch": {"module_code": "m", "batch_code": "b"},
        "add_batch_to_parent_batch": {"batch_code": "child", "parent_batch_code": "b"},
    }
    tables = {"add_module_to_batch": "batch_module", "add_batch_to_parent_batch": "batch_hierarchy"}
    for call, codes in calls.items():
        query = f"SELECT sequence, inactive_indicator FROM omd.{tables[call]}"
        flow.call(call, **codes, sequence=7, inactive_indicator="Y")
        assert flow.rows(query) == [{"sequence": 7, "inactive_indicator": "Y"}]
        flow.call(call, **codes)
        assert flow.rows(query) == [{"sequence": 7, "inactive_indicator": "Y"}]
        flow.call(call, **codes, inactive_indicator="N")
        assert flow.rows(query) == [{"sequence": 7, "inactive_indicator": "N"}]


@pytest.mark.parametrize(
    ("sqlstate", "routine", "arguments"),
    [
        ("OM001", "begin_batch", {"batch_code": "nope"}),
        ("OM001", "create_batch_instance", {"batch_code": "nope"}),
        ("OM001", "add_module_to_batch", {"batch_code": "nope", "module_code": "m"}),
        ("OM002", "add_module_to_batch", {"batch_code": "b", "module_code": "nope"}),
        ("OM001", "add_batch_to_parent_batch", {"batch_code": "nope", "parent_batch_code": "b"}),
        ("OM001", "add_batch_to_parent_batch", {"batch_code": "b", "parent_batch_code": "nope"}),
        ("OM002", "begin_module", {"module_code": "nope"}),
        ("OM002", "create_module_instance", {"module_code": "nope"}),
        ("OM001", "run_batch", {"batch_code": "nope"}),
        ("OM002", "run_module", {"module_code": "nope"}),
        ("OM006", "register_batch", {"batch_code": "new", "frequency_code": "Sometimes"}),
        (
            "OM006",
            "register_module",
            {"module_code": "new", "area_code": "ATTIC", "table_code": "a.b"},
        ),
        (
            "OM001",
            "set_parameter",
            {"parameter_code": "p", "parameter_value": "v", "batch_code": "nope"},
        ),
    ],
)
def test_unknown_codes_create_nothing(
    flow: Flow, sqlstate: str, routine: str, arguments: dict[str, Any]
) -> None:
    flow.batch("b")
    flow.module("m")

    def everything() -> list[Any]:
        tables = [
            "batch",
            "module",
            "batch_module",
            "batch_hierarchy",
            "parameter",
            "batch_parameter",
        ]
        instances = ["batch_instance", "module_instance", "event_log"]
        return [flow.one(f"SELECT count(*) FROM omd.{table}") for table in tables + instances]

    before = everything()
    flow.refused(sqlstate, routine, **arguments)
    assert everything() == before


@pytest.mark.parametrize(
    ("name", "code"),
    [("area_code", "stg"), ("table_type_code", "hub"), ("platform_code", "spark")],
)
def test_codes_are_taken_as_people_write_them(flow: Flow, name: str, code: str) -> None:
    given = {"area_code": "STG", "table_code": "stg.t", name: code}
    flow.call("register_module", module_code="m", **given)
    assert registered(flow, "module", "m")[name] == code.upper()


@pytest.mark.parametrize("code", HOSTILE)
def test_any_text_is_a_code(flow: Flow, code: str) -> None:
    flow.call("register_batch", batch_code=code, frequency_code="Adhoc", batch_description=code)
    flow.call("register_module", module_code=code, area_code="STG", table_code="stg.t")
    flow.call("add_module_to_batch", batch_code=code, module_code=code)
    batch = flow.begin_batch(code)
    module = flow.begin_module(code, batch.id)
    assert module.pi == "P"
    flow.end_module(module.id, "S")
    flow.end_batch(batch.id, "S")
    assert flow.one("SELECT batch_code FROM omd_report.batch_execution_log") == code
    assert flow.one("SELECT module_code FROM omd_report.module_execution_log") == code
    assert flow.begin_batch(code).pi == "P"
    running = flow.refused("OM001", "begin_batch", batch_code=code + "?")
    assert running["batch_code"] == code + "?"


@pytest.mark.parametrize("blank", [None, "", "  ", "\t\n"])
def test_a_blank_name_is_refused(flow: Flow, blank: str | None) -> None:
    for routine, arguments in {
        "register_batch": {"batch_code": blank, "frequency_code": "Adhoc"},
        "register_module": {"module_code": blank, "area_code": "STG", "table_code": "a.b"},
        "set_parameter": {"parameter_code": blank, "parameter_value": "v"},
    }.items():
        with pytest.raises(psycopg.Error) as caught:
            flow.call(routine, **arguments)
        assert caught.value.sqlstate in ("OM005", "OM013")
    with pytest.raises(psycopg.Error) as caught:
        flow.call("register_module", module_code="m", area_code="STG", table_code=blank)
    assert caught.value.sqlstate in ("OM005", "OM009", "OM013")
    assert (
        flow.one("SELECT count(*) FROM omd.batch")
        == flow.one("SELECT count(*) FROM omd.module")
        == 0
    )


@pytest.mark.parametrize("indicator", ["y ", "X", "", "yes", "true"])
def test_an_inactive_indicator_is_y_or_n(flow: Flow, indicator: str) -> None:
    flow.batch("b", "m")
    flow.batch("child")
    for routine, arguments in {
        "register_batch": {"batch_code": "b"},
        "register_module": {"module_code": "m"},
        "add_module_to_batch": {"batch_code": "b", "module_code": "m"},
        "add_batch_to_parent_batch": {"batch_code": "child", "parent_batch_code": "b"},
    }.items():
        with pytest.raises(psycopg.Error) as caught:
            flow.call(routine, **arguments, inactive_indicator=indicator)
        assert caught.value.sqlstate in ("OM006", "OM013")


@pytest.mark.parametrize(
    "table_code",
    [
        "",
        ".",
        "a.",
        ".b",
        "a..b",
        "a.b.c.d",
        '"a',
        'a."',
        "a b",
        "a.b; DROP TABLE omd.batch",
        "1a.b",
    ],
)
def test_what_is_no_table_name_is_refused(flow: Flow, table_code: str) -> None:
    with pytest.raises(psycopg.Error) as caught:
        flow.call("register_module", module_code="m", area_code="STG", table_code=table_code)
    assert caught.value.sqlstate in ("OM005", "OM009", "OM013")
    assert flow.one("SELECT count(*) FROM omd.module") == 0


def place(flow: Flow, child: str, parent: str) -> None:
    flow.call("add_batch_to_parent_batch", batch_code=child, parent_batch_code=parent)


def test_a_batch_is_not_its_own_child(flow: Flow) -> None:
    flow.batch("a")
    flow.refused("OM008", "add_batch_to_parent_batch", batch_code="a", parent_batch_code="a")


def test_cycles_are_refused_at_any_depth(flow: Flow) -> None:
    for code in "abcd":
        flow.batch(code)
    for child, parent in (("b", "a"), ("c", "b"), ("d", "c"), ("d", "a")):
        place(flow, child, parent)
    for ancestor in "abc":
        detail = flow.refused(
            "OM008", "add_batch_to_parent_batch", batch_code=ancestor, parent_batch_code="d"
        )
        assert (detail["batch_code"], detail["parent_batch_code"]) == (ancestor, "d")
    assert flow.one("SELECT count(*) FROM omd.batch_hierarchy") == 4


def test_two_sessions_can_not_close_a_cycle_together(
    flow: Flow,
    another: Callable[..., Flow],
    background: Callable[..., Future[Any]],
    until_settled: Callable[..., None],
) -> None:
    for code in "abcd":
        flow.batch(code)
    place(flow, "b", "a")
    place(flow, "d", "c")
    one, two = another(), another()
    for session in (one, two):
        session.conn.execute("BEGIN")
    place(one, "c", "b")  # a > b > c > d; the other adds d > a
    second = background(place, two, "a", "d")
    until_settled(two, second)
    one.conn.execute("COMMIT")
    with pytest.raises(psycopg.Error) as caught:
        second.result(timeout=20)
    assert caught.value.sqlstate == "OM008"
    two.conn.execute("ROLLBACK")
    assert flow.one("SELECT count(*) FROM omd.batch_hierarchy") == 3


def test_two_sessions_register_the_same_code_at_once(
    flow: Flow,
    another: Callable[..., Flow],
    background: Callable[..., Future[Any]],
    until_settled: Callable[..., None],
) -> None:
    one, two = another(), another()
    one.conn.execute("BEGIN")
    first = one.call(
        "register_batch", batch_code="b", frequency_code="Daily", batch_description="one"
    )
    second = background(two.call, "register_batch", batch_code="b", batch_description="two")
    until_settled(two, second)
    one.conn.execute("COMMIT")
    assert second.result(timeout=20) == first
    assert registered(flow, "batch", "b")["frequency_code"] == "Daily"
    assert registered(flow, "batch", "b")["batch_description"] == "two"


@pytest.mark.parametrize(
    ("batch", "module", "value"),
    [(None, None, None), ("of b", None, "of b"), (None, "of m", "of m"), ("of b", "of m", "of m")],
)
def test_the_modules_parameter_wins_over_the_batchs(
    flow: Flow, batch: str | None, module: str | None, value: str | None
) -> None:
    flow.batch("b", "m")
    flow.call(
        "set_parameter",
        parameter_code="p",
        parameter_value="of another",
        batch_code=flow.batch("c"),
    )
    if batch:
        flow.call("set_parameter", parameter_code="p", parameter_value=batch, batch_code="b")
    if module:
        flow.call("set_parameter", parameter_code="p", parameter_value=module, module_code="m")
    run = flow.begin_batch().id
    inside, alone = flow.begin_module("m", run), flow.create_module()
    query = "SELECT omd.parameter_value('p', p_module_instance_id => %s)"
    assert flow.one(query, inside.id) == value
    assert flow.one(query, alone) == module
    assert flow.one("SELECT omd.parameter_value('p', p_batch_instance_id => %s)", run) == batch

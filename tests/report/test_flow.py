"""What flows where over all rooms."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from typing import TYPE_CHECKING, Any

from facts.conftest import store
from facts.test_topics import shop, topic
from kinds.conftest import Platform, platform
from omd.programs.page.graph import picture
from omd.programs.report.flow import Flow, flow
from omd.rooms.report.rows import FlowNodesRow, FlowRow

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable

    from facts.store import Store
    from support.scene import Scene

    Command = Callable[..., subprocess.CompletedProcess[str]]

__all__ = ["platform", "shop", "store"]

HOSTILE = 'it\'s "a" <b>&`|];-->\n%% \x1b[31m#quot;\u202e'
FLOW = "SELECT from_kind, from_code, to_kind, to_code FROM omd_report.flow"


def arrows(platform: Any) -> set[tuple[str, str, str, str]]:
    return {tuple(row.values()) for row in platform.rows(FLOW)}  # type: ignore[misc]


def drawn(omd_here: Command, dsn: str) -> str:
    done = omd_here("report", "flow", "--output", "mermaid", dsn=dsn)
    assert done.returncode == 0, done.stderr
    return done.stdout


def read(platform: Any) -> Flow:
    """Return the flow as pages draw it."""
    return flow(
        [FlowRow(**row) for row in platform.rows("SELECT * FROM omd_report.flow")],
        [FlowNodesRow(**row) for row in platform.rows("SELECT * FROM omd_report.flow_nodes")],
    )


def test_what_is_declared_says_what_flows_where(platform: Platform) -> None:
    platform.agree("out", layer_code="EXPORT")
    platform.call(
        "omd.register_module",
        module_code="lake",
        area_code="PRES",
        table_code="app.dst",
        table_format_code="ICEBERG",
        platform_code="SPARK",
    )
    platform.owner("UPDATE omd.module SET table_code = 'app.lake' WHERE module_code = 'lake'")
    assert arrows(platform) == {
        ("AGREEMENT", "a", "INTERFACE", "shop"),
        ("INTERFACE", "shop", "EXPORT", "out"),
        ("MODULE", "made", "TABLE", "app.made"),
        ("MODULE", "lake", "LAKE_TABLE", "app.lake"),
        ("TABLE", "app.src", "TOPIC", "app.dst"),
        ("TOPIC", "app.dst", "TABLE", "app.dst"),
        ("TABLE", "app.a", "STAGE", "s"),
        ("STAGE", "s", "TABLE", 'app."out"'),
    }


def test_an_offered_view_stands_between_interface_and_reader(
    shop: Store, omd_here: Command, dsn: str
) -> None:
    topic(shop)
    assert arrows(shop) == {
        ("AGREEMENT", "a", "INTERFACE", "shop"),
        ("INTERFACE", "shop", "VIEW", "gdal_shop.orders"),
        ("VIEW", "gdal_shop.orders", "TOPIC", "app.f"),
        ("TOPIC", "app.f", "TABLE", "app.f"),
    }
    shown = re.findall(r'n\d+\["(.+?)(?:<br/>.*)?"\]', drawn(omd_here, dsn))
    assert {"agreement a", "interface shop", "view gdal_shop.orders", "table app.f"} <= {*shown}


def test_each_node_has_its_state_and_its_last_problem(
    platform: Platform, omd_here: Command, dsn: str
) -> None:
    platform.come(1, 2, 3)
    platform.conn.execute(
        "CREATE OR REPLACE VIEW app.new AS SELECT 1 / (s.v - s.v) AS v FROM app.src AS s"
        " WHERE omd_lineage.in_block(s.pos, s.id)"
    )
    assert platform.go("app.dst")["execution_status_code"] == "F"
    nodes = {
        (n["kind"], n["code"]): n for n in platform.rows("SELECT * FROM omd_report.flow_nodes")
    }
    failed = nodes["TOPIC", "app.dst"]
    assert (failed["module_code"], failed["state"]) == ("app.dst", "FAILED")
    assert (failed["reason"], failed["failures"]) == ("BACK_OFF", 1)
    assert "22012" in failed["last_problem"]
    assert nodes["STAGE", "s"]["state"] == "IDLE"
    assert nodes["AGREEMENT", "a"]["module_code"] == "delivery.a"
    assert nodes["INTERFACE", "shop"]["module_code"] == "facts.shop"
    assert nodes["TABLE", 'app."out"']["state"] is None
    near = read(platform).of("app.dst")
    assert near is not None
    assert near.rows.keys() == {("TABLE", "app.src"), ("TOPIC", "app.dst"), ("TABLE", "app.dst")}
    assert len(near.arrows) == 2
    assert "BACK_OFF" in drawn(omd_here, dsn)


def test_nothing_is_near_what_is_not_there(platform: Platform) -> None:
    assert read(platform).of("nowhere") is None


def test_an_empty_platform_has_no_graph(scene: Scene, omd_here: Command, dsn: str) -> None:
    assert scene
    assert drawn(omd_here, dsn) == ""


def test_no_name_breaks_a_format(platform: Platform, omd_here: Command, dsn: str) -> None:
    platform.call(
        "omd.register_module",
        module_code=HOSTILE,
        area_code="STG",
        table_code="app.made",
        executable="SELECT 1 / 0",
    )
    mermaid = drawn(omd_here, dsn)
    assert mermaid.startswith("flowchart LR\n")
    assert not set(mermaid) & {"\x1b", "\u202e"}
    assert all(line.count('"') in (0, 2) for line in mermaid.splitlines())
    assert "<b>" not in mermaid
    assert "%%" not in mermaid
    page = ET.fromstring(str(picture(*read(platform).drawn(), "the flow")))
    titles = [element.text for element in page.iter("title")]
    assert sum('it\'s "a" <b>&' in (title or "") for title in titles) == 1
    near = read(platform).of(HOSTILE)
    assert near is not None
    assert {code for _, code in near.rows} == {HOSTILE, "app.made"}


def test_a_circle_of_stage_and_topic_can_be_drawn(
    platform: Platform, omd_here: Command, dsn: str
) -> None:
    """A stage may put out what a topic reads whose table the stage reads."""
    platform.owner(
        "UPDATE omd_decision.stage_version SET definition ="
        " jsonb_set(jsonb_set(definition, '{links,0,source}', '\"app.dst\"'),"
        " '{outputs,0,table}', '\"app.src\"')"
    )
    near = read(platform).of("s")
    assert near is not None
    for shown in (drawn(omd_here, dsn), str(picture(*near.drawn(), "the flow"))):
        assert all(name in shown for name in ("app.dst", "app.src"))

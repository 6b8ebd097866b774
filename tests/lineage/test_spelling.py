"""A table has one name, however people spell it: the one that PostgreSQL prints."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from support.scene import Scene


@pytest.mark.parametrize("spelling", ["DWH.SRC", '"dwh"."src"', ' Dwh . "src" '])
def test_rows_of_a_failed_run_do_not_count_however_its_module_names_the_table(
    scene: Scene, spelling: str
) -> None:
    scene.source("dwh.src", 1, 2)
    scene.module("load", table_code=spelling)
    scene.call("register_rollback", module_code="load")
    scene.topic()
    failed = scene.begin_module("load").id
    scene.insert(3, 4, 5)
    scene.conn.execute(
        b"UPDATE dwh.src SET omd_insert_module_instance_id = %s WHERE id > 2" % str(failed).encode()
    )
    scene.end_module(failed, "F")
    scene.probe()
    scene.steps()
    assert 3 not in scene.ids()
    scene.run_module("load")
    assert scene.ids("dwh.src") == [1, 2]
    assert scene.one("SELECT table_code FROM omd.module WHERE module_code = 'load'") == "dwh.src"


def test_a_table_is_one_topic_and_every_spelling_finds_it(scene: Scene) -> None:
    """Two topics of one table would load its rows twice."""
    scene.source("dwh.src", 1, 2, 3)
    scene.topic("dwh.f")
    spellings = ("DWH.F", '"dwh"."f"', "dwh . f")
    first = scene.register("dwh.f")
    for spelling in spellings:
        assert scene.register(spelling, depends_on=["DWH.Src"], transforms=['DWH."v_dwh_f"'])
    assert [scene.register(spelling) for spelling in spellings] == [first] * 3
    assert scene.rows(
        "SELECT t.topic, t.table_code, t.depends_on, t.transforms, d.source_topic_id, o.topic AS o"
        " FROM omd_lineage.topic AS t INNER JOIN omd_lineage.dependency AS d USING (topic_id)"
        " INNER JOIN omd_lineage.offsets AS o USING (topic_id)"
    ) == [
        {
            "topic": "dwh.f",
            "table_code": "dwh.f",
            "depends_on": ["dwh.src"],
            "transforms": ["dwh.v_dwh_f"],
            "source_topic_id": scene.register('"dwh".SRC'),
            "o": "dwh.f",
        }
    ]
    assert [scene.step(spelling).outcome for spelling in spellings] == ["DONE", "NOJOBS", "NOJOBS"]
    assert scene.ids() == [1, 2]
    assert scene.plan("DWH.F")["topic"] == "dwh.f"
    scene.call("omd_lineage.set_offset", topic="DWH.SRC", pos="2020-01-02 UTC")
    scene.call("omd.retry", module_code="DWH.F")
    for routine in ("release", "remove_topic"):
        scene.call(f"omd_lineage.{routine}", topic="DWH.F")
    assert not scene.rows("SELECT FROM omd_lineage.topic WHERE topic = 'dwh.f'")


def test_what_needs_quotes_keeps_them(scene: Scene) -> None:
    scene.conn.execute(b'CREATE SCHEMA "Fact"')
    scene.source('"Fact"."Src"', 1, 2, 3)
    name = scene.topic('"Fact"."A"#Tag:S', '"Fact"."Src"', transforms=[scene.view(
        '"Fact".v', '"Fact"."Src"')])  # fmt: skip
    assert scene.offset(name)["topic"] == '"Fact"."A"#Tag:S'
    assert scene.step(' "Fact" . "A"#Tag:S').outcome == "DONE"
    assert scene.ids('"Fact"."A"') == [1, 2]
    scene.refused("OM015", "omd_lineage.step", topic='"Fact"."a"#Tag:S')
    scene.refused("OM015", "omd_lineage.step", topic='"Fact"."A"#tag:S')


def test_a_trigger_finds_its_source_by_any_spelling(scene: Scene) -> None:
    scene.source("dwh.src", source_offset="TRIGGER")
    scene.conn.execute(
        b"CREATE TRIGGER t AFTER INSERT ON dwh.src REFERENCING NEW TABLE AS new_rows"
        b" FOR EACH STATEMENT EXECUTE FUNCTION omd_lineage.note_rows('DWH.SRC')"
    )
    scene.insert(1)
    assert scene.last("dwh.src")[1] == 1

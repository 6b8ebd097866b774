"""Who mistypes a command, or forgets an extra, is told what was meant."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import psycopg
import pytest

from support.alone import environment


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("statsu", "Did you mean 'omd status'?"),
        ("embedded strat", "Did you mean 'omd embedded start'"),
        (
            "--dsn x status",
            "--dsn is an option of 'status' and stands after it: omd status --dsn x",
        ),
    ],
)
def test_a_mistyped_command_names_what_may_be_meant(
    omd_command: Any, typed: str, meant: str
) -> None:
    done = omd_command(*typed.split())
    assert done.returncode == 2
    assert meant in done.stderr


@pytest.mark.parametrize("typed", ["xyzzy", "--xyzzy status", "--dsn x"])
def test_what_is_like_nothing_is_refused_as_before(omd_command: Any, typed: str) -> None:
    done = omd_command(*typed.split())
    assert done.returncode == 2
    assert "No such" in done.stderr
    assert "Did you mean" not in done.stderr


def test_an_import_without_its_extra_says_what_to_install(tmp_path: Path) -> None:
    core = environment("", tmp_path)
    done = core.run("python", "-c", "import omd.spark", check=False)
    assert done.returncode == 1
    assert "pyspark is not installed. Hint: pip install '.[spark]'" in done.stderr
    assert core.run(
        "python", "-c", "import omd, omd.programs.cli.main; omd.programs.cli.main.main(['--help'])"
    ).stdout


REGISTERED = """\
modules:
  m_orders: {area_code: INT, table_code: dwh.orders, table_type_code: HUB,
             platform_code: POSTGRES}
batches:
  b_orders: {frequency_code: Daily}
"""
DOCUMENTS = {
    "key of a Module": (
        "modules:\n  m_orders:\n    tabel_code: x\n",
        "typed.yaml:3: modules.m_orders: tabel_code is not known. Did you mean table_code?",
    ),
    "key of a document": (
        "\nmodule:\n  m_orders: {}\n",
        "typed.yaml:2: module is not known. Did you mean modules?",
    ),
    "key of a place": (
        "batches:\n  b_orders:\n    modules:\n    - m_orders: {sequenz: 1}\n",
        "typed.yaml:4: batches.b_orders.modules[0].m_orders: sequenz is not known.",
    ),
    "key of a topic": (
        "topic: fact.a\ndepend_on: [stg.a]\n",
        "typed.yaml:2: depend_on is not known. Did you mean depends_on?",
    ),
    "a key twice": (
        "modules:\n  m_orders: {}\n  m_orders: {}\n",
        "typed.yaml:3: m_orders stands here twice, first at {file}:2",
    ),
    "broken registration": (
        "modules:\n  m_orders: {}\n - x\n",
        "typed.yaml:3: it is no YAML: ",
    ),
    "broken topics": ("topic: a\n  b: c\n", "typed.yaml:2: it is no YAML: "),
    "broken model": ("interface: a\n  b: c\n", "typed.yaml:2: it is no YAML: "),
    "broken stage": ("stage: a\n  b: c\n", "typed.yaml:2: it is no YAML: "
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", DOCUMENTS)
def test_a_document_names_its_line_and_what_may_be_meant(
    dsn: str, omd_here: Any, tmp_path: Path, kind: str
) -> None:
    text, told = DOCUMENTS[kind]
    file = tmp_path / "typed.yaml"
    file.write_text(text)
    done = omd_here("diff", str(file), dsn=dsn)
    assert done.returncode == 2, done.stderr
    assert told.replace("{file}", str(file)) in done.stderr


def test_a_mistyped_code_names_what_may_be_meant(dsn: str, omd_here: Any, tmp_path: Path) -> None:
    file = tmp_path / "registered.yaml"
    file.write_text(REGISTERED)
    assert omd_here("apply", str(file), dsn=dsn).returncode == 0
    with psycopg.connect(dsn) as conn:
        conn.execute("CREATE SCHEMA fact; CREATE TABLE fact.flights (t timestamptz)")
    done = omd_here("call", "omd_lineage.register_topic", "--topic", "fact.flights", dsn=dsn)
    assert done.returncode == 0, done.stderr
    for command, meant in (
        (("show", "m_ordres"), "m_orders"),
        (("explain", "M_ORDERS"), "m_orders"),
        (("run", "m_order"), "m_orders"),
        (("show", "batch:b_oders"), "b_orders"),
        (("run", "fact.flihgts"), "fact.flights"),
    ):
        done = omd_here(*command, dsn=dsn)
        assert done.returncode == 1, done.stderr
        assert f"Hint: Did you mean {meant}" in done.stderr
    far = omd_here("show", "nowhere", dsn=dsn)
    assert "Did you mean" not in far.stderr
    with psycopg.connect(dsn) as conn, pytest.raises(psycopg.Error) as caught:
        conn.execute("CALL omd.begin_module('m_ordres')")
    assert (caught.value.diag.message_hint or "").startswith("Did you mean m_orders? ")

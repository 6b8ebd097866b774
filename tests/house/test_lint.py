"""The lint reads the bodies of routines too: sqlfluff takes each for one long text."""

from __future__ import annotations

from pathlib import Path

import pytest

import lint_bodies

MISFORMATTED = """
CREATE FUNCTION omd.f()
RETURNS void
LANGUAGE plpgsql
AS $f$
DECLARE
    v_count integer := (select 1);
BEGIN
    IF v_count IS DISTINCT FROM 1 AND NOT EXISTS (SELECT FROM omd.module) THEN
        SELECT m.module_id INTO STRICT v_count FROM omd.module AS m WHERE m.module_code = 'a';
        {}
    END IF;
END
$f$;
"""


@pytest.mark.parametrize(
    ("statement", "told"),
    [
        ("RETURN;", []),
        ("seLECT 1 ;; frob the knob;", ["10: CP01", "10: PRS"]),
        ("PERFORM omd.g( v_count);", ["10: LT01"]),
        ("v_count := Coalesce(v_count, 1);", ["10: CP03"]),
        ("RAISE EXCEPTION USING ERRCODE = 'OM001', MESSAGE = format('%s',v_count);", ["10: LT01"]),
        ("FOR v_count IN select 1 LOOP\n NULL;\nEND LOOP;", ["10: CP01"]),
        ("EXECUTE 'x' INTO v_count USING v_count,v_count;", ["10: LT01"]),
        ("RETURN QUERY SELECT m.module_id FROM omd.module m;", ["10: AL01"]),
    ],
)
def test_the_lint_reads_the_statements_of_a_body(
    tmp_path: Path, statement: str, told: list[str]
) -> None:
    file = tmp_path / "f.sql"
    file.write_text(MISFORMATTED.format(statement).lstrip("\n"))
    found = [line.partition("f.sql:")[2] for line in lint_bodies.problems(file)]
    assert found[0].startswith("6: CP01")  # of the declaration
    for expected in told:
        assert any(expected in line for line in found[1:]), found
    assert bool(told) == bool(found[1:]), found

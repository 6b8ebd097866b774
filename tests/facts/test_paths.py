"""What a control leaves in the session does not lead the owner of OMD to code of its author."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import psycopg

from facts.store import PERSON

if TYPE_CHECKING:
    from collections.abc import Callable

    from facts.store import Store

# A path outlives the function that sets it for the session, whatever its own settings are.
EVIL = """
    CREATE SCHEMA evil;
    GRANT USAGE ON SCHEMA evil, dwh TO PUBLIC;
    CREATE FUNCTION evil.differs(text, text) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN
        PERFORM user_code.watch('an operator');
        RETURN $1 OPERATOR(pg_catalog.<>) $2;
    END $$;
    CREATE OPERATOR evil.<> (LEFTARG = text, RIGHTARG = text, FUNCTION = evil.differs);
    CREATE FUNCTION evil.jsonb_object_keys(jsonb) RETURNS SETOF text LANGUAGE plpgsql AS $$ BEGIN
        PERFORM user_code.watch('a function');
        RETURN QUERY SELECT pg_catalog.jsonb_object_keys($1);
    END $$;
    CREATE FUNCTION dwh.leads(p_operation text, p_old jsonb, p_new jsonb) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER AS $$ BEGIN
        PERFORM set_config('search_path', 'evil, pg_catalog', FALSE);
        RETURN jsonb_build_object('name', 'led');
    END $$;
"""


def test_a_control_leads_the_owner_to_no_operator_of_its_author(
    store: Store, told: Callable[[], list[str]]
) -> None:
    store.set_up(PERSON)
    store.agree("desk", layer_code="GDAL")
    store.call("omd_facts.open_delivery", agreement_code="desk")
    store.conn.execute(EVIL)
    for operation in ("INSERT", "UPDATE"):
        store.call(
            "omd_facts.register_control",
            interface_code="shop",
            entity_code="person",
            control_code=f"leads_{operation}",
            operation=operation,
            timing="BEFORE",
            function="dwh.leads",
        )
    # It may be refused.
    for write in (
        "INSERT INTO gdal_shop.person (nbr, name) VALUES (1, 'x')",
        "UPDATE gdal_shop.person SET name = 'y' WHERE nbr = 1",
    ):
        with contextlib.suppress(psycopg.Error):
            store.conn.execute(write)
    assert told() == []

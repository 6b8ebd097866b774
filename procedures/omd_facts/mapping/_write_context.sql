-- A context keeps its id and its table.

CREATE OR REPLACE FUNCTION omd_facts._write_context(
    p_entity_id integer,
    p_context_code text,
    p_context_kind text,
    p_context_table text,
    p_valid_end text
)
RETURNS integer
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $write_context$
DECLARE
    v_context_id integer;
BEGIN
    INSERT INTO omd_facts.context AS c (
        entity_id, context_code, context_kind, context_table, valid_end
    )
    VALUES (
        p_entity_id, p_context_code, p_context_kind, omd_facts._name(p_context_table), p_valid_end
    )
    ON CONFLICT (entity_id, context_code) DO UPDATE SET
        context_kind = excluded.context_kind,
        valid_end = excluded.valid_end,
        indexes = '[]'
    RETURNING c.context_id INTO v_context_id;
    RETURN v_context_id;
END
$write_context$;

COMMENT ON FUNCTION omd_facts._write_context IS
'Writes a context of the entity p_entity_id and returns its id. Locks: its row.';

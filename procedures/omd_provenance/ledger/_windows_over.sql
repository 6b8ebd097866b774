-- Standing windows of a Module lie one behind the other, so each is looked up by its end, one at a
-- time, until one begins behind the change. Those that do not stand may lie anywhere.

CREATE OR REPLACE FUNCTION omd_provenance._windows_over(
    p_module_id integer,
    p_source_code text,
    p_id bigint,
    p_all boolean
)
RETURNS SETOF omd.ledger_window
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
SET jit = off
AS $windows_over$
DECLARE
    v_end_id bigint := p_id;
    v_instance_id bigint := -1::bigint;
    v_window omd.ledger_window;
BEGIN
    LOOP
        SELECT w.* INTO v_window
        FROM omd.ledger_window AS w
        WHERE w.module_id = p_module_id
            AND w.source_code = p_source_code
            AND (w.end_id, w.module_instance_id) > (v_end_id, v_instance_id)
        ORDER BY w.module_id, w.source_code, w.end_id, w.module_instance_id
        LIMIT 1;
        EXIT WHEN NOT FOUND;
        v_end_id := v_window.end_id;
        v_instance_id := v_window.module_instance_id;
        IF coalesce(v_window.start_id, 0) < p_id THEN
            RETURN NEXT v_window;
        ELSIF NOT p_all AND NOT v_window.is_taken_back THEN
            EXIT;
        END IF;
    END LOOP;
END
$windows_over$;

COMMENT ON FUNCTION omd_provenance._windows_over IS
'Returns the windows of the Module p_module_id over the source p_source_code that hold the '
'position p_id. p_all: all of them; else up to the first behind it that was not withdrawn. '
'Locks: none.';
GRANT EXECUTE ON FUNCTION omd_provenance._windows_over TO omd_reader;

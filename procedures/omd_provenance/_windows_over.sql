-- Standing windows of a Module lie one behind the other, so each is looked up by its end, one at a
-- time, until one begins behind the last position. Those that do not stand may lie anywhere.

CREATE OR REPLACE FUNCTION omd_provenance._windows_over(
    p_module_id integer,
    p_first_pos timestamptz,
    p_first_id bigint,
    p_last_pos timestamptz,
    p_last_id bigint,
    p_all boolean
)
RETURNS SETOF omd.source_control
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $windows_over$
DECLARE
    v_pos timestamptz := p_first_pos;
    v_id bigint := p_first_id;
    v_instance_id bigint := -1;
    v_window omd.source_control;
    v_is_behind boolean;
BEGIN
    LOOP
        SELECT sc.* INTO v_window
        FROM omd.source_control AS sc
        WHERE sc.module_id = p_module_id
            AND (
                coalesce(sc.end_value, '-infinity'),
                coalesce(sc.end_id, 9223372036854775807),
                sc.module_instance_id
            ) > (v_pos, v_id, v_instance_id)
        ORDER BY
            sc.module_id, coalesce(sc.end_value, '-infinity'),
            coalesce(sc.end_id, 9223372036854775807), sc.module_instance_id
        LIMIT 1;
        EXIT WHEN NOT FOUND;
        v_pos := coalesce(v_window.end_value, '-infinity');
        v_id := coalesce(v_window.end_id, 9223372036854775807);
        v_instance_id := v_window.module_instance_id;
        v_is_behind := (
            coalesce(v_window.start_value, '-infinity'),
            coalesce(
                v_window.start_id,
                CASE
                    WHEN v_window.start_value IS NULL THEN -9223372036854775808
                    ELSE 9223372036854775807
                END
            )
        ) >= (p_last_pos, p_last_id);
        IF NOT v_is_behind THEN
            RETURN NEXT v_window;
        ELSIF NOT p_all AND NOT v_window.is_taken_back THEN
            EXIT;
        END IF;
    END LOOP;
END
$windows_over$;

COMMENT ON FUNCTION omd_provenance._windows_over IS
'Returns the windows of the Module p_module_id that hold a position from p_first_pos, p_first_id '
'to p_last_pos, p_last_id. p_all: all of them; else up to the last that was not withdrawn. Locks: '
'none.';
REVOKE ALL ON FUNCTION omd_provenance._windows_over FROM PUBLIC;
GRANT EXECUTE ON FUNCTION omd_provenance._windows_over TO omd_reader;

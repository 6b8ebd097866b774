-- Rows of users go with the rights of the caller.

CREATE OR REPLACE FUNCTION omd_provenance._take_back(
    p_room text,
    p_instance_array bigint[],
    p_recall_instance_id bigint,
    p_recall_id bigint,
    p_reason text
)
RETURNS TABLE (
    module_instance_id bigint,
    table_code text,
    rows_gone bigint,
    rows_returned bigint
)
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $take_back$
DECLARE
    v_routine CONSTANT regproc := (
        SELECT DISTINCT h.routine FROM omd.room_hooks('TAKE_BACK') AS h WHERE h.room = p_room
    )::regproc;
BEGIN
    IF v_routine IS NULL THEN
        RETURN QUERY SELECT t.* FROM omd_provenance._take_back_own(
            p_room, p_instance_array, p_recall_instance_id, p_recall_id, p_reason
        ) AS t;
        RETURN;
    END IF;
    RETURN QUERY EXECUTE format('SELECT t.* FROM %s($1, $2, $3, $4) AS t', v_routine)
    USING p_instance_array, p_recall_instance_id, p_recall_id, p_reason;
END
$take_back$;

COMMENT ON FUNCTION omd_provenance._take_back IS
'Takes the runs p_instance_array of the room p_room back, for the recall p_recall_id and its run '
'p_recall_instance_id, with the rights of the caller. Returns the rows that went and came back, '
'per run and table. Locks: what the room takes.';
GRANT EXECUTE ON FUNCTION omd_provenance._take_back TO omd_admin;

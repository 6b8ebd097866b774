-- Nobody takes rows of tables of OMD itself back but in an act.

CREATE OR REPLACE FUNCTION omd_provenance._take_back_own(
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
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $take_back_own$
DECLARE
    v_routine text;
BEGIN
    PERFORM omd.require_taken_on(p_instance_array, p_recall_instance_id);
    FOR v_routine IN
        SELECT DISTINCT h.routine FROM omd.room_hooks('TAKE_BACK_OWN') AS h WHERE h.room = p_room
    LOOP
        RETURN QUERY EXECUTE format('SELECT t.* FROM %s($1, $2, $3, $4) AS t', v_routine)
        USING p_instance_array, p_recall_instance_id, p_recall_id, p_reason;
    END LOOP;
END
$take_back_own$;

COMMENT ON FUNCTION omd_provenance._take_back_own IS
'Takes the runs p_instance_array of the room p_room, whose rows are in tables of OMD, back, for '
'the recall p_recall_id and its run p_recall_instance_id, because of p_reason. Returns the rows '
'that went and came back, per run and table. Errors: OM101: the run of the recall has not taken '
'these on. Locks: what the room takes.';
GRANT EXECUTE ON FUNCTION omd_provenance._take_back_own TO omd_admin;

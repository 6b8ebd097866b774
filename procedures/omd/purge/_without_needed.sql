-- A room that follows the instances may not have met some of them yet.

CREATE OR REPLACE FUNCTION omd._without_needed(
    p_subject_type text,
    p_ids bigint[]
)
RETURNS bigint[]
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $without_needed$
DECLARE
    v_routine text;
    v_needed bigint[];
    v_left bigint[] := p_ids;
BEGIN
    FOR v_routine IN SELECT h.routine FROM omd.room_hooks('NEEDED_INSTANCES') AS h LOOP
        EXECUTE format('SELECT %s($1, $2)', v_routine) INTO v_needed USING p_subject_type, v_left;
        SELECT array_agg(i.id) INTO v_left
        FROM unnest(v_left) AS i (id)
        WHERE i.id <> ALL(v_needed);
    END LOOP;
    RETURN v_left;
END
$without_needed$;

COMMENT ON FUNCTION omd._without_needed IS
'Returns those of the instances p_ids that no room with the hook NEEDED_INSTANCES still needs. '
'p_subject_type: MODULE or BATCH. Locks: none.';

-- The start is that of the instance; where it is purged, nobody asks by its id any more, and the
-- view of events has the start in its rows.

CREATE OR REPLACE FUNCTION omd_event.run_id(
    p_subject_type text,
    p_instance_id bigint
)
RETURNS uuid
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $run_id$
DECLARE
    v_start timestamptz;
BEGIN
    p_subject_type := omd.require_argument('p_subject_type', p_subject_type);
    CASE p_subject_type
        WHEN 'MODULE' THEN
            SELECT mi.start_datetime INTO v_start
            FROM omd.followed_module_instance AS mi
            WHERE mi.module_instance_id = p_instance_id;
        WHEN 'BATCH' THEN
            SELECT bi.start_datetime INTO v_start
            FROM omd.followed_batch_instance AS bi
            WHERE bi.batch_instance_id = p_instance_id;
        ELSE
            PERFORM omd.raise_error(
                'OM013',
                jsonb_build_object(
                    'argument', 'p_subject_type',
                    'value', p_subject_type,
                    'expected', 'MODULE or BATCH'
                )
            );
    END CASE;
    IF v_start IS NULL THEN
        RETURN NULL;
    END IF;
    RETURN omd_event._run_uuid(omd.installation_id(), p_subject_type, p_instance_id, v_start);
END
$run_id$;

COMMENT ON FUNCTION omd_event.run_id IS
'For programs: '
'Returns the id that the run has outside OMD, a UUID of version 7 that is the same for ever; NULL '
'where there is no such instance. p_subject_type: MODULE or BATCH. p_instance_id: the Module '
'Instance or Batch Instance. Errors: OM005, OM013. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_event.run_id TO omd_reader;

-- A program that a run starts gets it, and names the run as the parent of its own.

CREATE OR REPLACE FUNCTION omd_event.parent_id(
    p_subject_type text,
    p_instance_id bigint
)
RETURNS text
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $parent_id$
DECLARE
    v_run_id CONSTANT uuid := omd_event.run_id(p_subject_type, p_instance_id);
    v_code text;
BEGIN
    IF p_subject_type = 'MODULE' THEN
        SELECT m.module_code INTO v_code
        FROM omd.followed_module_instance AS mi
        INNER JOIN omd.ledger_module AS m ON mi.module_id = m.module_id
        WHERE mi.module_instance_id = p_instance_id;
    ELSE
        SELECT b.batch_code INTO v_code
        FROM omd.followed_batch_instance AS bi
        INNER JOIN omd.ledger_batch AS b ON bi.batch_id = b.batch_id
        WHERE bi.batch_instance_id = p_instance_id;
    END IF;
    IF v_code IS NULL THEN
        RETURN NULL;
    END IF;
    RETURN concat(
        omd_event._job_namespace(), '/', omd_event._job_name(p_subject_type, v_code), '/', v_run_id
    );
END
$parent_id$;

COMMENT ON FUNCTION omd_event.parent_id IS
'For programs: '
'Returns the run as OpenLineage names a parent, <namespace>/<job>/<run id>, for programs that it '
'starts; NULL where there is no such instance. p_subject_type: MODULE or BATCH. p_instance_id: '
'the Module Instance or Batch Instance. Errors: OM005, OM013. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_event.parent_id TO omd_reader;

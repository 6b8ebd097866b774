-- A cost without an instance would be nobody's, and purging would not know when it may go.

CREATE OR REPLACE FUNCTION omd_event._require_run(
    p_subject_type text,
    p_instance_id bigint
)
RETURNS void
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $require_run$
BEGIN
    CASE p_subject_type
        WHEN 'MODULE' THEN
            IF NOT EXISTS (
                SELECT FROM omd.followed_module_instance AS mi
                WHERE mi.module_instance_id = p_instance_id
            ) THEN
                PERFORM omd.raise_error(
                    'OM004', jsonb_build_object('module_instance_id', p_instance_id)
                );
            END IF;
        WHEN 'BATCH' THEN
            IF NOT EXISTS (
                SELECT FROM omd.followed_batch_instance AS bi
                WHERE bi.batch_instance_id = p_instance_id
            ) THEN
                PERFORM omd.raise_error(
                    'OM003', jsonb_build_object('batch_instance_id', p_instance_id)
                );
            END IF;
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
END
$require_run$;

COMMENT ON FUNCTION omd_event._require_run IS
'Raises an error unless there is an instance p_instance_id of a Module or Batch (p_subject_type: '
'MODULE or BATCH). Errors: OM003, OM004, OM013. Locks: none.';

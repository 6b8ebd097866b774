-- Programs that follow DIRECT call the multiple-instance check on its own; an evaluation includes
-- it.

CREATE OR REPLACE FUNCTION omd.batch_active_instance_control(
    p_batch_instance_id bigint
)
RETURNS text
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $batch_active_instance_control$
DECLARE
    v_batch_id integer;
BEGIN
    IF p_batch_instance_id IS NULL THEN
        PERFORM omd.raise_error('OM005', jsonb_build_object('argument', 'p_batch_instance_id'));
    END IF;
    SELECT bi.batch_id INTO v_batch_id
    FROM omd.batch_instance AS bi
    WHERE bi.batch_instance_id = p_batch_instance_id;
    IF v_batch_id IS NULL THEN
        PERFORM omd.raise_error(
            'OM003', jsonb_build_object('batch_instance_id', p_batch_instance_id)
        );
    END IF;

    RETURN CASE
        WHEN
            EXISTS (SELECT FROM omd._executing_batch_instances(v_batch_id, p_batch_instance_id))
            THEN 'Abort'
        ELSE 'Process'
    END;
END
$batch_active_instance_control$;

COMMENT ON FUNCTION omd.batch_active_instance_control IS
'Returns the multiple-instance check: Abort when another executing instance of the same Batch has '
'a lower id, else Process. It changes nothing. Errors: OM003, OM005. Locks: none. DIRECT, '
'"Implementation Guidelines".';
GRANT EXECUTE ON FUNCTION omd.batch_active_instance_control TO omd_reader;

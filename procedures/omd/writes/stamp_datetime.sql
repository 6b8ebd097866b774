-- Who reads rows by the time that they bear relies on it: no row bears a time from before its run
-- was visible (omd.visible_until). The start of a statement or a transaction may be long before
-- that, and the clock of another host is another one. The clock of the server may be set back.

CREATE OR REPLACE FUNCTION omd.stamp_datetime(
    p_module_instance_id bigint
)
RETURNS timestamptz
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $stamp_datetime$
DECLARE
    v_start timestamptz;
BEGIN
    IF p_module_instance_id IS NULL THEN
        PERFORM omd.raise_error('OM005', jsonb_build_object('argument', 'p_module_instance_id'));
    END IF;
    SELECT mi.start_datetime INTO v_start
    FROM omd.module_instance AS mi
    WHERE mi.module_instance_id = p_module_instance_id;
    IF NOT FOUND THEN
        PERFORM omd.raise_error(
            'OM004', jsonb_build_object('module_instance_id', p_module_instance_id)
        );
    END IF;
    RETURN greatest(clock_timestamp(), v_start);
END
$stamp_datetime$;

COMMENT ON FUNCTION omd.stamp_datetime IS
'For the driver: '
'Returns the time that rows which the Module Instance p_module_instance_id writes from now on '
'bear in omd_insert_datetime: now, and never before its start. Ask after the begin is committed. '
'Errors: OM004, OM005. Locks: none. Call again when the answer was lost.';
GRANT EXECUTE ON FUNCTION omd.stamp_datetime TO omd_runner;

-- A room calls it after register_module, which knows SQL and JOB only. What a room performs has
-- no SQL and no function of its own; the former ones stay in the event log.

CREATE OR REPLACE FUNCTION omd.set_module_kind(
    p_module_id integer,
    p_module_kind_code text DEFAULT NULL,
    p_engine_code text DEFAULT NULL
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $set_module_kind$
BEGIN
    IF EXISTS (
        SELECT FROM omd.module AS m
        INNER JOIN omd.room_hook AS h
            ON h.hook = 'UNDO_RUNS' AND m.module_kind_code = h.for_code
        WHERE m.module_id = p_module_id
            AND m.module_kind_code IS DISTINCT FROM p_module_kind_code
    ) THEN
        PERFORM omd.raise_error(
            'OM013',
            jsonb_build_object(
                'argument', 'p_module_code',
                'value', (
                    SELECT m.module_code FROM omd.module AS m WHERE m.module_id = p_module_id
                ),
                'expected', 'a Module that no other room has registered for itself'
            )
        );
    END IF;
    IF p_module_kind_code IS NULL THEN
        UPDATE omd.module AS m SET (module_kind_code, engine_code) = (
            SELECT k.p_module_kind_code, k.p_engine_code
            FROM omd._kind_without_room(m.executable, m.job) AS k
        )
        WHERE m.module_id = p_module_id;
        RETURN;
    END IF;
    UPDATE omd.module AS m SET
        module_kind_code = p_module_kind_code,
        engine_code = p_engine_code,
        executable = NULL,
        job = NULL
    WHERE m.module_id = p_module_id
        AND (
            m.module_kind_code <> p_module_kind_code
            OR m.engine_code IS DISTINCT FROM p_engine_code
            OR num_nonnulls(m.executable, m.job) > 0
        );
END
$set_module_kind$;

COMMENT ON FUNCTION omd.set_module_kind IS
'For rooms: Makes the Module p_module_id one of the kind p_module_kind_code, whose runs '
'p_engine_code performs (POSTGRES or SPARK; NULL for PART). A kind of NULL gives it back to '
'process control, as SQL or JOB. Errors: OM013: its room alone undoes its runs. Locks: the '
'Module row.';

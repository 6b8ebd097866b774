-- What the database can't perform is refused before anything begins, unless it would be skipped.

CREATE OR REPLACE FUNCTION omd._require_database_run(
    p_module_code text,
    p_executable text,
    p_batch_instance_id bigint,
    OUT p_module_kind_code text,
    OUT p_begin_routine text
)
RETURNS record
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $require_database_run$
DECLARE
    v_module record;
    v_has_sql CONSTANT boolean := coalesce(p_executable ~ '\S', FALSE);
BEGIN
    SELECT
        m.module_id, m.engine_code, m.job, m.inactive_indicator, m.module_kind_code,
        h.routine AS begin_routine,
        m.module_kind_code IN (SELECT o.module_kind_code FROM omd.own_kind AS o) AS is_own
    INTO v_module
    FROM omd.module AS m
    LEFT JOIN omd.room_hook AS h ON h.hook = 'BEGIN_RUN' AND m.module_kind_code = h.for_code
    WHERE m.module_code = p_module_code;
    IF NOT FOUND THEN
        PERFORM omd._require_module(p_module_code);
    END IF;
    p_module_kind_code := v_module.module_kind_code;
    p_begin_routine := v_module.begin_routine;
    IF v_has_sql AND v_module.is_own THEN
        RETURN;
    ELSIF v_has_sql OR p_module_kind_code = 'PART' THEN
        PERFORM omd.raise_error(
            'OM219',
            jsonb_build_object(
                'module_code', p_module_code,
                'module_kind_code', p_module_kind_code,
                'problem', CASE
                    WHEN v_has_sql THEN 'it takes no SQL of the caller'
                    ELSE 'its runs are parts of others, and it never runs on its own'
                END,
                'next_command', CASE
                    WHEN v_module.engine_code = 'POSTGRES'
                        THEN format('CALL omd.run_module(%L);', p_module_code)
                    WHEN v_module.engine_code = 'SPARK'
                        THEN format('omd run %s', p_module_code)
                    ELSE format('omd show %s', p_module_code)
                END
            )
        );
    ELSIF v_module.engine_code = 'POSTGRES' THEN
        RETURN;
    END IF;
    p_begin_routine := NULL;
    IF v_module.inactive_indicator = 'N' AND NOT EXISTS (
        SELECT FROM omd.batch_instance AS bi
        INNER JOIN omd.batch_module AS bm USING (batch_id)
        WHERE bi.batch_instance_id = p_batch_instance_id
            AND bm.module_id = v_module.module_id
            AND bm.inactive_indicator = 'Y'
    )
    THEN
        PERFORM omd.raise_error(
            'OM214',
            jsonb_build_object(
                'subject', format('Module "%s"', p_module_code),
                'module_code', p_module_code,
                'members', jsonb_build_array(p_module_code),
                'problem', CASE
                    WHEN v_module.is_own AND v_module.job IS NULL
                        THEN 'it has neither SQL nor a job'
                    ELSE 'a worker process performs it'
                END,
                'next_command', CASE
                    WHEN v_module.is_own AND v_module.job IS NULL
                        THEN format(
                            'CALL omd.register_module(%1$L, p_job => ''module:function''); or, in '
                            'the database, CALL omd.register_module(%1$L, p_executable => '
                            '''INSERT …'');',
                            p_module_code
                        )
                    ELSE format('omd run %s', p_module_code)
                END
            )
        );
    END IF;
END
$require_database_run$;

COMMENT ON FUNCTION omd._require_database_run IS
'Returns the kind of the Module p_module_code and the routine that begins a run of it in the '
'database, with p_executable where it is given; the routine is NULL when a worker is needed and '
'the Module is inactive, or is so in the Batch of p_batch_instance_id. Errors: OM002, OM005, '
'OM214: a worker is needed, OM219: a PART, or p_executable for the Module of a room. Locks: none.';
GRANT EXECUTE ON FUNCTION omd._require_database_run TO omd_runner;

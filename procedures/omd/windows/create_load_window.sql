-- A load window starts where the newest window that counts ended, so no row is read twice or
-- missed. An open start is NULL as an instant, which every client can read, and the least bigint as
-- an id, so that a condition on ids alone is true for every row.

CREATE OR REPLACE PROCEDURE omd.create_load_window(
    p_module_instance_id bigint,
    p_end_value timestamptz DEFAULT NULL,
    p_end_id bigint DEFAULT NULL,
    INOUT p_start_value timestamptz DEFAULT NULL,
    INOUT p_start_id bigint DEFAULT NULL
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $create_load_window$
DECLARE
    v_instance omd.module_instance;
    v_window omd.source_control;
    v_kind text;
    v_expected text;
    v_problem text;
BEGIN
    SELECT mi.* INTO v_instance
    FROM omd.module_instance AS mi
    WHERE mi.module_instance_id = p_module_instance_id
    FOR NO KEY UPDATE;
    IF v_instance.execution_status_code IS DISTINCT FROM 'E'
        OR v_instance.processing_indicator <> 'P'
    THEN
        PERFORM omd._raise_module_instance_state(p_module_instance_id, 'take a load window');
    END IF;

    SELECT sc.* INTO v_window
    FROM omd.source_control AS sc
    WHERE sc.module_instance_id = p_module_instance_id;
    IF FOUND THEN
        IF (v_window.end_value, v_window.end_id) IS DISTINCT FROM (p_end_value, p_end_id) THEN
            PERFORM omd.raise_error(
                'OM105',
                jsonb_build_object(
                    'module_instance_id', p_module_instance_id,
                    'end_value', v_window.end_value,
                    'end_id', v_window.end_id
                )
            );
        END IF;
        p_start_value := nullif(v_window.start_value, '-infinity');
        p_start_id := v_window.start_id;
        RETURN;
    END IF;

    SELECT w.p_start_value, w.p_start_id INTO p_start_value, p_start_id
    FROM omd.load_window_start(v_instance.module_id) AS w;

    -- An open start fits an end of every kind; any other start tells how the Module reads its
    -- source.
    v_kind := concat_ws(
        ' and ',
        CASE WHEN p_end_value IS NOT NULL THEN 'timestamp' END,
        CASE WHEN p_end_id IS NOT NULL THEN 'id' END
    );
    v_expected := concat_ws(
        ' and ',
        CASE WHEN p_start_value IS NOT NULL THEN 'timestamp' END,
        CASE WHEN p_start_id IS NOT NULL THEN 'id' END
    );
    IF p_start_value IS NULL AND coalesce(p_start_id, -9223372036854775808) = -9223372036854775808
    THEN
        v_expected := v_kind;
        p_start_id := CASE WHEN p_end_id IS NOT NULL THEN -9223372036854775808 END;
    END IF;

    v_problem := CASE
        WHEN v_kind = '' THEN 'has no end'
        WHEN p_end_value NOT BETWEEN '0001-01-02 00:00:00+00' AND '9999-12-31 00:00:00+00'
            THEN 'ends outside the years 1 to 9999'
        WHEN v_kind = v_expected
            AND (
                p_end_value < p_start_value
                OR (p_end_id < p_start_id AND (p_end_value IS NULL OR p_end_value = p_start_value))
            )
            THEN 'ends before its start'
    END;
    IF v_problem IS NOT NULL THEN
        PERFORM omd.raise_error(
            'OM010',
            jsonb_build_object(
                'module_instance_id', p_module_instance_id,
                'problem', v_problem,
                'start', concat_ws(
                    ', ',
                    coalesce(
                        p_start_value::text,
                        CASE WHEN p_start_id IS NULL THEN 'the very beginning' END
                    ),
                    CASE
                        WHEN p_start_id = -9223372036854775808 THEN 'the very beginning'
                        ELSE 'id ' || p_start_id
                    END
                ),
                'start_value', p_start_value,
                'start_id', p_start_id,
                'end_value', p_end_value,
                'end_id', p_end_id
            )
        );
    ELSIF v_kind <> v_expected THEN
        PERFORM omd.raise_error(
            'OM019',
            jsonb_build_object(
                'module_instance_id', p_module_instance_id,
                'module_code', (
                    SELECT m.module_code FROM omd.module AS m
                    WHERE m.module_id = v_instance.module_id
                ),
                'kind', v_kind,
                'expected', v_expected
            )
        );
    END IF;

    PERFORM omd.record_load_window(
        p_module_instance_id, v_instance.module_id, p_start_value, p_start_id, p_end_value, p_end_id
    );
END
$create_load_window$;

COMMENT ON PROCEDURE omd.create_load_window IS
'For programs: '
'Records the load window (start, end] of a Module Instance and returns its start: the end of the '
'newest window of the Module whose run succeeded and was not rolled back. The first window has an '
'open start: p_start_value is NULL, and p_start_id is the least bigint when the end has an id. '
'p_end_value (timestamptz) and p_end_id (bigint): the end, by one of them or by both, as in the '
'windows before. A second call with the same end returns the same start. Errors: OM004, OM005, '
'OM010 (no end, an end before the start, or one beyond the years 1 to 9999), OM019 (another kind '
'than the windows before), OM101, OM102, OM105. Locks: the instance row. May be NULL: '
'p_start_value, p_start_id. Call again when the answer was lost.';
GRANT EXECUTE ON PROCEDURE omd.create_load_window TO omd_runner;

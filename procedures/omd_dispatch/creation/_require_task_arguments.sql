-- One task and many are refused for the same reasons.

CREATE OR REPLACE FUNCTION omd_dispatch._require_task_arguments(
    p_criteria jsonb,
    p_execution_time timestamptz,
    p_priority integer,
    p_on_duplicate text
)
RETURNS void
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $require_task_arguments$
DECLARE
    v_wrong text[];
BEGIN
    IF jsonb_typeof(p_criteria) NOT IN ('object', 'null') THEN
        v_wrong := ARRAY[
            'p_criteria', p_criteria::text, 'a JSON object such as {"CODE": "b_flights"}'
        ];
    ELSIF NOT isfinite(p_execution_time) THEN
        v_wrong := ARRAY['p_execution_time', p_execution_time::text, 'a finite time'];
    ELSIF p_priority NOT BETWEEN 0 AND 9 THEN
        v_wrong := ARRAY['p_priority', p_priority::text, 'from 0 (taken first) to 9'];
    ELSIF p_on_duplicate NOT IN ('ERROR', 'EXISTING') THEN
        v_wrong := ARRAY['p_on_duplicate', p_on_duplicate, 'ERROR or EXISTING'];
    ELSE
        RETURN;
    END IF;
    PERFORM omd.raise_error(
        'OM013',
        jsonb_build_object(
            'argument', v_wrong[1], 'value', left(v_wrong[2], 60), 'expected', v_wrong[3]
        )
    );
END
$require_task_arguments$;

COMMENT ON FUNCTION omd_dispatch._require_task_arguments IS
'Refuses arguments of a new task. Errors: OM013: one is not allowed. Locks: none.';

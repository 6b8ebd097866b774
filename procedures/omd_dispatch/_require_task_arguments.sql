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
    v_wrong record;
BEGIN
    SELECT w.argument, w.value, w.expected INTO v_wrong
    FROM (
        VALUES
        (
            'p_criteria', p_criteria::text, 'a JSON object such as {"CODE": "b_flights"}',
            coalesce(jsonb_typeof(p_criteria), 'null') IN ('object', 'null')
        ),
        (
            'p_execution_time', p_execution_time::text, 'a finite time',
            coalesce(isfinite(p_execution_time), TRUE)
        ),
        (
            'p_priority', p_priority::text, 'from 0 (taken first) to 9',
            coalesce(p_priority BETWEEN 0 AND 9, TRUE)
        ),
        (
            'p_on_duplicate', p_on_duplicate, 'ERROR or EXISTING',
            coalesce(p_on_duplicate IN ('ERROR', 'EXISTING'), TRUE)
        )
    ) AS w (argument, value, expected, is_right)
    WHERE NOT w.is_right
    LIMIT 1;
    IF FOUND THEN
        PERFORM omd.raise_error(
            'OM013',
            jsonb_build_object(
                'argument', v_wrong.argument,
                'value', left(v_wrong.value, 60),
                'expected', v_wrong.expected
            )
        );
    END IF;
END
$require_task_arguments$;

COMMENT ON FUNCTION omd_dispatch._require_task_arguments IS
'Refuses arguments of a new task. Errors: OM013: one is not allowed. Locks: none.';
REVOKE ALL ON FUNCTION omd_dispatch._require_task_arguments FROM PUBLIC;

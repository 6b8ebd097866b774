-- PostgreSQL 15 can't ask whether a text is a value of a type, so all values of a call are cast
-- together, and only when that fails, this looks for the one that failed.

CREATE OR REPLACE FUNCTION omd_dispatch._raise_invalid_criterion(
    p_family_code text,
    p_task_type text,
    p_tasks jsonb,
    p_names jsonb
)
RETURNS void
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET datestyle = 'ISO, YMD'
SET timezone = 'UTC'
AS $raise_invalid_criterion$
DECLARE
    v_given record;
BEGIN
    FOR v_given IN
        SELECT t.n, m.criterion, m.data_type, g.value
        FROM jsonb_array_elements(p_tasks) WITH ORDINALITY AS t (task, n)
        CROSS JOIN LATERAL jsonb_each_text(coalesce(nullif(t.task -> 'criteria', 'null'), '{}')) AS g
        INNER JOIN omd_dispatch.task_conf_family_model AS m
            ON m.family_code = p_family_code
                AND m.criterion = coalesce(p_names ->> g.key, g.key)
        ORDER BY t.n, m.criterion
    LOOP
        BEGIN
            EXECUTE format('SELECT %L::%s', v_given.value, v_given.data_type);
        EXCEPTION
            WHEN data_exception THEN
                PERFORM omd.raise_error(
                    'OM078',
                    jsonb_build_object(
                        'family_code', p_family_code,
                        'task_type', p_task_type,
                        'criterion', v_given.criterion,
                        'problem', sqlerrm,
                        'task', v_given.n
                    )
                );
        END;
    END LOOP;
END
$raise_invalid_criterion$;

COMMENT ON FUNCTION omd_dispatch._raise_invalid_criterion IS
'Raises the error of the first value in p_tasks that is not of the type of its criterion; p_names '
'are the external names of the type p_task_type in p_family_code. Errors: OM078. Locks: none.';

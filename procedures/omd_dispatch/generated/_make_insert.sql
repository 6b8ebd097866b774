-- A call whose text is put together at run time is planned anew each time, which takes longer than
-- what a task costs otherwise in a session that has slept. So one function names those of all
-- families: one for arrays of tasks, and one for a single task. They are statements, since of an
-- expression each transaction would prepare the calls of all families. Registrations of families
-- follow one another, so that none is left out.

CREATE OR REPLACE PROCEDURE omd_dispatch._make_insert()
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $make_insert$
DECLARE
    v_calls text;
    v_single_calls text;
    v_arguments text;
BEGIN
    SELECT
        string_agg(
            format(
                'WHEN %L THEN RETURN omd_dispatch.%I(p_task_type, p_criteria, p_payload,'
                ' p_execution_time, p_priority, p_on_duplicate);',
                f.family_code, c.name
            ),
            ' ' ORDER BY f.family_code
        ),
        string_agg(
            format(
                'WHEN %L THEN v_created := omd_dispatch.%I($1, $2, $3, $4, $5, $6, $7, $8);',
                f.family_code, r.name
            ),
            ' ' ORDER BY f.family_code
        ),
        max(pg_get_function_arguments(format('omd_dispatch.%I', r.name)::regproc))
    INTO v_single_calls, v_calls, v_arguments
    FROM omd_dispatch.task_conf_family_desc AS f
    CROSS JOIN LATERAL omd_dispatch._claim_routine(f.family_code, 'insert', TRUE) AS r (name)
    CROSS JOIN LATERAL omd_dispatch._claim_routine(f.family_code, 'create', TRUE) AS c (name);
    EXECUTE format(
        $sql$
        CREATE OR REPLACE FUNCTION omd_dispatch._create_new_task(
            p_family_code text,
            p_task_type text,
            p_criteria jsonb,
            p_payload jsonb,
            p_execution_time timestamptz,
            p_priority integer,
            p_on_duplicate text
        )
        RETURNS bigint
        LANGUAGE plpgsql
        VOLATILE
        PARALLEL UNSAFE
        SECURITY INVOKER
        SET search_path = pg_catalog, pg_temp
        AS %1$L;
        COMMENT ON FUNCTION omd_dispatch._create_new_task IS %2$L;
        REVOKE ALL ON FUNCTION omd_dispatch._create_new_task FROM PUBLIC
        $sql$,
        format('BEGIN CASE p_family_code %s ELSE RETURN NULL; END CASE; END', v_single_calls),
        'Of all families: returns the number of the task that it has created, as _create_one_sql'
        ' says; NULL also where the family is unknown.'
    );
    EXECUTE format(
        $sql$
        CREATE OR REPLACE FUNCTION omd_dispatch._insert_new_tasks(%1$s)
        RETURNS omd_dispatch.created_task[]
        LANGUAGE plpgsql
        VOLATILE
        PARALLEL UNSAFE
        SECURITY DEFINER
        SET search_path = pg_catalog, pg_temp
        AS %2$L;
        COMMENT ON FUNCTION omd_dispatch._insert_new_tasks IS %3$L;
        REVOKE ALL ON FUNCTION omd_dispatch._insert_new_tasks FROM PUBLIC
        $sql$,
        v_arguments,
        format(
            'DECLARE v_created omd_dispatch.created_task[]; BEGIN'
            ' CASE (p_type).family_code %s END CASE; RETURN v_created; END',
            v_calls
        ),
        'Of all families: returns what has become of the tasks that it has created, as _create_sql'
        ' says.'
    );
END
$make_insert$;

COMMENT ON PROCEDURE omd_dispatch._make_insert IS
'Makes the functions that create tasks, and one task, in the new model of their family, for all '
'families that have functions, or makes them again. Locks: none.';

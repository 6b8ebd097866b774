-- A call whose text is put together at run time is planned anew each time, which takes longer than
-- what a task costs otherwise in a session that has slept. So one function names those of all
-- families. Registrations of families follow one another, so that none is left out.

CREATE OR REPLACE PROCEDURE omd_dispatch._make_insert()
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $make_insert$
DECLARE
    v_calls text;
    v_arguments text;
BEGIN
    SELECT
        string_agg(
            format(
                'WHEN %L THEN v_created := omd_dispatch.%I($1, $2, $3, $4, $5, $6, $7, $8);',
                f.family_code, r.name
            ),
            ' ' ORDER BY f.family_code
        ),
        max(pg_get_function_arguments(format('omd_dispatch.%I', r.name)::regproc))
    INTO v_calls, v_arguments
    FROM omd_dispatch.task_conf_family_desc AS f
    CROSS JOIN LATERAL omd_dispatch._claim_routine(f.family_code, 'insert', TRUE) AS r (name);
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
'Makes the function that creates tasks in the new model of their family, for all families that '
'have functions, or makes it again. Locks: none.';
REVOKE ALL ON PROCEDURE omd_dispatch._make_insert FROM PUBLIC;

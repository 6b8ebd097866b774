-- Whatever the code of a source does is an error of this source: a failed ASSERT and a cancelled
-- statement too, which OTHERS leaves out. What it has set for the session goes with the block.

CREATE OR REPLACE FUNCTION omd_dispatch._fire_source(
    p_source omd_dispatch.task_source,
    OUT p_created bigint,
    OUT p_is_cancelled boolean
)
RETURNS record
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
SET timezone = 'UTC'
SET lock_timeout = '100ms'
AS $fire_source$
DECLARE
    c_most CONSTANT integer := 10000;
    c_at_once CONSTANT integer := 1000;
    v_tasks jsonb;
    v_first integer;
    v_answer record;
    v_problem text;
BEGIN
    p_created := 0;
    p_is_cancelled := FALSE;
    BEGIN
        v_tasks := omd_dispatch._read_source(p_source.source, '{}', c_most);
        FOR v_first IN
            SELECT s.first
            FROM generate_series(0, jsonb_array_length(v_tasks) - 1, c_at_once) AS s (first)
        LOOP
            v_answer := omd_dispatch._insert_tasks(
                p_source.family_code,
                p_source.task_type,
                (
                    SELECT jsonb_agg(t.task ORDER BY t.n)
                    FROM jsonb_array_elements(v_tasks) WITH ORDINALITY AS t (task, n)
                    WHERE t.n > v_first AND t.n <= v_first + c_at_once
                ),
                'EXISTING'
            );
            p_created := p_created + v_answer.p_created;
        END LOOP;
    EXCEPTION
        WHEN query_canceled OR assert_failure OR OTHERS THEN
            v_problem := format('%s: %s', sqlstate, left(sqlerrm, 2000));
            p_created := 0;
            p_is_cancelled := sqlstate = '57014';
    END;
    PERFORM omd_dispatch._end_source(
        p_source.family_code, p_source.task_type, p_created, v_problem
    );
END
$fire_source$;

COMMENT ON FUNCTION omd_dispatch._fire_source IS
'Creates the tasks of p_source, which the caller has locked, and returns how many, and whether its '
'view was cancelled. An error is kept in its problem. Locks: the keys of the tasks.';
GRANT EXECUTE ON FUNCTION omd_dispatch._fire_source TO omd_runner, omd_admin;

-- A claim whose instance another session holds is left to the next round: nobody can say yet how
-- it will end.

CREATE OR REPLACE FUNCTION omd_dispatch._give_up_runs(
    p_results jsonb
)
RETURNS jsonb
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $give_up_runs$
DECLARE
    v_run record;
    v_given_up jsonb := '{}'::jsonb; -- by task: whether nothing of it executes any more
BEGIN
    FOR v_run IN
        SELECT
            r.task_id,
            r.claim_token,
            r.error
        FROM jsonb_to_recordset(p_results) AS r (task_id bigint, claim_token bigint, error text)
        CROSS JOIN LATERAL omd.instance_of_task(r.task_id, r.claim_token) AS i
        WHERE i.execution_status_code = 'E'
        ORDER BY r.task_id
    LOOP
        v_given_up := v_given_up || jsonb_build_object(
            v_run.task_id, omd.give_up_runs_of_task(v_run.task_id, v_run.claim_token, v_run.error)
        );
    END LOOP;
    IF v_given_up = '{}' THEN
        RETURN p_results;
    END IF;
    RETURN (
        SELECT
            jsonb_agg(
                r.result
                || jsonb_build_object('is_given_up', v_given_up ? (r.result ->> 'task_id'))
            )
        FROM jsonb_array_elements(p_results) AS r (result)
        WHERE coalesce((v_given_up ->> (r.result ->> 'task_id'))::boolean, TRUE)
    );
END
$give_up_runs$;

COMMENT ON FUNCTION omd_dispatch._give_up_runs IS
'Declares the instances dead that claims of dead workers have begun and that still execute. '
'p_results are these claims, as _end_claims takes them; returned are those that can be settled, '
'with is_given_up, whether a run was declared dead; NULL: none. Locks: the instances and the state '
'of their Modules; what is locked is passed over.';

-- A result that comes too late is reported to the worker and changes nothing: another one has the
-- task, or it was ended meanwhile.

CREATE OR REPLACE PROCEDURE omd_dispatch.complete_tasks(
    p_backend_id text,
    p_results jsonb,
    INOUT p_refused bigint[] DEFAULT NULL
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $complete_tasks$
DECLARE
    v_family_code text;
    v_held text[] := '{}'::text[];
    v_ended bigint[] := '{}'::bigint[];
BEGIN
    -- The test here saves most calls another one.
    IF current_setting('transaction_isolation') <> 'read committed' THEN
        PERFORM omd.require_read_committed();
    END IF;
    IF p_backend_id IS NULL OR p_results IS NULL THEN
        PERFORM omd.raise_error(
            'OM005',
            jsonb_build_object(
                'argument', CASE WHEN p_backend_id IS NULL THEN 'p_backend_id' ELSE 'p_results' END
            )
        );
    ELSIF jsonb_typeof(p_results) <> 'array' OR EXISTS (
        SELECT FROM jsonb_array_elements(p_results) AS r (result)
        WHERE jsonb_typeof(r.result) <> 'object'
            OR jsonb_typeof(r.result -> 'task_id') IS DISTINCT FROM 'number'
            OR jsonb_typeof(r.result -> 'claim_token') IS DISTINCT FROM 'number'
            OR r.result ->> 'task_id' !~ '^-?[0-9]{1,18}$'
            OR r.result ->> 'claim_token' !~ '^-?[0-9]{1,18}$'
            OR NOT coalesce(r.result ->> 'outcome' IN ('S', 'F', 'A', 'C'), TRUE)
    ) THEN
        PERFORM omd.raise_error(
            'OM013',
            jsonb_build_object(
                'argument', 'p_results',
                'value', left(p_results::text, 60),
                'expected',
                'an array of objects with task_id, claim_token, outcome (S, F, A, C or null), '
                'error, error_code and error_class'
            )
        );
    END IF;
    -- First the family that the worker names, and those of its group: most often they are all.
    FOR v_family_code IN
        SELECT t.family_code FROM omd_dispatch.task_conf_type_desc AS t
        GROUP BY t.family_code
        ORDER BY
            t.family_code = p_results -> 0 ->> 'family_code' DESC NULLS LAST,
            bool_or(
                t.deliver_id = (
                    SELECT b.backend_type FROM omd_dispatch.backend_registration AS b
                    WHERE b.backend_id = p_backend_id
                )
            ) DESC NULLS LAST,
            t.family_code
    LOOP
        EXIT WHEN cardinality(v_ended) = jsonb_array_length(p_results);
        IF omd_dispatch._try_hold_model(v_family_code) THEN
            v_ended := v_ended || omd_dispatch._end_claims(v_family_code, p_backend_id, p_results);
        ELSE
            v_held := v_held || v_family_code;
        END IF;
    END LOOP;
    -- A family that is being changed is waited for when something is left that may be its.
    FOREACH v_family_code IN ARRAY v_held LOOP
        EXIT WHEN cardinality(v_ended) = jsonb_array_length(p_results);
        v_ended := v_ended || omd_dispatch._end_claims(v_family_code, p_backend_id, p_results);
    END LOOP;
    p_refused := '{}';
    IF cardinality(v_ended) = jsonb_array_length(p_results) THEN
        RETURN;
    END IF;
    -- Of several results for a task one counts at most.
    p_refused := ARRAY(
        SELECT (r.result ->> 'task_id')::bigint AS task_id
        FROM jsonb_array_elements(p_results) AS r (result)
        GROUP BY task_id
        HAVING count(*) > 1 OR (r.result ->> 'task_id')::bigint <> ALL(v_ended)
        ORDER BY task_id
    );
END
$complete_tasks$;

COMMENT ON PROCEDURE omd_dispatch.complete_tasks IS
'For programs: '
'Ends tasks that the worker p_backend_id has claimed. p_results: an array of {"task_id", '
'"claim_token", "outcome", "error", "error_code", "error_class", "family_code"}; outcome: S '
'succeeded, F failed, A later, C skipped, null: that of the instance which the task has begun; '
'error_code: an SQLSTATE; error_class: the first word of error, where everybody may see it; '
'family_code may stand in the first one: that family is looked at first. Returns p_refused, the '
'tasks that the worker does not hold under that token: nothing was changed for them. Errors: '
'OM005: an argument is NULL; OM013: p_results; OM014: the isolation level is not read committed. '
'Locks: the tasks and their keys.';
GRANT EXECUTE ON PROCEDURE omd_dispatch.complete_tasks TO omd_runner;

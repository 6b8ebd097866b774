-- What a worker does most, in one call: the server works for it while its tasks run. The version is
-- read after the claim, so that whoever knows the types of this version knows those of the tasks.

CREATE OR REPLACE FUNCTION omd_dispatch._complete_and_claim(
    p_backend_id text,
    p_results jsonb,
    p_limit integer,
    p_anew boolean
)
RETURNS TABLE (
    task_id bigint,
    family_code text,
    task_type text,
    criteria jsonb,
    payload jsonb,
    execution_time timestamptz,
    priority integer,
    attempt integer,
    claim_token bigint,
    types_version bigint
)
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $complete_and_claim$
DECLARE
    v_refused bigint[];
BEGIN
    IF p_results <> '[]' THEN
        CALL omd_dispatch.complete_tasks(p_backend_id, p_results, v_refused);
        FOREACH task_id IN ARRAY v_refused LOOP
            RETURN NEXT;
        END LOOP;
    END IF;
    IF p_limit > 0 THEN
        IF p_anew THEN
            PERFORM set_config('omd_dispatch.claims', '', FALSE);
        END IF;
        RETURN QUERY
        SELECT
            c.task_id, c.family_code, c.task_type, c.criteria, c.payload, c.execution_time,
            c.priority, c.attempt, c.claim_token, NULL::bigint AS types_version
        FROM omd_dispatch.claim_tasks(p_backend_id, p_limit) AS c;
        IF FOUND THEN
            task_id := NULL;
            SELECT v.version INTO types_version
            FROM omd_dispatch.cache_version AS v
            WHERE v.part = 'task_conf_type_desc';
            RETURN NEXT;
        END IF;
    END IF;
END
$complete_and_claim$;

COMMENT ON FUNCTION omd_dispatch._complete_and_claim IS
'Does complete_tasks with p_results, then claim_tasks with p_limit where that is not 0, for the '
'worker p_backend_id. It returns each refused task as a row with its task_id alone, then the '
'claimed tasks in starting order, and after them a row with types_version alone, the version of '
'task_conf_type_desc. p_anew: the claim begins at the start of each lane. Errors and locks: those '
'of both.';
REVOKE ALL ON FUNCTION omd_dispatch._complete_and_claim FROM PUBLIC;
GRANT EXECUTE ON FUNCTION omd_dispatch._complete_and_claim TO omd_runner;

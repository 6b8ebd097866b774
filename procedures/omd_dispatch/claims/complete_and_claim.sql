-- What a worker does most, in one call: the server works for it while its tasks run. What is done
-- ends where the worker has claimed it; a task that is not found there (its family may have another
-- model meanwhile) is a result like any other. The version is read after the claim, so that whoever
-- knows the types of this version knows those of the tasks. p_done has a default, and p_lanes is
-- there, for workers that were started before an upgrade.

CREATE OR REPLACE FUNCTION omd_dispatch.complete_and_claim(
    p_backend_id text,
    p_results jsonb,
    p_limit integer,
    p_anew boolean,
    p_done jsonb DEFAULT '[]',
    p_lanes jsonb DEFAULT NULL
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
    partition_code integer,
    types_version bigint
)
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $complete_and_claim$
DECLARE
    v_done record;
    v_ended bigint[];
    v_refused bigint[];
BEGIN
    IF p_done <> '[]' THEN
        PERFORM omd.require_read_committed();
        FOR v_done IN
            SELECT d.family_code, d.partition_code, d.claim_token, d.task_ids
            FROM jsonb_to_recordset(p_done) AS d (
                family_code text, partition_code integer, claim_token bigint, task_ids bigint[]
            )
        LOOP
            v_ended := omd_dispatch._end_done(
                v_done.family_code, v_done.partition_code, p_backend_id, v_done.claim_token,
                v_done.task_ids
            );
            IF cardinality(v_ended) < cardinality(v_done.task_ids) THEN
                p_results := p_results || coalesce(
                    (
                        SELECT
                            jsonb_agg(
                                jsonb_build_object(
                                    'task_id', d.task_id, 'claim_token', v_done.claim_token,
                                    'outcome', 'S'
                                )
                            )
                        FROM unnest(v_done.task_ids) AS d (task_id)
                        WHERE d.task_id <> ALL(v_ended)
                    ),
                    '[]'
                );
            END IF;
        END LOOP;
    END IF;
    IF p_results <> '[]' THEN
        CALL omd_dispatch.complete_tasks(p_backend_id, p_results, v_refused);
        FOREACH task_id IN ARRAY v_refused LOOP
            RETURN NEXT;
        END LOOP;
    END IF;
    IF p_limit > 0 THEN
        IF p_anew OR p_lanes IS NOT NULL THEN
            PERFORM set_config('omd_dispatch.claims', '', FALSE);
        END IF;
        RETURN QUERY
        SELECT c.*, NULL::bigint AS types_version
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

COMMENT ON FUNCTION omd_dispatch.complete_and_claim IS
'For the driver: '
'Ends p_done, does complete_tasks with p_results, then claim_tasks with p_limit where that is not '
'0, for the worker p_backend_id. p_done: tasks that have succeeded and have begun no run, an array'
' of {"family_code", "partition_code", "claim_token", "task_ids"}, as they were claimed. It '
'returns each refused task as a row with its task_id alone, then the claimed tasks in starting '
'order, and after them a row with types_version alone, the version of task_conf_type_desc. p_anew:'
' the claim begins at the start of each lane. p_lanes: the same. Errors: OM005, OM013, OM014, '
'OM172: those of both. Locks: those of both.';
GRANT EXECUTE ON FUNCTION omd_dispatch.complete_and_claim TO omd_runner;

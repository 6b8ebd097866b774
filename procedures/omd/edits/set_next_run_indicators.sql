-- It does to many instances what set_next_run_indicator does to one. An instance that has the
-- indicator already is not taken, so that the same call goes on where one has ended.

CREATE OR REPLACE PROCEDURE omd.set_next_run_indicators(
    p_filter jsonb,
    p_counted_at timestamptz,
    p_next_run_indicator text,
    p_limit integer DEFAULT 10000,
    p_after_instance_id bigint DEFAULT NULL,
    INOUT p_changed bigint DEFAULT NULL,
    INOUT p_passed bigint DEFAULT NULL,
    INOUT p_last_instance_id bigint DEFAULT NULL,
    INOUT p_more boolean DEFAULT NULL
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $set_next_run_indicators$
DECLARE
    v_indicator text := omd.require_code('next run indicator', p_next_run_indicator);
    v_ids bigint[];
    v_held bigint;
BEGIN
    PERFORM omd.require_read_committed(), omd.require_chunk(p_counted_at, p_limit);
    v_indicator := omd.require_argument('p_next_run_indicator', v_indicator);
    v_ids := ARRAY(
        SELECT i FROM omd._instances_matching(
            p_filter, p_counted_at, p_limit, p_after_instance_id, v_indicator
        ) AS i
    );
    -- The condition on the status is asked again of what is locked.
    IF p_filter ->> 'instance_type' = 'MODULE' THEN
        WITH held AS MATERIALIZED (
            SELECT mi.module_instance_id
            FROM omd.module_instance AS mi
            WHERE mi.module_instance_id = ANY(v_ids)
                AND coalesce(mi.end_datetime, mi.start_datetime) < p_counted_at
            ORDER BY mi.module_instance_id
            FOR NO KEY UPDATE SKIP LOCKED
        ),

        changed AS (
            UPDATE omd.module_instance AS mi
            SET next_run_indicator = v_indicator, next_run_batch_id = NULL
            FROM held AS h
            WHERE mi.module_instance_id = h.module_instance_id
                AND omd._indicator_problem(
                    v_indicator, mi.execution_status_code, mi.reason_code, TRUE,
                    mi.rolled_back_by_module_instance_id
                ) IS NULL
            RETURNING omd._tell_instance('Module Instance', mi.module_instance_id, clock_timestamp())
        )

        SELECT (SELECT count(*) FROM held), (SELECT count(*) FROM changed)
        INTO v_held, p_changed;
    ELSE
        WITH held AS MATERIALIZED (
            SELECT bi.batch_instance_id
            FROM omd.batch_instance AS bi
            WHERE bi.batch_instance_id = ANY(v_ids)
                AND coalesce(bi.end_datetime, bi.start_datetime) < p_counted_at
            ORDER BY bi.batch_instance_id
            FOR NO KEY UPDATE SKIP LOCKED
        ),

        changed AS (
            UPDATE omd.batch_instance AS bi
            SET next_run_indicator = v_indicator
            FROM held AS h
            WHERE bi.batch_instance_id = h.batch_instance_id
                AND omd._indicator_problem(
                    v_indicator, bi.execution_status_code, bi.reason_code, FALSE, NULL
                ) IS NULL
            RETURNING omd._tell_instance('Batch Instance', bi.batch_instance_id, clock_timestamp())
        )

        SELECT (SELECT count(*) FROM held), (SELECT count(*) FROM changed)
        INTO v_held, p_changed;
    END IF;
    p_passed := v_held - p_changed;
    p_last_instance_id := coalesce(v_ids[cardinality(v_ids)], p_after_instance_id);
    p_more := cardinality(v_ids) = p_limit;
    PERFORM omd._note_bulk('-> ' || v_indicator, p_filter, p_changed, p_passed);
END
$set_next_run_indicators$;

COMMENT ON PROCEDURE omd.set_next_run_indicators IS
'Sets next_run_indicator of up to p_limit (1 to 1000000) instances to p_next_run_indicator (P, R '
'or C), as set_next_run_indicator does: of those that p_filter describes and p_counted_at lets '
'pass, as count_instances says, in the order of their ids, but not of those that have it already. '
'p_after_instance_id: only those after this one. What others hold it skips. Returns p_changed, how '
'many it has changed; p_passed, how many it has left as they are: R where there is nothing to roll '
'back, P where a rollback is due; p_last_instance_id, the last instance that it has looked at; '
'p_more: there may be more. The same call goes on with the rest, from p_last_instance_id on '
'without what was passed over. One event tells of the call. Errors: OM005: an argument is NULL; '
'OM006: the indicator is unknown; OM013: an argument is not allowed; OM014: the isolation level is '
'not read committed; OM099: p_filter, as count_instances says. Locks: the instance rows. May be '
'NULL: p_last_instance_id.';
GRANT EXECUTE ON PROCEDURE omd.set_next_run_indicators TO omd_admin;

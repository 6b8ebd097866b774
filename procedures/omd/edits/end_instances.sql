-- It does to many instances what end_batch_instance and end_module_instance do to one. They
-- execute, so they are few, and each has a failure event of its own. What others hold, or what runs
-- in it, is not waited for.

CREATE OR REPLACE PROCEDURE omd.end_instances(
    p_filter jsonb,
    p_counted_at timestamptz,
    p_limit integer DEFAULT 10000,
    p_after_instance_id bigint DEFAULT NULL,
    p_event_detail text DEFAULT NULL,
    INOUT p_changed bigint DEFAULT NULL,
    INOUT p_passed bigint DEFAULT NULL,
    INOUT p_last_instance_id bigint DEFAULT NULL,
    INOUT p_more boolean DEFAULT NULL
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET lock_timeout = '100ms'
AS $end_instances$
DECLARE
    v_event_detail text := concat_ws(': ', 'ended by ' || omd.editor(), nullif(p_event_detail, ''));
    v_is_module boolean := p_filter ->> 'instance_type' = 'MODULE';
    v_ids bigint[];
    v_id bigint;
    v_state record;
BEGIN
    PERFORM omd.require_read_committed(), omd.require_chunk(p_counted_at, p_limit);
    v_ids := ARRAY(
        SELECT i FROM omd._instances_matching(
            p_filter, p_counted_at, p_limit, p_after_instance_id
        ) AS i
    );
    p_changed := 0::bigint;
    p_passed := 0::bigint;
    FOREACH v_id IN ARRAY v_ids LOOP
        BEGIN
            IF v_is_module THEN
                SELECT mi.execution_status_code AS status, mi.end_datetime INTO v_state
                FROM omd.module_instance AS mi
                WHERE mi.module_instance_id = v_id
                FOR NO KEY UPDATE;
            ELSE
                PERFORM omd._lock_members(v_id);
                SELECT bi.execution_status_code AS status, bi.end_datetime INTO v_state
                FROM omd.batch_instance AS bi
                WHERE bi.batch_instance_id = v_id
                FOR NO KEY UPDATE;
            END IF;
            -- One that has ended since the count is not of those that were counted.
            CONTINUE WHEN v_state.end_datetime >= p_counted_at;
            IF v_state.status <> 'E' THEN
                p_passed := p_passed + 1;
            ELSIF v_is_module THEN
                PERFORM omd.fail_module_instance(v_id, v_event_detail, 'ENDED');
                p_changed := p_changed + 1;
            ELSE
                PERFORM omd._fail_batch_instance(v_id, v_event_detail, 'ENDED');
                p_changed := p_changed + 1;
            END IF;
        EXCEPTION
            WHEN lock_not_available THEN
                NULL;
        END;
    END LOOP;
    p_last_instance_id := coalesce(v_ids[cardinality(v_ids)], p_after_instance_id);
    p_more := cardinality(v_ids) = p_limit;
    PERFORM omd._note_bulk('E -> F', p_filter, p_changed, p_passed, nullif(p_event_detail, ''));
END
$end_instances$;

COMMENT ON PROCEDURE omd.end_instances IS
'Ends up to p_limit (1 to 1000000) instances that execute with status F, as end_batch_instance and '
'end_module_instance do: those that p_filter describes and p_counted_at lets pass, as '
'count_instances says, in the order of their ids. p_after_instance_id: only those after this one. '
'p_event_detail: why they are ended. What others hold it skips. Returns p_changed, how many it has '
'ended; p_passed, how many it has left as they are: they had ended; p_last_instance_id, the last '
'instance that it has looked at; p_more: there may be more. The same filter goes on with the rest, '
'from p_last_instance_id on without what was passed over. One event tells of the call, and each '
'instance has its failure event. Errors: OM005: an argument is NULL; OM013: an argument is not '
'allowed; OM014: the isolation level is not read committed; OM099: p_filter, as count_instances '
'says. Locks: each instance row, of a Batch Instance first those of its members; it waits for each '
'100 ms at most. May be NULL: p_last_instance_id.';
GRANT EXECUTE ON PROCEDURE omd.end_instances TO omd_admin;

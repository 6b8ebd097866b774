-- The offset moves in the transaction of the success, so rows, offset and success become visible
-- together or not at all.

CREATE OR REPLACE FUNCTION omd_lineage._advance_offset(
    p_module_instance_id bigint,
    p_plan_number bigint,
    p_rows bigint,
    p_nulls jsonb,
    p_query_id text DEFAULT format(
        'pid %s, transaction %s', pg_backend_pid(), pg_current_xact_id()::xid
    )
)
RETURNS bigint
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $advance_offset$
DECLARE
    v_offset omd_lineage.offsets;
BEGIN
    SELECT o.* INTO v_offset FROM omd_lineage.offsets AS o
    WHERE o.topic_id = (
        SELECT t.topic_id
        FROM omd.instance_state(p_module_instance_id) AS i
        INNER JOIN omd_lineage.topic AS t USING (module_id)
    )
    FOR NO KEY UPDATE;
    IF NOT FOUND
        OR v_offset.module_instance_id IS DISTINCT FROM p_module_instance_id
        OR v_offset.plan_number IS DISTINCT FROM p_plan_number
        OR v_offset.hostid = ''
        OR v_offset.next IS NULL
    THEN
        PERFORM omd_lineage._raise_fenced(p_module_instance_id, p_plan_number);
    END IF;

    UPDATE omd_lineage.offsets AS o SET
        last = o.next,
        next = NULL,
        quiet_start = NULL,
        waited_for = NULL,
        attempts = 0,
        hostid = '',
        module_instance_id = NULL,
        state = 'DONE',
        run = clock_timestamp(),
        waiting_since = clock_timestamp()
    WHERE o.topic_id = v_offset.topic_id;
    INSERT INTO omd_lineage.log (
        module_instance_id, topic_id, topic, ts, rows, max_id, min_ts, max_ts, nulls, waited_for,
        query_id
    )
    VALUES (
        p_module_instance_id, v_offset.topic_id, v_offset.topic, clock_timestamp(),
        coalesce(p_rows, 0), v_offset.block_max_id, v_offset.block_min_ts,
        CASE WHEN v_offset.block_min_ts IS NOT NULL THEN (v_offset.next).pos END,
        coalesce(p_nulls, '{}'), v_offset.waited_for, p_query_id
    );
    IF v_offset.waited_for IS NOT NULL THEN
        PERFORM omd.write_event(
            p_module_instance_id, 0, 6, 'MAX_WAIT',
            format('did not wait longer for %s', v_offset.waited_for)
        );
    END IF;
    PERFORM omd_lineage._notify_topic(v_offset.topic);
    RETURN v_offset.rows;
END
$advance_offset$;

COMMENT ON FUNCTION omd_lineage._advance_offset IS
'Moves the offset of a topic to the end of its block, for the step p_module_instance_id with the '
'fence p_plan_number, and logs p_rows rows, p_nulls (column: number of NULLs) and p_query_id (by '
'default the backend and the transaction of the caller). Returns the number of rows of the base '
'table in the block. Errors: OM004: there is no such instance; OM108: the step does not hold its '
'topic any more. Locks: the offset, until the transaction ends.';
REVOKE ALL ON FUNCTION omd_lineage._advance_offset FROM PUBLIC;
GRANT EXECUTE ON FUNCTION omd_lineage._advance_offset TO omd_runner;

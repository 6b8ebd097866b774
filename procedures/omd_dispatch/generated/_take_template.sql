-- A worker that has heard of a new task while it had nothing to do calls this itself: whatever the
-- server does then is done while the task waits.

CREATE OR REPLACE FUNCTION omd_dispatch._take_template()
RETURNS text
LANGUAGE plpgsql
IMMUTABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $take_template$
BEGIN
    RETURN $template$
CREATE OR REPLACE FUNCTION {function}(
    p_backend_id text,
    p_partition_code integer,
    p_task_id bigint
)
RETURNS TABLE (
    task_id bigint,
    family_code text,
    task_type text,
    criteria jsonb,
    payload jsonb,
    execution_time timestamptz,
    attempt integer,
    claim_token bigint,
    partition_code integer,
    types_version bigint
)
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
{settings}
AS $take$
#variable_conflict use_column
BEGIN
    IF EXISTS (SELECT FROM omd.unready_for_id()) THEN
        PERFORM omd.get_ready_for_id();
    END IF;
    PERFORM omd.require_read_committed();
    -- As _hold_model does.
    LOCK TABLE omd_dispatch.{lock} IN ROW SHARE MODE;
    RETURN QUERY
    UPDATE {table} AS t SET
        status = 'CLAIMED',
        attempt = 1,
        claimed_by = p_backend_id,
        claimed_at = clock_timestamp(),
        claim_token = nextval('omd_dispatch.claim_token')
    WHERE t.partition_code = p_partition_code AND t.task_id = (
        SELECT n.task_id FROM {table} AS n
        WHERE n.partition_code = p_partition_code
            AND n.task_id = p_task_id
            AND n.status = 'PENDING'
            -- Not so that the index of claims would be taken.
            AND coalesce(n.suspension_id, 0) = 0
            AND n.attempt = 0
            AND n.batch_instance_id IS NULL
            AND n.module_instance_id IS NULL
            AND n.execution_time <= clock_timestamp()
            -- The backend does not die before the claim commits. Who finds
            -- nothing does not lock it: the conditions above come first.
            AND n.lane = (
                SELECT b.backend_type COLLATE "C"
                FROM omd_dispatch.backend_registration AS b
                WHERE b.backend_id = p_backend_id
                    AND omd_dispatch._lives(
                        b.registration_time, b.ttl, clock_timestamp()
                    )
                FOR SHARE
            )
            AND EXISTS (
                SELECT FROM omd_dispatch.task_migration_status AS m
                WHERE m.family_code = {family} AND m.migration_status >= 3
            )
            AND NOT EXISTS (
                SELECT FROM omd_dispatch.task_suspension AS s
                WHERE s.family_code = {family} AND s.resumed_at IS NULL
            )
        FOR UPDATE SKIP LOCKED
    )
    RETURNING
        t.task_id, {family}, t.task_type, {criteria}, t.payload, t.execution_time,
        t.attempt, t.claim_token, t.partition_code,
        (
            SELECT v.version FROM omd_dispatch.cache_version AS v
            WHERE v.part = 'task_conf_type_desc'
        );
END
$take$;

COMMENT ON FUNCTION {function} IS
'Of the family {code}: returns the new task p_task_id, which the worker p_backend_id has '
'claimed if it is due in the lane of its group and nothing has become of it, with the version '
'of task_conf_type_desc.';
$template$;
END
$take_template$;

COMMENT ON FUNCTION omd_dispatch._take_template IS
'Returns the template of the function of a family that claims one new task. '
'Locks: none.';

-- A message has room for one line, so only the first line of the event is returned.

CREATE OR REPLACE FUNCTION omd.why_failed(
    p_module_instance_id bigint,
    p_batch_instance_id bigint
)
RETURNS text
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        coalesce(
            (
                SELECT left(split_part(e.event_detail, chr(10), 1), 200)
                FROM omd.event_log AS e
                WHERE
                    e.module_instance_id = p_module_instance_id
                    AND e.module_instance_id <> 0
                    AND e.event_type_code = 2
                ORDER BY e.event_id
                LIMIT 1
            ),
            (
                SELECT left(split_part(e.event_detail, chr(10), 1), 200)
                FROM omd.event_log AS e
                WHERE
                    p_module_instance_id = 0
                    AND e.batch_instance_id = p_batch_instance_id
                    AND e.batch_instance_id <> 0
                    AND e.module_instance_id = 0
                    AND e.event_type_code = 2
                ORDER BY e.event_id
                LIMIT 1
            )
        );
END;

COMMENT ON FUNCTION omd.why_failed IS
'For rooms: Returns the first line of the failure event of the Module Instance '
'p_module_instance_id, or, when that is 0, of the Batch Instance p_batch_instance_id; NULL when '
'there is none. Locks: none.';
GRANT EXECUTE ON FUNCTION omd.why_failed TO omd_runner;

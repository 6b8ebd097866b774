-- Process control calls it by its name in omd.room_hook.

CREATE OR REPLACE FUNCTION omd_event._needed_instances(
    p_subject_type text,
    p_ids bigint[]
)
RETURNS bigint[]
LANGUAGE sql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT coalesce(array_agg(i.id), '{}')
    FROM unnest(p_ids) AS i (id)
    CROSS JOIN omd_event.setting AS s
    WHERE i.id > CASE p_subject_type
        WHEN 'BATCH' THEN s.batch_instance_id ELSE s.module_instance_id
    END
    OR EXISTS (
        SELECT FROM omd_event.open_run AS o
        WHERE o.subject_type = p_subject_type AND o.instance_id = i.id
    )
    OR EXISTS (
        SELECT FROM omd_event.gap AS g
        WHERE g.subject_type = p_subject_type AND i.id BETWEEN g.first_id AND g.last_id
    );
END;

COMMENT ON FUNCTION omd_event._needed_instances IS
'Returns those of the instances p_ids whose events are not all published. p_subject_type: MODULE '
'or BATCH. Locks: none.';

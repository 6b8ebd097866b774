-- What the claim of a step does with an administrator's R, reported beforehand.

CREATE OR REPLACE FUNCTION omd_lineage._undo_preview(
    p_topic_id integer,
    OUT p_start_pos timestamptz,
    OUT p_start_id bigint,
    OUT p_detail text
)
RETURNS record
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $undo_preview$
DECLARE
    v_instances text;
    v_readers text;
BEGIN
    SELECT string_agg(p.id::text, ', ' ORDER BY p.id) INTO v_instances
    FROM omd_lineage.topic AS t
    CROSS JOIN LATERAL unnest(omd.pending_rollback(t.module_id)) AS p (id)
    WHERE t.topic_id = p_topic_id;
    SELECT i.start_value, i.start_id INTO p_start_pos, p_start_id
    FROM omd_lineage.topic AS t
    CROSS JOIN LATERAL unnest(omd.pending_rollback(t.module_id)) AS p (id)
    CROSS JOIN LATERAL omd.instance_state(p.id) AS i
    WHERE t.topic_id = p_topic_id
        AND i.execution_status_code = 'S'
        AND i.start_value IS NOT NULL
    ORDER BY i.start_value, i.start_id
    LIMIT 1;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    SELECT string_agg(r.topic, ', ' ORDER BY r.distance, r.topic) INTO v_readers
    FROM omd_lineage.offsets AS o
    CROSS JOIN LATERAL omd_lineage._readers(
        p_topic_id, ROW(p_start_pos, p_start_id)::omd_lineage.row_position, o.last
    ) AS r
    WHERE o.topic_id = p_topic_id;
    p_detail := 'undone first: ' || v_instances || coalesce('; read by ' || v_readers, '');
END
$undo_preview$;

COMMENT ON FUNCTION omd_lineage._undo_preview IS
'Returns what the next step of the topic p_topic_id undoes because an administrator has set R: '
'(p_start_pos, p_start_id), to where the offset goes back, and p_detail, the Module Instances and '
'the topics that have read their rows; NULLs when nothing succeeded is to be undone. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_lineage._undo_preview TO omd_runner, omd_admin;

-- A step that begins holds the lock on the offset until its claim is committed, so what is seen
-- behind this lock stays.

CREATE OR REPLACE FUNCTION omd_lineage._require_removable(
    p_topic text,
    OUT p_topic_id integer,
    OUT p_module_code text,
    OUT p_table_code text,
    OUT p_instance_array bigint[]
)
RETURNS record
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $require_removable$
DECLARE
    v_module_id integer;
    v_hostid text;
    v_executing_id bigint;
    v_reader text;
    v_problem text;
BEGIN
    LOCK TABLE omd_lineage.dependency IN SHARE ROW EXCLUSIVE MODE;
    p_topic_id := omd_lineage._require_topic(p_topic);
    PERFORM FROM omd_lineage.offsets AS o WHERE o.topic_id = p_topic_id FOR UPDATE;

    SELECT
        t.table_code, m.module_id, m.module_code,
        CASE WHEN omd_lineage._holder_lives(o.hostid, o.module_instance_id) THEN o.hostid END
    INTO p_table_code, v_module_id, p_module_code, v_hostid
    FROM omd_lineage.topic AS t
    INNER JOIN omd_lineage.offsets AS o USING (topic_id)
    LEFT JOIN omd.module_target AS m USING (module_id)
    WHERE t.topic_id = p_topic_id;
    SELECT
        coalesce(array_agg(i.id ORDER BY i.id), '{}'),
        min(i.id) FILTER (WHERE omd.instance_lives(i.id))
    INTO p_instance_array, v_executing_id
    FROM omd.open_module_instances(v_module_id) AS i (id)
    CROSS JOIN LATERAL omd.instance_state(i.id) AS s
    WHERE s.execution_status_code = 'E' OR i.id = ANY(omd.pending_rollback(v_module_id));
    SELECT min(t.topic) INTO v_reader
    FROM omd_lineage.dependency AS d
    INNER JOIN omd_lineage.topic AS t ON d.topic_id = t.topic_id
    WHERE d.source_topic_id = p_topic_id
        AND NOT EXISTS (
            SELECT FROM omd_lineage.dependency AS other
            WHERE other.topic_id = d.topic_id
                AND other.ordinal = d.ordinal
                AND other.source_topic_id <> p_topic_id
        );

    v_problem := CASE
        WHEN v_hostid IS NOT NULL THEN 'it is held by ' || v_hostid
        WHEN v_executing_id IS NOT NULL
            THEN format('Module Instance %s of its Module executes', v_executing_id)
        WHEN v_reader IS NOT NULL THEN v_reader || ' depends on it'
    END;
    IF v_problem IS NOT NULL THEN
        PERFORM omd.raise_error(
            'OM208',
            jsonb_build_object('topic', p_topic, 'problem', 'it can''t be removed: ' || v_problem)
        );
    END IF;
END
$require_removable$;

COMMENT ON FUNCTION omd_lineage._require_removable IS
'Locks the topic p_topic for its removal and returns p_topic_id, its p_module_code, its '
'p_table_code and p_instance_array, the runs of its Module whose rows are not undone yet. Errors: '
'OM005: p_topic is NULL; OM015: it is not registered; OM208: a step holds it, a run of its Module '
'executes, or another topic depends on it alone. Locks: other registrations; the offset.';
REVOKE ALL ON FUNCTION omd_lineage._require_removable FROM PUBLIC;
GRANT EXECUTE ON FUNCTION omd_lineage._require_removable TO omd_admin;

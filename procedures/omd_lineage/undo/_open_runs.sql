-- A step that begins holds the lock on the offset until its claim is committed, so what is seen
-- behind this lock stays. The rows of a step that succeeded and that an administrator wants to be
-- undone count too.

CREATE OR REPLACE FUNCTION omd_lineage._open_runs(
    p_topic_id integer,
    p_action text,
    OUT p_module_code text,
    OUT p_instance_array bigint[],
    OUT p_succeeded_array bigint[]
)
RETURNS record
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $open_runs$
DECLARE
    v_offset omd_lineage.offsets;
    v_module_id integer;
    v_executing_id bigint;
BEGIN
    SELECT o.* INTO v_offset FROM omd_lineage.offsets AS o
    WHERE o.topic_id = p_topic_id
    FOR UPDATE;
    SELECT m.module_id, m.module_code INTO v_module_id, p_module_code
    FROM omd_lineage.topic AS t
    INNER JOIN omd.module_target AS m USING (module_id)
    WHERE t.topic_id = p_topic_id;
    SELECT
        coalesce(array_agg(i.id ORDER BY i.id), '{}'),
        coalesce(
            array_agg(i.id ORDER BY i.id) FILTER (WHERE s.execution_status_code = 'S'), '{}'
        ),
        min(i.id) FILTER (WHERE omd.instance_lives(i.id))
    INTO p_instance_array, p_succeeded_array, v_executing_id
    FROM omd.open_module_instances(v_module_id) AS i (id)
    CROSS JOIN LATERAL omd.instance_state(i.id) AS s
    WHERE s.execution_status_code = 'E'
        OR i.id = ANY((SELECT omd.pending_rollback(v_module_id))::bigint[]);

    IF v_executing_id IS NOT NULL
        OR omd_lineage._holder_lives(v_offset.hostid, v_offset.module_instance_id)
    THEN
        PERFORM omd.raise_error(
            'OM208',
            jsonb_build_object(
                'topic', v_offset.topic,
                'problem', format('it can''t be %s: ', p_action) || CASE
                    WHEN v_executing_id IS NULL THEN 'it is held by ' || v_offset.hostid
                    ELSE format('Module Instance %s executes', v_executing_id)
                END
            )
        );
    END IF;
END
$open_runs$;

COMMENT ON FUNCTION omd_lineage._open_runs IS
'Locks the offset of the topic p_topic_id, which is to be removed or undone (p_action). Returns '
'p_module_code and p_instance_array, the runs whose rows are not undone yet, of which '
'p_succeeded_array have succeeded. Errors: OM208: a run of it executes, or somebody holds it. '
'Locks: the offset.';
GRANT EXECUTE ON FUNCTION omd_lineage._open_runs TO omd_runner;

-- The Module stays with its history, since rows carry the ids of its runs. If another topic of the
-- table can serve a dependency on this one, the dependency moves to that topic; its readers would
-- wait for ever at rows of a failed run that nobody undoes.

CREATE OR REPLACE PROCEDURE omd_lineage.remove_topic(
    p_topic text,
    p_leave_rows boolean DEFAULT FALSE
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $remove_topic$
DECLARE
    v_topic_id integer := omd_lineage._require_topic(p_topic);
    v_runs record;
    v_reader text;
    v_table_code text;
    v_module_id integer;
BEGIN
    LOCK TABLE omd_lineage.dependency IN SHARE ROW EXCLUSIVE MODE;
    v_runs := omd_lineage._open_runs(v_topic_id, 'removed');
    SELECT min(t.topic) INTO v_reader
    FROM omd_lineage.dependency AS d
    INNER JOIN omd_lineage.topic AS t ON d.topic_id = t.topic_id
    WHERE d.source_topic_id = v_topic_id
        AND NOT EXISTS (
            SELECT FROM omd_lineage.dependency AS other
            WHERE other.topic_id = d.topic_id
                AND other.ordinal = d.ordinal
                AND other.source_topic_id <> v_topic_id
        );
    IF v_reader IS NOT NULL THEN
        PERFORM omd.raise_error(
            'OM208',
            jsonb_build_object(
                'topic', p_topic,
                'problem', format('it can''t be removed: %s depends on it', v_reader)
            )
        );
    ELSIF v_runs.p_instance_array <> '{}' AND p_leave_rows IS NOT TRUE THEN
        PERFORM omd.raise_error(
            'OM115',
            jsonb_build_object(
                'topic', p_topic,
                'module_instance_ids', v_runs.p_instance_array,
                'table_code', (
                    SELECT t.table_code FROM omd_lineage.topic AS t WHERE t.topic_id = v_topic_id
                ),
                'next_command', format(
                    'CALL omd_lineage.%s(%L);',
                    CASE
                        WHEN v_runs.p_succeeded_array = '{}' THEN 'undo_failed'
                        ELSE 'step'
                    END,
                    p_topic
                )
            )
        );
    END IF;

    DELETE FROM omd_lineage.dependency AS d WHERE d.source_topic_id = v_topic_id;
    -- Its Module stays, and nothing is kept for it any more.
    PERFORM omd.declare_reader(t.module_id, '', '{}')
    FROM omd_lineage.topic AS t
    WHERE t.topic_id = v_topic_id AND t.module_id IS NOT NULL;
    PERFORM omd.drop_windows(t.module_id)
    FROM omd_lineage.topic AS t
    WHERE t.topic_id = v_topic_id AND t.module_id IS NOT NULL;
    DELETE FROM omd_lineage.topic AS t
    WHERE t.topic_id = v_topic_id
    RETURNING t.table_code, t.module_id INTO v_table_code, v_module_id;
    PERFORM omd.set_module_kind(v_module_id);
    PERFORM omd_lineage._resolve_dependencies(d.topic_id)
    FROM (
        SELECT DISTINCT o.topic_id FROM omd_lineage.dependency AS o
        WHERE o.table_code = v_table_code
    ) AS d;
END
$remove_topic$;

COMMENT ON PROCEDURE omd_lineage.remove_topic IS
'Removes the topic p_topic with its offset and its planned block; its history, its log, its Module'
' and the rows that it loaded stay. p_leave_rows: rows of runs that failed, are dead or are to be '
'undone stay too, and the next begin of the Module undoes them; topics that read the table wait '
'for that. Errors: OM005: p_topic is NULL; OM015: it is not registered; OM115: there are such '
'runs, without p_leave_rows; OM208: a run of it executes, somebody holds it, or another topic '
'depends on it alone. Locks: other registrations; the offset, which a step that begins holds. Call'
' again when the answer was lost.';
GRANT EXECUTE ON PROCEDURE omd_lineage.remove_topic TO omd_admin;

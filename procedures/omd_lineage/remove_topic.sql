-- The Module stays with its history, since rows carry the ids of its runs. If another topic of the
-- table can serve a dependency on this one, the dependency moves to that topic.

CREATE OR REPLACE PROCEDURE omd_lineage.remove_topic(
    p_topic text
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $remove_topic$
DECLARE
    v_topic_id integer := omd_lineage._require_topic(p_topic);
    v_problem text;
    v_table_code text;
BEGIN
    LOCK TABLE omd_lineage.dependency IN SHARE ROW EXCLUSIVE MODE;
    SELECT 'it is held by ' || o.hostid INTO v_problem FROM omd_lineage.offsets AS o
    WHERE o.topic_id = v_topic_id
        AND omd_lineage._holder_lives(o.hostid, o.module_instance_id);
    IF v_problem IS NULL THEN
        SELECT t.topic || ' depends on it' INTO v_problem
        FROM omd_lineage.dependency AS d
        INNER JOIN omd_lineage.topic AS t ON d.topic_id = t.topic_id
        WHERE d.source_topic_id = v_topic_id
            AND NOT EXISTS (
                SELECT FROM omd_lineage.dependency AS other
                WHERE other.topic_id = d.topic_id
                    AND other.ordinal = d.ordinal
                    AND other.source_topic_id <> v_topic_id
            )
        ORDER BY t.topic
        LIMIT 1;
    END IF;
    IF v_problem IS NOT NULL THEN
        PERFORM omd.raise_error(
            'OM208',
            jsonb_build_object('topic', p_topic, 'problem', 'it can''t be removed: ' || v_problem)
        );
    END IF;
    DELETE FROM omd_lineage.dependency AS d WHERE d.source_topic_id = v_topic_id;
    DELETE FROM omd_lineage.topic AS t
    WHERE t.topic_id = v_topic_id
    RETURNING t.table_code INTO v_table_code;
    PERFORM omd_lineage._resolve_dependencies(d.topic_id)
    FROM (
        SELECT DISTINCT o.topic_id FROM omd_lineage.dependency AS o
        WHERE o.table_code = v_table_code
    ) AS d;
END
$remove_topic$;

COMMENT ON PROCEDURE omd_lineage.remove_topic IS
'Removes the topic p_topic with its offset; its history, its log and its Module stay. Errors: '
'OM005: p_topic is NULL; OM015: it is not registered; OM208: a step holds it, or another topic '
'depends on it alone. Locks: other registrations; the topic. Call again when the answer was lost.';
REVOKE ALL ON PROCEDURE omd_lineage.remove_topic FROM PUBLIC;
GRANT EXECUTE ON PROCEDURE omd_lineage.remove_topic TO omd_admin;

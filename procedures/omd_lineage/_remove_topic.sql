-- The Module stays with its history, since rows carry the ids of its runs. If another topic of the
-- table can serve a dependency on this one, the dependency moves to that topic. The routine is for
-- remove_topic, which has locked and checked.

CREATE OR REPLACE FUNCTION omd_lineage._remove_topic(
    p_topic_id integer
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $remove_topic$
DECLARE
    v_table_code text;
BEGIN
    DELETE FROM omd_lineage.dependency AS d WHERE d.source_topic_id = p_topic_id;
    DELETE FROM omd_lineage.topic AS t
    WHERE t.topic_id = p_topic_id
    RETURNING t.table_code INTO v_table_code;
    PERFORM omd_lineage._resolve_dependencies(d.topic_id)
    FROM (
        SELECT DISTINCT o.topic_id FROM omd_lineage.dependency AS o
        WHERE o.table_code = v_table_code
    ) AS d;
END
$remove_topic$;

COMMENT ON FUNCTION omd_lineage._remove_topic IS
'Deletes the topic p_topic_id and resolves the dependencies on its table again. Locks: the topic.';
REVOKE ALL ON FUNCTION omd_lineage._remove_topic FROM PUBLIC;
GRANT EXECUTE ON FUNCTION omd_lineage._remove_topic TO omd_admin;

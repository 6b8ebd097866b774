-- What a plan says besides the block. The rights of the caller count, as for the step itself.

CREATE OR REPLACE FUNCTION omd_lineage._plan_detail(
    p_topic_id integer
)
RETURNS text
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $plan_detail$
DECLARE
    v_topic omd_lineage.topic;
    v_way record;
BEGIN
    SELECT t.* INTO v_topic FROM omd_lineage.topic AS t WHERE t.topic_id = p_topic_id;
    IF v_topic.processor <> 'RELOAD' OR v_topic.engine <> 'POSTGRES' THEN
        RETURN NULL;
    END IF;
    v_way := omd_lineage._reload_way(to_regclass(v_topic.table_code), v_topic.reload_method);
    RETURN 'by ' || concat_ws(': ', v_way.p_method, v_way.p_reason);
END
$plan_detail$;

COMMENT ON FUNCTION omd_lineage._plan_detail IS
'Returns how a RELOAD of the topic p_topic_id would replace the content, and why so; NULL for '
'another topic. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_lineage._plan_detail TO omd_runner, omd_admin;

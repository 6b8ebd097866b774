-- Rows go with the rights of the caller, offsets and marks with those of OMD. Whoever calls has
-- locked the offsets, and hands over those who read before what they read.

CREATE OR REPLACE FUNCTION omd_lineage.take_back(
    p_instance_array bigint[],
    p_recall_instance_id bigint,
    p_recall_id bigint,
    p_reason text
)
RETURNS TABLE (
    module_instance_id bigint,
    table_code text,
    rows_gone bigint,
    rows_returned bigint
)
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
SET jit = off
SET row_security = off
AS $take_back$
DECLARE
    v_undone CONSTANT bigint[] := p_instance_array || omd.recalled_runs(p_recall_instance_id);
    v_topic record;
    v_gone jsonb;
    v_back jsonb;
BEGIN
    FOR v_topic IN
        SELECT t.* FROM omd_lineage._recalled_topics(p_instance_array) AS t
        WHERE t.instance_array <> '{}'
    LOOP
        v_back := NULL;
        IF NOT v_topic.is_here THEN
            v_gone := NULL;
        ELSIF v_topic.replaces THEN
            SELECT jsonb_object_agg(c.module_instance_id, c.rows_go) INTO v_gone
            FROM omd.recall_counts(
                omd.quote_table(v_topic.table_code, 'POSTGRES'), quote_ident(v_topic.insert_column),
                NULL, v_topic.instance_array
            ) AS c;
            SELECT jsonb_object_agg(b.module_instance_id, b.rows_back) INTO v_back
            FROM omd_lineage._rows_to_put_back(v_topic.instance_array, v_undone) AS b;
            PERFORM omd_lineage.put_back_rows(v_topic.instance_array);
        ELSE
            SELECT jsonb_object_agg(d.module_instance_id, d.rows_gone) INTO v_gone
            FROM omd.delete_stamped(
                v_topic.module_code, v_topic.table_code, v_topic.insert_column,
                v_topic.instance_array, v_undone
            ) AS d;
        END IF;
        PERFORM omd_lineage._give_back_steps(
            v_topic.topic_id, v_topic.instance_array, p_recall_instance_id, p_recall_id, p_reason
        );
        RETURN QUERY
        SELECT
            i.id,
            v_topic.table_code,
            CASE WHEN v_topic.is_here THEN coalesce((v_gone ->> i.id::text)::bigint, 0) END,
            CASE
                WHEN v_back IS NOT NULL THEN (v_back ->> i.id::text)::bigint
                WHEN v_topic.is_here THEN 0
            END
        FROM unnest(v_topic.instance_array) AS i (id)
        ORDER BY i.id DESC;
    END LOOP;
END
$take_back$;

COMMENT ON FUNCTION omd_lineage.take_back IS
'For rooms: Takes back those of the runs p_instance_array that are steps, in the transaction of '
'the caller, for the recall p_recall_id, whose run is p_recall_instance_id, because of p_reason: '
'their rows go, what they had replaced comes back, and their blocks are to be taken again. Returns '
'the rows that have gone and come back, per run. The rows of a target outside of this database are '
'left to the caller. Errors: OM112: rows of others refer to them; OM217: the replaced rows are '
'purged; OM218. Locks: the rows; the destination of steps that replaced rows, against other '
'writers; the offsets; the instances.';
GRANT EXECUTE ON FUNCTION omd_lineage.take_back TO omd_admin;

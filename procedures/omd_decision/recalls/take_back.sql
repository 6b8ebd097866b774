-- Rows go with the rights of the caller, marks with those of OMD. Whoever calls has locked the
-- Modules, and hands over those who read before what they read.

CREATE OR REPLACE FUNCTION omd_decision.take_back(
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
    v_stage record;
    v_table text;
    v_gone jsonb;
BEGIN
    FOR v_stage IN
        SELECT s.* FROM omd_decision._recalled_stages(p_instance_array) AS s
        WHERE s.instance_array <> '{}'
    LOOP
        FOREACH v_table IN ARRAY v_stage.tables LOOP
            SELECT jsonb_object_agg(d.module_instance_id, d.rows_gone) INTO v_gone
            FROM omd.delete_stamped(
                v_stage.module_code, v_table, v_stage.insert_column, v_stage.instance_array,
                v_undone
            ) AS d;
            RETURN QUERY
            SELECT
                i.id,
                v_table,
                coalesce((v_gone ->> i.id::text)::bigint, 0),
                0::bigint
            FROM unnest(v_stage.instance_array) AS i (id)
            ORDER BY i.id DESC;
        END LOOP;
        IF v_stage.tables = '{}' THEN
            RETURN QUERY
            SELECT i.id, v_stage.table_code, 0::bigint, 0::bigint
            FROM unnest(v_stage.instance_array) AS i (id);
        END IF;
        PERFORM omd_decision._give_back_runs(
            v_stage.stage_id, v_stage.instance_array, p_recall_instance_id, p_recall_id, p_reason
        );
    END LOOP;
END
$take_back$;

COMMENT ON FUNCTION omd_decision.take_back IS
'For rooms: Takes back those of the runs p_instance_array that are runs of stages, in the '
'transaction of the caller, for the recall p_recall_id, whose run is p_recall_instance_id, because '
'of p_reason: the rows of their outputs go, and their windows are to be taken again. What was '
'decided is kept, for comparison. Returns the rows that have gone, per run and output. Errors: '
'OM112: rows of others refer to them. Locks: the rows; the instances.';
GRANT EXECUTE ON FUNCTION omd_decision.take_back TO omd_admin;

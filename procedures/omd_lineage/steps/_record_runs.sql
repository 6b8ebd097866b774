-- A block of a table of the lake is the runs that committed in it.

CREATE OR REPLACE FUNCTION omd_lineage._record_runs(
    p_topic_id integer,
    p_module_instance_id bigint,
    p_start_pos timestamptz,
    p_start_id bigint,
    p_end_pos timestamptz,
    p_end_id bigint
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $record_runs$
DECLARE
    v_table_code text;
BEGIN
    SELECT b.table_code INTO v_table_code
    FROM omd_lineage.base_table AS b
    INNER JOIN omd_lineage.topic AS t ON b.topic_id = t.topic_id
    WHERE b.topic_id = p_topic_id AND b.is_lake AND t.processor <> 'RELOAD';
    IF FOUND THEN
        PERFORM omd.record_run_input(
            p_module_instance_id,
            omd.base_tables(v_table_code),
            omd_lake.runs_in_block(
                v_table_code, p_start_pos, p_start_id, p_end_pos, p_end_id
            )
        );
    END IF;
END
$record_runs$;

COMMENT ON FUNCTION omd_lineage._record_runs IS
'Records the runs whose rows the step p_module_instance_id reads, where the base table of the '
'topic p_topic_id is one of the lake; the others are the ends of its block. Locks: none.';

-- What a run has recorded of a table only grows: what was visible (NULL) takes in all runs.

CREATE OR REPLACE FUNCTION omd.record_run_input(
    p_module_instance_id bigint,
    p_table_array text[],
    p_source_instances bigint[]
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $record_run_input$
BEGIN
    INSERT INTO omd.run_input AS i (module_instance_id, table_code, source_instances)
    SELECT DISTINCT p_module_instance_id, t.table_code, p_source_instances
    FROM unnest(p_table_array) AS t (table_code)
    ORDER BY t.table_code
    ON CONFLICT (module_instance_id, table_code) DO UPDATE SET
        source_instances = ARRAY(
            SELECT s.id FROM unnest(i.source_instances) AS s (id)
            UNION
            SELECT s.id FROM unnest(excluded.source_instances) AS s (id)
            ORDER BY id
        )
    WHERE i.source_instances IS NOT NULL AND excluded.source_instances IS NOT NULL
        AND NOT i.source_instances @> excluded.source_instances;
    IF p_source_instances IS NULL THEN
        UPDATE omd.run_input AS i SET source_instances = NULL
        WHERE i.module_instance_id = p_module_instance_id
            AND i.table_code = ANY(p_table_array)
            AND i.source_instances IS NOT NULL;
    END IF;
    PERFORM omd.note_reads(mi.module_id, p_table_array)
    FROM omd.module_instance AS mi
    WHERE mi.module_instance_id = p_module_instance_id;
END
$record_run_input$;

COMMENT ON FUNCTION omd.record_run_input IS
'For rooms: records that the run p_module_instance_id reads the tables p_table_array, as '
'omd.base_tables names them. p_source_instances: the rows of these runs and no others; NULL: what '
'is visible. Locks: the rows that it writes.';

-- The empty name stands for what nobody could look up.

CREATE OR REPLACE FUNCTION omd._record_look(
    p_module_instance_id bigint,
    p_tables text[],
    p_problem text
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $record_look$
BEGIN
    IF NOT EXISTS (
        SELECT FROM omd.module_instance AS mi
        WHERE mi.module_instance_id = p_module_instance_id AND mi.execution_status_code = 'E'
    ) THEN
        RETURN;
    END IF;
    INSERT INTO omd.run_input (module_instance_id, table_code)
    SELECT p_module_instance_id, ''
    WHERE p_problem IS NOT NULL
    ON CONFLICT (module_instance_id, table_code) DO NOTHING;
    PERFORM omd.record_run_input(p_module_instance_id, omd.base_tables(t.table_code), NULL)
    FROM unnest(p_tables) AS t (table_code)
    ORDER BY t.table_code;
END
$record_look$;

COMMENT ON FUNCTION omd._record_look IS
'Records that the run p_module_instance_id, which executes, reads p_tables; p_problem: why that '
'may not be all. Locks: the rows that it writes.';
GRANT EXECUTE ON FUNCTION omd._record_look TO omd_runner;

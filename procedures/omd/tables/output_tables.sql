-- A Module has one target; a stage has declared further ones.

CREATE OR REPLACE FUNCTION omd.output_tables(
    p_module_array integer[]
)
RETURNS TABLE (module_id integer, table_code text)
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        m.module_id,
        m.table_code
    FROM omd.module AS m
    WHERE m.module_id = any(p_module_array)
    UNION
    SELECT
        m.module_id,
        t.table_code
    FROM omd.module AS m
    INNER JOIN omd.source_table AS t ON t.source_code = 'runs.' || m.module_id
    WHERE m.module_id = any(p_module_array) AND m.is_source;
END;

COMMENT ON FUNCTION omd.output_tables IS
'For rooms: Returns the tables into which runs of the Modules p_module_array write: the target, '
'and those that a room has declared. Locks: none.';

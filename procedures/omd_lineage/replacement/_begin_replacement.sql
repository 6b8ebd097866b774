-- The key and the columns are those of the step: a later definition of the topic, or of the table,
-- does not change what an undo has to put back.

CREATE OR REPLACE FUNCTION omd_lineage._begin_replacement(
    p_module_instance_id bigint,
    p_table regclass,
    p_key text[],
    p_columns text[]
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $begin_replacement$
BEGIN
    INSERT INTO omd_lineage.replacement (
        module_instance_id, module_id, table_code, key_columns, row_columns
    )
    SELECT p_module_instance_id, i.module_id, p_table::text, p_key, p_columns
    FROM omd.instance_state(p_module_instance_id) AS i
    ON CONFLICT (module_instance_id) DO NOTHING;
END
$begin_replacement$;

COMMENT ON FUNCTION omd_lineage._begin_replacement IS
'Records that the step p_module_instance_id replaces rows of p_table by the key p_key, and that '
'_keep_rows gets the values of p_columns. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_lineage._begin_replacement TO omd_runner;

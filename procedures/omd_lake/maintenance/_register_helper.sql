-- Nothing is registered where no lake is used, so the first use registers the Module. What it
-- writes has the stamps of others, and its rollback only removes its folders.

CREATE OR REPLACE FUNCTION omd_lake._register_helper(
    p_module_code text,
    p_table_code text,
    p_description text
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $register_helper$
DECLARE
    v_module_id integer;
BEGIN
    IF NOT EXISTS (
        SELECT FROM omd.module_target AS m WHERE m.module_code = p_module_code
    ) THEN
        CALL omd.save_module(
            p_module_code,
            'HELPER',
            p_table_code,
            'HELPER',
            'SPARK',
            p_module_description => p_description,
            p_module_id => v_module_id,
            p_table_format_code => 'ICEBERG'
        );
        PERFORM omd.set_module_kind(v_module_id, 'PART');
    END IF;
END
$register_helper$;

COMMENT ON FUNCTION omd_lake._register_helper IS
'Registers the built-in Module p_module_code, if it is not there, with the target p_table_code, '
'which is only a name, and p_description. Locks: its row.';

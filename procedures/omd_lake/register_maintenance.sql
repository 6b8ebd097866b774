-- Nothing is registered where no lake is used, so the first maintenance registers its Module. What
-- it writes has the stamps of others, and its rollback only removes its folders.

CREATE OR REPLACE PROCEDURE omd_lake.register_maintenance()
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $register_maintenance$
DECLARE
    v_module_id integer;
BEGIN
    IF NOT EXISTS (
        SELECT FROM omd.module_target AS m WHERE m.module_code = 'omd_lake_maintain'
    ) THEN
        CALL omd.register_module(
            'omd_lake_maintain',
            'HELPER',
            'omd_lake.maintenance',
            'HELPER',
            'SPARK',
            p_module_description => 'Maintenance of lake tables: omd lake maintain.',
            p_module_id => v_module_id,
            p_table_format_code => 'ICEBERG'
        );
        PERFORM omd.set_module_kind(v_module_id, 'PART');
    END IF;
END
$register_maintenance$;

COMMENT ON PROCEDURE omd_lake.register_maintenance IS
'Registers the built-in Module omd_lake_maintain, if it is not there. Locks: its row. Call again '
'when the answer was lost.';
REVOKE ALL ON PROCEDURE omd_lake.register_maintenance FROM PUBLIC;
GRANT EXECUTE ON PROCEDURE omd_lake.register_maintenance TO omd_runner;

-- Maintenance of the lake runs by its own command. The Module of a former version gets its kind.

DO $do$
BEGIN
    PERFORM omd.set_module_kind(m.module_id, 'PART')
    FROM omd.module_target AS m
    WHERE m.module_code = 'omd_lake_maintain';
END
$do$;

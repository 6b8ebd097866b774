-- Maintenance is a run like others, so that its folders are found when it has died.

CREATE OR REPLACE PROCEDURE omd_lake.register_maintenance()
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $register_maintenance$
BEGIN
    PERFORM omd_lake._register_helper(
        'omd_lake_maintain', 'omd_lake.maintenance',
        'Maintenance of lake tables: omd maintain.'
    );
END
$register_maintenance$;

COMMENT ON PROCEDURE omd_lake.register_maintenance IS
'For the driver: '
'Registers the built-in Module omd_lake_maintain, if it is not there. Locks: its row. Call again '
'when the answer was lost.';
GRANT EXECUTE ON PROCEDURE omd_lake.register_maintenance TO omd_runner;

-- Why a run is skipped or aborted stands in its instance.

CREATE OR REPLACE FUNCTION omd.reason_of(
    p_module_instance_id bigint
)
RETURNS text
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $reason_of$
BEGIN
    RETURN (
        SELECT mi.reason_code
        FROM omd.module_instance AS mi
        WHERE mi.module_instance_id = p_module_instance_id
    );
END
$reason_of$;

COMMENT ON FUNCTION omd.reason_of IS
'For rooms: Returns the reason for which the Module Instance p_module_instance_id was skipped or '
'aborted; NULL when it was not. Locks: none.';
GRANT EXECUTE ON FUNCTION omd.reason_of TO omd_runner;

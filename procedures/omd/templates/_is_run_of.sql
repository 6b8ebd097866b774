-- A stamp may be of any numeric type, so it comes as one that holds all of them. Only a whole
-- number can be an instance; the cast lets the primary key serve the look.

CREATE OR REPLACE FUNCTION omd._is_run_of(
    p_module_id integer,
    p_stamp numeric
)
RETURNS boolean
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $is_run_of$
BEGIN
    RETURN EXISTS (
        SELECT FROM omd.module_instance AS mi
        WHERE mi.module_id = p_module_id
            AND mi.module_instance_id = CASE
                WHEN p_stamp BETWEEN 1 AND 9223372036854775807 AND p_stamp = trunc(p_stamp)
                    THEN p_stamp::bigint
            END
    );
END
$is_run_of$;

COMMENT ON FUNCTION omd._is_run_of IS
'Returns whether p_stamp is the ID of a Module Instance of the Module p_module_id; FALSE for NULL '
'and for a purged instance. Locks: none.';
GRANT EXECUTE ON FUNCTION omd._is_run_of TO omd_reader;

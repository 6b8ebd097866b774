-- A run asks this in its long transaction, so it reads the table: the view omd.module_target would
-- stay locked until the run ends, and an installation replaces views.

CREATE OR REPLACE FUNCTION omd.insert_column(
    p_module_id integer
)
RETURNS text
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $insert_column$
BEGIN
    RETURN (SELECT m.insert_instance_column FROM omd.module AS m WHERE m.module_id = p_module_id);
END
$insert_column$;

COMMENT ON FUNCTION omd.insert_column IS
'For rooms: Returns the column of the target of the Module p_module_id that holds the Module '
'Instance which inserted a row; NULL when there is no such Module. Locks: none.';

-- A begin takes the same lock, so none of these Modules begins until the transaction ends.

CREATE OR REPLACE FUNCTION omd.lock_modules(
    p_module_array integer[]
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $lock_modules$
BEGIN
    PERFORM FROM omd.module AS m
    WHERE m.module_id = ANY(p_module_array)
    ORDER BY m.module_id
    FOR NO KEY UPDATE;
END
$lock_modules$;

COMMENT ON FUNCTION omd.lock_modules IS
'For rooms: Locks the Modules p_module_array, in the order of their ids, so that none of them '
'begins meanwhile. Locks: the Module rows.';

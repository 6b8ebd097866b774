-- A right that somebody has granted on a delta is no way to change what was accepted.

CREATE OR REPLACE FUNCTION omd_delivery._guard_change()
RETURNS trigger
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $guard_change$
BEGIN
    PERFORM omd_delivery._raise_rows(
        format('%I.%I', tg_table_schema, tg_table_name),
        format('a run only inserts, and this is %s', tg_op)
    );
    RETURN NULL;
END
$guard_change$;

COMMENT ON FUNCTION omd_delivery._guard_change IS
'Refuses whatever else than an INSERT is done to a delta. Errors: OM138. Locks: none.';

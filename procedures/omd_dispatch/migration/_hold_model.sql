-- A change of the master, or of lanes, waits for all who write tasks, and they for it. What they
-- read after this call holds until they commit. Nobody but OMD can take a lock that is in their
-- way: who may only read a table may lock it in ACCESS SHARE MODE alone. A family that is not there
-- has no model; the caller says so.

CREATE OR REPLACE FUNCTION omd_dispatch._hold_model(
    p_family_code text
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $hold_model$
DECLARE
    v_lock text := 'omd_dispatch.' || quote_ident('task_model_' || lower(p_family_code));
BEGIN
    IF to_regclass(v_lock) IS NOT NULL THEN
        EXECUTE format('LOCK TABLE %s IN ROW SHARE MODE', v_lock);
    END IF;
END
$hold_model$;

COMMENT ON FUNCTION omd_dispatch._hold_model IS
'Keeps the migration status of p_family_code and the lanes of its types until the end of the '
'transaction. Locks: the model of the family, shared.';

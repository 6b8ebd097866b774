-- Claims and maintenance serve many families: one that is being changed does not keep them from the
-- others.

CREATE OR REPLACE FUNCTION omd_dispatch._try_hold_model(
    p_family_code text
)
RETURNS boolean
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $try_hold_model$
BEGIN
    EXECUTE format(
        'LOCK TABLE omd_dispatch.%I IN ROW SHARE MODE NOWAIT', 'task_model_' || lower(p_family_code)
    );
    RETURN TRUE;
EXCEPTION
    WHEN lock_not_available THEN
        RETURN FALSE;
END
$try_hold_model$;

COMMENT ON FUNCTION omd_dispatch._try_hold_model IS
'Does what _hold_model does and returns TRUE; returns FALSE when somebody changes p_family_code at '
'this moment. Locks: the model of the family, shared.';

-- The Module says in its own row that somebody waits, since the end of each run reads that row.

CREATE OR REPLACE FUNCTION omd.await_return(
    p_return omd.module_return
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $await_return$
BEGIN
    INSERT INTO omd.module_return SELECT p_return.*;
    UPDATE omd.module AS m SET awaits_return = TRUE
    WHERE m.module_id = p_return.module_id
        AND m.module_kind_code IN ('SQL', 'SPARK')
        AND NOT m.awaits_return;
END
$await_return$;

COMMENT ON FUNCTION omd.await_return IS
'For rooms: Notes what must come again, as an open row p_return of omd.module_return. Locks: the '
'Module row.';
REVOKE ALL ON FUNCTION omd.await_return FROM PUBLIC;

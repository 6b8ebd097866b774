-- What has failed too often waits for a person, and one that waits for its pause need not.

CREATE OR REPLACE PROCEDURE omd.retry(
    p_module_code text,
    INOUT p_was boolean DEFAULT NULL
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $retry$
BEGIN
    p_was := omd.clear_failures(omd._require_module(p_module_code));
    PERFORM omd.write_event(
        0, 0, 4, 'RETRY', format('%s was set to retry by %s', p_module_code, omd.editor())
    );
END
$retry$;

COMMENT ON PROCEDURE omd.retry IS
'Forgets the failures of the Module p_module_code and its pause, so that its work is ready again at'
' once. Returns p_was: whether there was anything to forget. Errors: OM002, OM005: p_module_code is'
' NULL. Locks: the state of the Module. Call again when the answer was lost.';
REVOKE ALL ON PROCEDURE omd.retry FROM PUBLIC;
GRANT EXECUTE ON PROCEDURE omd.retry TO omd_admin;

-- What the server says, in its language, to a COMMIT where there can be none: a function is always
-- such a place.

CREATE OR REPLACE FUNCTION omd._refused_commit()
RETURNS text
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $refused_commit$
BEGIN
    COMMIT;
    RETURN NULL;
EXCEPTION
    WHEN invalid_transaction_termination THEN
        RETURN SQLERRM;
END
$refused_commit$;

COMMENT ON FUNCTION omd._refused_commit IS
'The message that a COMMIT in a function or in a transaction block gets. Locks: none.';
REVOKE ALL ON FUNCTION omd._refused_commit FROM PUBLIC;
GRANT EXECUTE ON FUNCTION omd._refused_commit TO omd_runner, omd_admin;

-- The server's message is translated, so it is asked for instead of written down: a function is
-- always a place without COMMIT.

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
'Returns the message that a COMMIT in a function or in a transaction block gets. Locks: none.';
GRANT EXECUTE ON FUNCTION omd._refused_commit TO omd_runner, omd_admin;

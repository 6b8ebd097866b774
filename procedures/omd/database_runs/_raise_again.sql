-- An error that was caught to be recorded reaches the caller as it was.

CREATE OR REPLACE FUNCTION omd._raise_again(
    p_error jsonb
)
RETURNS void
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $raise_again$
BEGIN
    RAISE EXCEPTION USING
        ERRCODE = p_error ->> 'sqlstate',
        MESSAGE = p_error ->> 'message',
        DETAIL = p_error ->> 'detail',
        HINT = p_error ->> 'hint';
END
$raise_again$;

COMMENT ON FUNCTION omd._raise_again IS
'Raises the error whose fields p_error has: sqlstate, message, detail and hint. No locks.';
GRANT EXECUTE ON FUNCTION omd._raise_again TO omd_runner;

-- A setting, so that several statements and views see one moment without a long transaction. Behind
-- a pooler in transaction mode the session is another's soon, so it can be for a transaction too.

CREATE OR REPLACE FUNCTION omd_facts.as_of(
    p_at timestamptz,
    p_is_local boolean DEFAULT FALSE
)
RETURNS timestamptz
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $as_of$
BEGIN
    p_is_local := omd.require_argument('p_is_local', p_is_local);
    -- JSON writes a moment alike under any DateStyle.
    PERFORM set_config('omd_facts.as_of', coalesce(to_jsonb(p_at) #>> '{}', ''), p_is_local);
    RETURN p_at;
END
$as_of$;

COMMENT ON FUNCTION omd_facts.as_of IS
'For programs: '
'Sets the moment of the session, as of which its as-of views are read, and returns it. p_at: the '
'moment; NULL: each view is as of its traveling now again. p_is_local: for this transaction only, '
'which a pooler in transaction mode needs. Errors: OM005: p_is_local is NULL. Locks: none. May be '
'NULL: the answer. It sets its session.';
GRANT EXECUTE ON FUNCTION omd_facts.as_of TO omd_reader, omd_data_reader;

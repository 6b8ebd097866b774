-- A deprecated routine goes on for a minor version at least, and its caller shall learn of it where
-- it reads warnings anyway. Each call would flood the log of a nightly load, so a setting of the
-- session keeps what was warned of. Behind a pooler another client may miss it: nothing else hangs
-- on the setting. The first deprecated routine that is no SECURITY DEFINER brings the GRANT.

CREATE OR REPLACE FUNCTION omd._warn_deprecated(
    p_routine regprocedure
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $warn_deprecated$
DECLARE
    v_warned CONSTANT text := coalesce(current_setting('omd.warned_deprecated', TRUE), '');
    v_since text[];
BEGIN
    IF strpos(v_warned || ' ', format(' %s ', p_routine::oid)) > 0 THEN
        RETURN;
    END IF;
    v_since := regexp_match(
        obj_description(p_routine, 'pg_proc'), '^Deprecated since ([0-9.]+): use ([^ ]+[^ .])'
    );
    PERFORM set_config('omd.warned_deprecated', v_warned || ' ' || p_routine::oid::text, FALSE);
    RAISE WARNING USING
        ERRCODE = '01P01',
        MESSAGE = format(
            '%s is deprecated since %s', split_part(p_routine::text, '(', 1), v_since[1]
        ),
        HINT = format('Use %s.', v_since[2]);
END
$warn_deprecated$;

COMMENT ON FUNCTION omd._warn_deprecated IS
'Raises a WARNING that a routine is deprecated, once a session. A deprecated routine calls it '
'first; since when, and what to use instead, is in its COMMENT: "Deprecated since 1.3: use omd.x". '
'p_routine: the routine. Errors: none. Locks: none.';
REVOKE ALL ON FUNCTION omd._warn_deprecated FROM PUBLIC;

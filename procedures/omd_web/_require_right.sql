-- What is not tried would not say that the caller may not do it.

CREATE OR REPLACE FUNCTION omd_web._require_right(
    p_routine text
)
RETURNS void
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $require_right$
BEGIN
    IF NOT has_function_privilege(p_routine::regproc, 'EXECUTE') THEN
        RAISE EXCEPTION USING
            ERRCODE = 'insufficient_privilege',
            MESSAGE = format('permission denied for procedure %s', p_routine),
            DETAIL = '{}',
            HINT = omd.role_hint(
                (
                    SELECT r.rolname
                    FROM pg_roles AS r
                    WHERE
                        r.rolname IN ('omd_runner', 'omd_admin')
                        AND has_function_privilege(r.oid, p_routine::regproc, 'EXECUTE')
                    ORDER BY r.rolname DESC
                    LIMIT 1
                )
            );
    END IF;
END
$require_right$;

COMMENT ON FUNCTION omd_web._require_right IS
'Refuses who may not execute the procedure p_routine, as a call of it would. Errors: 42501. Locks: '
'none.';
GRANT EXECUTE ON FUNCTION omd_web._require_right TO omd_reader;

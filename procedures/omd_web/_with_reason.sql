-- A reason belongs to one call: SET LOCAL forgets it at the commit. Where the procedure commits
-- itself no transaction may be around it.

CREATE OR REPLACE FUNCTION omd_web._with_reason(
    p_routine text,
    p_call text,
    p_reason text
)
RETURNS text
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $with_reason$
BEGIN
    RETURN CASE
        WHEN p_reason IS NULL THEN p_call
        WHEN omd_web._commits(p_routine)
            THEN concat_ws(
                E'\n',
                format('SET omd.reason = %s;', omd_web._literal(p_reason)),
                p_call,
                'RESET omd.reason;'
            )
        ELSE concat_ws(
            E'\n',
            'BEGIN;',
            format('SET LOCAL omd.reason = %s;', omd_web._literal(p_reason)),
            p_call,
            'COMMIT;'
        )
    END;
END
$with_reason$;

COMMENT ON FUNCTION omd_web._with_reason IS
'Returns what is sent for p_call, a call of p_routine, with the reason p_reason; NULL: there is '
'none. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_web._with_reason TO omd_reader;

-- PostgreSQL lets a procedure commit only when it has the rights of its caller and sets nothing.
-- Each other procedure of OMD sets its search_path.

CREATE OR REPLACE FUNCTION omd_web._commits(
    p_routine text
)
RETURNS boolean
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT NOT p.prosecdef AND p.proconfig IS NULL
    FROM pg_proc AS p
    WHERE p.oid = p_routine::regproc;
END;

COMMENT ON FUNCTION omd_web._commits IS
'Returns whether the procedure p_routine commits itself. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_web._commits TO omd_reader;

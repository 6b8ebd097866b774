-- Who may do what is a matter of GRANT EXECUTE; the page reads it for all who look.

CREATE OR REPLACE FUNCTION omd_web._needed_roles(
    p_routine regproc
)
RETURNS text
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT coalesce(string_agg(r.rolname, ' or ' ORDER BY r.rolname), 'omd_owner')
    FROM pg_proc AS p
    CROSS JOIN LATERAL aclexplode(p.proacl) AS x
    INNER JOIN pg_roles AS r ON x.grantee = r.oid
    WHERE p.oid = p_routine AND x.privilege_type = 'EXECUTE' AND x.grantee <> p.proowner;
END;

COMMENT ON FUNCTION omd_web._needed_roles IS
'Returns the roles of which one lets its member call p_routine, in words: omd_admin or omd_runner. '
'Locks: none.';
GRANT EXECUTE ON FUNCTION omd_web._needed_roles TO omd_reader;

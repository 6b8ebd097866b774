-- Who is refused has to know whom to ask. The driver says the same of what the server itself
-- refuses: driver/omd/_core/rights.py.

CREATE OR REPLACE FUNCTION omd.role_hint(
    p_role text
)
RETURNS text
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        format(
            '%s grants it: GRANT %I TO %I;',
            concat_ws(
                ' or ',
                'A superuser',
                (
                    SELECT string_agg(quote_ident(a.rolname), ' or ' ORDER BY a.rolname)
                    FROM pg_auth_members AS m
                    INNER JOIN pg_roles AS a ON m.member = a.oid
                    WHERE m.roleid = to_regrole(p_role) AND m.admin_option AND NOT a.rolsuper
                )
            ),
            p_role,
            session_user
        );
END;

COMMENT ON FUNCTION omd.role_hint IS
'For rooms: Returns who grants the role p_role to the session, as a hint. Locks: none.';
GRANT EXECUTE ON FUNCTION omd.role_hint TO omd_reader;

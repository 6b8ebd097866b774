-- A grant can't tell a call without a run from one with a run. The routine that asks runs with the
-- rights of the owner; the role that the session has taken on is still its setting.

CREATE OR REPLACE FUNCTION omd_lake._require_admin()
RETURNS void
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $require_admin$
BEGIN
    IF NOT pg_has_role(
        coalesce(nullif(current_setting('role'), 'none'), session_user), 'omd_admin', 'MEMBER'
    ) THEN
        RAISE EXCEPTION USING
            ERRCODE = 'insufficient_privilege',
            MESSAGE = 'permission denied: only omd_admin commits without a run',
            DETAIL = '{}',
            HINT = 'Give p_module_instance_id, the run that commits. '
                || omd.role_hint('omd_admin');
    END IF;
END
$require_admin$;

COMMENT ON FUNCTION omd_lake._require_admin IS
'Refuses a session that is no member of omd_admin, with SQLSTATE 42501. Locks: none.';

-- Staged rows do not say of which delivery they are: an agreement has one at a time that is not
-- decided. Of whom they are, its creation says. Roles that have the rights of its login may stage
-- too.

CREATE OR REPLACE FUNCTION omd_delivery._guard_staging()
RETURNS trigger
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $guard_staging$
DECLARE
    v_agreement omd_delivery.agreement;
    v_delivery record;
BEGIN
    SELECT a.* INTO v_agreement
    FROM omd_delivery.agreement AS a
    WHERE a.agreement_id = tg_argv[0]::integer;
    SELECT d.delivery_id, d.created_by INTO v_delivery
    FROM omd_delivery.delivery AS d
    WHERE d.interface_id = v_agreement.interface_id
        AND d.layer_code = 'LVL'
        AND d.delivery_status IN ('RECEIVED', 'LOADED', 'VALIDATED', 'ACCEPTED')
        AND d.delivery_status <> 'ACCEPTED'
        AND d.agreement_id = v_agreement.agreement_id
    ORDER BY d.delivery_id
    LIMIT 1
    FOR SHARE;
    IF NOT FOUND THEN
        PERFORM omd_delivery._raise_rows(
            format('%I.%I', tg_table_schema, tg_table_name),
            format(
                'no delivery under the agreement %s waits for data', v_agreement.agreement_code
            )
        );
    ELSIF NOT EXISTS (
        SELECT FROM pg_roles AS r
        WHERE r.rolname = v_delivery.created_by AND pg_has_role(session_user, r.oid, 'USAGE')
    ) THEN
        PERFORM omd_delivery._raise_rows(
            format('%I.%I', tg_table_schema, tg_table_name),
            format(
                'delivery %s belongs to the login %s', v_delivery.delivery_id,
                v_delivery.created_by
            )
        );
    END IF;
    RETURN NULL;
END
$guard_staging$;

COMMENT ON FUNCTION omd_delivery._guard_staging IS
'Refuses a change of a staging table unless a delivery under its agreement is not decided yet and '
'belongs to the login of the session, or to one whose rights that has. Errors: OM138. Locks: the '
'delivery FOR SHARE, until the transaction ends.';

-- Called by the check of the domain omd.next_run_indicator_code for a value that is none: what an
-- administrator writes by hand is answered in the same words as what a procedure is given. As with
-- the other guards, OMD's own routines meet the plain constraint. SECURITY INVOKER tells who asks.

CREATE OR REPLACE FUNCTION omd._refuse_next_run_indicator(
    p_value text
)
RETURNS boolean
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $refuse_next_run_indicator$
BEGIN
    IF p_value IS NOT NULL AND current_user <> 'omd_owner' THEN
        PERFORM omd.raise_error(
            'OM006',
            jsonb_build_object(
                'kind', 'next run indicator', 'code', p_value, 'codes', 'C, P, R'
            )
        );
    END IF;
    RETURN p_value IS NULL;
END
$refuse_next_run_indicator$;

COMMENT ON FUNCTION omd._refuse_next_run_indicator IS
'Refuses p_value, a text that is no Next Run Indicator: raises OM006, or answers FALSE to '
'omd_owner, so that the constraint refuses it. TRUE for NULL, which the column refuses. Locks: '
'none.';
REVOKE ALL ON FUNCTION omd._refuse_next_run_indicator FROM PUBLIC;
GRANT EXECUTE ON FUNCTION omd._refuse_next_run_indicator TO omd_admin;

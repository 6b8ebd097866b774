-- The check of the domain omd.next_run_indicator_code calls this for an invalid value, so that an
-- edit by hand gets the same words as a procedure call. As with the other guards, OMD's own
-- routines meet the plain constraint. The function is SECURITY INVOKER, so that it sees which role
-- asks.

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
'Refuses p_value, a text that is not a Next Run Indicator: it raises OM006, or returns FALSE to '
'omd_owner, so that the constraint refuses the value. It returns TRUE for NULL, which the column '
'refuses. Locks: none.';
GRANT EXECUTE ON FUNCTION omd._refuse_next_run_indicator TO omd_admin;

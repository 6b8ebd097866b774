-- Called by the check of the domain omd.next_run_indicator_code for a value that is none: what an
-- administrator writes by hand is answered in the same words as what a procedure is given.

CREATE OR REPLACE FUNCTION omd._refuse_next_run_indicator(
    p_value text
)
RETURNS boolean
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $refuse_next_run_indicator$
BEGIN
    IF p_value IS NOT NULL THEN
        PERFORM omd.raise_error(
            'OM006',
            jsonb_build_object(
                'kind', 'next run indicator', 'code', p_value, 'codes', 'C, P, R'
            )
        );
    END IF;
    RETURN TRUE;
END
$refuse_next_run_indicator$;

COMMENT ON FUNCTION omd._refuse_next_run_indicator IS
'Raises OM006 for p_value, a text that is no Next Run Indicator; NULL passes, which the column '
'refuses. Locks: none.';
REVOKE ALL ON FUNCTION omd._refuse_next_run_indicator FROM PUBLIC;
GRANT EXECUTE ON FUNCTION omd._refuse_next_run_indicator TO omd_admin;

-- The old model knows no suspensions and has no indexes for searches.

CREATE OR REPLACE FUNCTION omd_dispatch._require_new_model(
    p_family_code text
)
RETURNS void
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $require_new_model$
DECLARE
    v_status integer := omd_dispatch._migration_status(p_family_code);
BEGIN
    IF v_status < 3 THEN
        PERFORM omd.raise_error(
            'OM173',
            jsonb_build_object(
                'family_code', p_family_code,
                'status', v_status,
                'problem', 'suspensions and searches need status 3 or 4'
            )
        );
    END IF;
END
$require_new_model$;

COMMENT ON FUNCTION omd_dispatch._require_new_model IS
'Refuses a family p_family_code whose master is the old model. Errors: OM173. Locks: none.';

-- Whoever needs a family reads its row here, so an unknown one always has the same error.

CREATE OR REPLACE FUNCTION omd_dispatch._require_family(
    p_family_code text
)
RETURNS omd_dispatch.task_conf_family_desc
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $require_family$
DECLARE
    v_family omd_dispatch.task_conf_family_desc;
BEGIN
    p_family_code := omd.require_argument('p_family_code', p_family_code);
    SELECT f.* INTO v_family
    FROM omd_dispatch.task_conf_family_desc AS f
    WHERE f.family_code = p_family_code;
    IF NOT FOUND THEN
        PERFORM omd.raise_error(
            'OM070', jsonb_build_object('family_code', left(p_family_code, 60))
        );
    END IF;
    RETURN v_family;
END
$require_family$;

COMMENT ON FUNCTION omd_dispatch._require_family IS
'Returns the family p_family_code. Errors: OM005: p_family_code is NULL; OM070: it is unknown. '
'Locks: none.';

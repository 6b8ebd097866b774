-- Every routine that takes a Module by its code calls this, so all of them refuse an unknown one
-- alike.

CREATE OR REPLACE FUNCTION omd._require_module(
    p_module_code text
)
RETURNS integer
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $require_module$
DECLARE
    v_module_id integer;
BEGIN
    SELECT m.module_id INTO v_module_id FROM omd.module AS m WHERE m.module_code = p_module_code;
    IF NOT FOUND THEN
        p_module_code := omd.require_argument('p_module_code', p_module_code);
        PERFORM omd.raise_error(
            'OM002',
            jsonb_strip_nulls(
                jsonb_build_object(
                    'module_code', p_module_code,
                    'did_you_mean', omd.did_you_mean(
                        p_module_code, (SELECT array_agg(m.module_code) FROM omd.module AS m)
                    )
                )
            )
        );
    END IF;
    RETURN v_module_id;
END
$require_module$;

COMMENT ON FUNCTION omd._require_module IS
'Returns the module_id of a Module code. Errors: OM005 (NULL), OM002 (unknown). Locks: none.';

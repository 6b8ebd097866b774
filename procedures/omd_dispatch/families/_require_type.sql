-- Whoever needs a type of tasks reads its row here, so an unknown one always has the same error.

CREATE OR REPLACE FUNCTION omd_dispatch._require_type(
    p_family_code text,
    p_task_type text
)
RETURNS omd_dispatch.task_conf_type_desc
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $require_type$
DECLARE
    v_type omd_dispatch.task_conf_type_desc;
BEGIN
    SELECT t.* INTO v_type
    FROM omd_dispatch.task_conf_type_desc AS t
    WHERE t.family_code = p_family_code AND t.task_type = p_task_type;
    IF NOT FOUND THEN
        PERFORM omd_dispatch._require_family(p_family_code);
        p_task_type := omd.require_argument('p_task_type', p_task_type);
        PERFORM omd.raise_error(
            'OM071',
            jsonb_build_object('family_code', p_family_code, 'task_type', left(p_task_type, 60))
        );
    END IF;
    RETURN v_type;
END
$require_type$;

COMMENT ON FUNCTION omd_dispatch._require_type IS
'Returns the type p_task_type of the family p_family_code. Errors: OM005: an argument is NULL; '
'OM070: the family is unknown; OM071: the type is unknown. Locks: none.';

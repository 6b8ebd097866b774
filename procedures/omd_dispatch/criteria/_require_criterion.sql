-- A setting of a criterion has a foreign key to the model; the error here says what the model has.

CREATE OR REPLACE FUNCTION omd_dispatch._require_criterion(
    p_family_code text,
    p_criterion text
)
RETURNS void
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $require_criterion$
BEGIN
    p_criterion := omd.require_argument('p_criterion', p_criterion);
    IF NOT EXISTS (
        SELECT FROM omd_dispatch.task_conf_family_model AS m
        WHERE m.family_code = p_family_code AND m.criterion = p_criterion
    ) THEN
        PERFORM omd.raise_error(
            'OM075',
            jsonb_build_object(
                'family_code', p_family_code,
                'criterion', left(p_criterion, 60),
                'criteria', (
                    SELECT string_agg(m.criterion, ', ' ORDER BY m.criterion)
                    FROM omd_dispatch.task_conf_family_model AS m
                    WHERE m.family_code = p_family_code
                )
            )
        );
    END IF;
END
$require_criterion$;

COMMENT ON FUNCTION omd_dispatch._require_criterion IS
'Refuses a criterion p_criterion that the family p_family_code does not have. Errors: OM005: '
'p_criterion is NULL; OM075: the family lacks it. Locks: none.';

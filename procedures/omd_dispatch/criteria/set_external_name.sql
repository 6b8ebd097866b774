-- A name that is also a criterion of the family would mean two things.

CREATE OR REPLACE PROCEDURE omd_dispatch.set_external_name(
    p_family_code text,
    p_task_type text,
    p_criterion text,
    p_external_name text
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $set_external_name$
BEGIN
    PERFORM omd_dispatch._require_type(p_family_code, p_task_type);
    PERFORM omd_dispatch._require_criterion(p_family_code, p_criterion);
    IF p_external_name IS NULL THEN
        DELETE FROM omd_dispatch.task_conf_dict AS d
        WHERE d.family_code = p_family_code
            AND d.task_type = p_task_type
            AND d.criterion = p_criterion;
        RETURN;
    END IF;
    PERFORM omd.require_name('p_external_name', p_external_name);
    IF EXISTS (
        SELECT FROM omd_dispatch.task_conf_family_model AS m
        WHERE m.family_code = p_family_code AND m.criterion = p_external_name
        UNION ALL
        SELECT FROM omd_dispatch.task_conf_dict AS d
        WHERE d.family_code = p_family_code
            AND d.task_type = p_task_type
            AND d.external_name = p_external_name
            AND d.criterion <> p_criterion
    ) THEN
        PERFORM omd.raise_error(
            'OM013',
            jsonb_build_object(
                'argument', 'p_external_name',
                'value', left(p_external_name, 60),
                'expected', 'a name that no criterion of the type has'
            )
        );
    END IF;
    INSERT INTO omd_dispatch.task_conf_dict AS d (
        family_code, task_type, criterion, external_name
    )
    VALUES (p_family_code, p_task_type, p_criterion, p_external_name)
    ON CONFLICT (family_code, task_type, criterion)
    DO UPDATE SET external_name = excluded.external_name
    WHERE d.external_name <> excluded.external_name;
END
$set_external_name$;

COMMENT ON PROCEDURE omd_dispatch.set_external_name IS
'Gives the criterion p_criterion of the type p_task_type in p_family_code a second name. '
'p_external_name: the name, which callers may use when they create tasks; NULL takes it away. '
'Errors: OM005: another argument is NULL; OM013: the name has another meaning; OM070, OM071, '
'OM075: family, type or criterion is unknown. Locks: the row of the name. Call again when the '
'answer was lost.';
GRANT EXECUTE ON PROCEDURE omd_dispatch.set_external_name TO omd_admin;

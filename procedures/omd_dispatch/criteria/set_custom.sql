-- A task keeps the key under which it was created, so a key criterion may change its mode at any
-- time.

CREATE OR REPLACE PROCEDURE omd_dispatch.set_custom(
    p_family_code text,
    p_task_type text,
    p_criterion text,
    p_mode text
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $set_custom$
BEGIN
    PERFORM omd_dispatch._require_type(p_family_code, p_task_type);
    PERFORM omd_dispatch._require_criterion(p_family_code, p_criterion);
    IF p_mode NOT IN ('D', 'O') THEN
        PERFORM omd.raise_error(
            'OM013',
            jsonb_build_object(
                'argument', 'p_mode',
                'value', left(p_mode, 60),
                'expected', 'D: forbidden, O: optional, or NULL: it must be given'
            )
        );
    ELSIF p_mode IS NULL THEN
        DELETE FROM omd_dispatch.task_conf_custom AS c
        WHERE c.family_code = p_family_code
            AND c.task_type = p_task_type
            AND c.criterion = p_criterion;
    ELSE
        INSERT INTO omd_dispatch.task_conf_custom AS c (family_code, task_type, criterion, mode)
        VALUES (p_family_code, p_task_type, p_criterion, p_mode)
        ON CONFLICT (family_code, task_type, criterion) DO UPDATE SET mode = excluded.mode
        WHERE c.mode <> excluded.mode;
    END IF;
    CALL omd_dispatch._make_job_tables(p_family_code);
END
$set_custom$;

COMMENT ON PROCEDURE omd_dispatch.set_custom IS
'Says how the type p_task_type of the family p_family_code treats the criterion p_criterion. '
'p_mode: D: it is forbidden; O: it is optional; NULL: it must be given. Tasks that exist stay as '
'they are. Errors: OM005: an argument but p_mode is NULL; OM013: p_mode; OM070, OM071, OM075: '
'family, type or criterion is unknown. Locks: the row of the setting. Call again when the answer '
'was lost.';
GRANT EXECUTE ON PROCEDURE omd_dispatch.set_custom TO omd_admin;

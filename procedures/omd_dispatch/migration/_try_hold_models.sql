-- A claim holds the models of all families of its group, in one statement: one for each takes some
-- 5 percent of the time of a claim of one task.

CREATE OR REPLACE FUNCTION omd_dispatch._try_hold_models(
    p_group text
)
RETURNS text[]
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $try_hold_models$
DECLARE
    v_families text[];
    v_tables text;
BEGIN
    SELECT
        array_agg(f.family_code),
        string_agg(format('omd_dispatch.%I', 'task_model_' || lower(f.family_code)), ', ')
    INTO v_families, v_tables
    FROM (
        SELECT DISTINCT t.family_code FROM omd_dispatch.task_conf_type_desc AS t
        WHERE t.deliver_id = p_group
    ) AS f;
    IF v_tables IS NOT NULL THEN
        EXECUTE format('LOCK TABLE %s IN ROW SHARE MODE NOWAIT', v_tables);
    END IF;
    RETURN '{}'::text[];
EXCEPTION
    WHEN lock_not_available THEN
        RETURN ARRAY(
            SELECT f FROM unnest(v_families) AS f WHERE NOT omd_dispatch._try_hold_model(f)
        );
END
$try_hold_models$;

COMMENT ON FUNCTION omd_dispatch._try_hold_models IS
'Keeps the models of the families whose tasks the group p_group takes until the end of the '
'transaction, and returns those of them that somebody changes at this moment. Locks: the models, '
'shared.';

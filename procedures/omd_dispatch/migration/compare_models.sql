-- Finished tasks are history; the next master needs the live ones.

CREATE OR REPLACE FUNCTION omd_dispatch.compare_models(
    p_family_code text
)
RETURNS TABLE (
    task_id bigint,
    kind text,
    detail text
)
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET datestyle = 'ISO, YMD'
SET timezone = 'UTC'
AS $compare_models$
DECLARE
    v_status integer;
BEGIN
    PERFORM omd_dispatch._require_family(p_family_code);
    v_status := omd_dispatch._migration_status(p_family_code);
    IF v_status IN (0, 4) THEN
        RETURN;
    END IF;
    RETURN QUERY EXECUTE format(
        $sql$
        SELECT
            coalesce(m.task_id, c.task_id),
            CASE
                WHEN c.image IS NULL THEN 'MISSING'
                WHEN m.image IS NULL THEN 'EXTRA'
                ELSE 'DIFFERENT'
            END,
            omd_dispatch._image_difference(m.image, c.image)
        FROM (
            SELECT t.task_id, omd_dispatch._task_image(to_jsonb(t), %1$s) AS image
            FROM %2$s AS t WHERE t.status IN ('PENDING', 'CLAIMED')
        ) AS m
        FULL JOIN (
            SELECT t.task_id, omd_dispatch._task_image(to_jsonb(t), %3$s) AS image
            FROM %4$s AS t WHERE t.status IN ('PENDING', 'CLAIMED')
        ) AS c ON m.task_id = c.task_id
        WHERE m.image IS DISTINCT FROM c.image
        ORDER BY 1
        $sql$,
        omd_dispatch._criteria_sql(p_family_code, v_status = 3),
        omd_dispatch._model_table(p_family_code, v_status = 3),
        omd_dispatch._criteria_sql(p_family_code, v_status < 3),
        omd_dispatch._model_table(p_family_code, v_status < 3)
    );
END
$compare_models$;

COMMENT ON FUNCTION omd_dispatch.compare_models IS
'Returns the live tasks of p_family_code in which the two models differ; none at status 0 and 4. '
'kind: MISSING: the copy lacks the task; EXTRA: only the copy has it; DIFFERENT: in the columns '
'that detail names. Errors: OM005: p_family_code is NULL; OM070: it is unknown. Locks: none. May '
'be NULL: detail.';
GRANT EXECUTE ON FUNCTION omd_dispatch.compare_models TO omd_reader;

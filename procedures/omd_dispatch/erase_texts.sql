-- Each family has a table of its own, in both models.

CREATE OR REPLACE FUNCTION omd_dispatch.erase_texts(
    p_texts text[]
)
RETURNS TABLE (table_code text, row_count bigint)
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $erase_texts$
BEGIN
    RETURN QUERY
    SELECT t.name, omd.mask_columns(t.name, t.columns::text[], p_texts)
    FROM (
        SELECT omd_dispatch._model_table(f.family_code, m.is_new) AS name, '{error,payload}' AS columns
        FROM omd_dispatch.task_conf_family_desc AS f
        CROSS JOIN (VALUES (TRUE), (FALSE)) AS m (is_new)
        UNION ALL
        VALUES
        ('omd_dispatch.task_schedule', '{criteria,payload,problem}'),
        ('omd_dispatch.task_schedule_rest', '{task}'),
        ('omd_dispatch.task_source', '{problem}'),
        ('omd_dispatch.task_suspension', '{reason}')
    ) AS t
    WHERE to_regclass(t.name) IS NOT NULL
    ORDER BY t.name;
END
$erase_texts$;

COMMENT ON FUNCTION omd_dispatch.erase_texts IS
'For rooms: Masks p_texts, as omd.mask_text does, in what people, programs and errors have written '
'into tables of the room, and returns how many rows of which table it changed. Locks: these rows.';
REVOKE ALL ON FUNCTION omd_dispatch.erase_texts FROM PUBLIC;

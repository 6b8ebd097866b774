-- Tasks of a family hold a key where somebody has registered the family as a table that does.

CREATE OR REPLACE FUNCTION omd_dispatch.erase_subject(
    p_subject jsonb
)
RETURNS TABLE (
    layer text,
    table_code text,
    outcome text,
    key_count bigint,
    row_count bigint,
    remark text,
    tables text[]
)
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $erase_subject$
BEGIN
    RETURN QUERY
    SELECT
        'TASK', h.table_code, e.outcome, NULL::bigint, e.row_count, e.remark, e.tables
    FROM jsonb_array_elements(p_subject -> 'holders') WITH ORDINALITY AS o (holder, n)
    CROSS JOIN LATERAL jsonb_to_record(o.holder) AS h (
        table_code text, action text, columns jsonb
    )
    CROSS JOIN LATERAL omd_dispatch._erase_tasks(
        substr(h.table_code, 14), h.columns, p_subject -> 'keys', h.action = 'NULL'
    ) AS e
    WHERE h.action IS NOT NULL AND starts_with(h.table_code, 'omd_dispatch.')
    ORDER BY o.n, e.outcome;
END
$erase_subject$;

COMMENT ON FUNCTION omd_dispatch.erase_subject IS
'For rooms: Erases the subject p_subject, {"keys", "holders": [{"table_code", "action", '
'"columns"}]}, from the tasks of the families that hold it. Returns what left which family. Locks: '
'those of _erase_tasks.';

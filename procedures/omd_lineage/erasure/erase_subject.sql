-- What a step has replaced is a copy of a row of its table.

CREATE OR REPLACE FUNCTION omd_lineage.erase_subject(
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
        'TABLE', e.table_code,
        CASE h.action WHEN 'NULL' THEN 'NULLED' ELSE 'DELETED' END,
        NULL::bigint, e.row_count,
        format('copies of rows of %s that were replaced', h.table_code), NULL::text[]
    FROM jsonb_array_elements(p_subject -> 'holders') WITH ORDINALITY AS o (holder, n)
    CROSS JOIN LATERAL jsonb_to_record(o.holder) AS h (
        table_code text, action text, columns jsonb, relations text[]
    )
    CROSS JOIN LATERAL omd_lineage._erase_replaced(
        h.table_code, h.columns, p_subject -> 'keys', h.action = 'NULL'
    ) AS e
    WHERE h.action IS NOT NULL AND h.relations IS NOT NULL
    ORDER BY o.n;
END
$erase_subject$;

COMMENT ON FUNCTION omd_lineage.erase_subject IS
'For rooms: Erases the subject p_subject, {"keys", "holders": [{"table_code", "action", "columns", '
'"relations"}]}, from the rows that steps have replaced in tables that hold it. Returns what left '
'them. Locks: these rows.';

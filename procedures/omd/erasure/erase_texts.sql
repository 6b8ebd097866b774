-- The list has the columns of all rooms, so none is forgotten (tests/house/test_texts.py). What a
-- routine makes it names by patterns; the parts of a table are reached by the table. The log is the
-- last, since edits of other tables are written into it.

CREATE OR REPLACE FUNCTION omd.erase_texts(
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
    SELECT t.name, omd.mask_columns(t.name, t.columns, p_texts)
    FROM (
        SELECT n.name, array_agg(a.attname::text ORDER BY a.attnum) AS columns
        FROM pg_class AS c
        CROSS JOIN LATERAL (
            SELECT format('%s.%I', c.relnamespace::regnamespace, c.relname)
        ) AS n (name)
        INNER JOIN pg_attribute AS a
            ON c.oid = a.attrelid
                AND a.attnum > 0
                AND NOT a.attisdropped
                AND a.atttypid IN ('text'::regtype, 'jsonb'::regtype)
        WHERE c.relkind IN ('r', 'p')
            AND c.relnamespace::regnamespace::text ~ '^omd(_|$)'
            AND NOT EXISTS (SELECT FROM pg_inherits AS h WHERE h.inhrelid = c.oid)
            AND EXISTS (
                SELECT FROM omd.text_column AS x
                WHERE x.treatment = 'ERASED'
                    AND n.name LIKE x.table_code
                    AND a.attname LIKE x.column_name
            )
        GROUP BY n.name
    ) AS t
    ORDER BY t.name = 'omd.event_log', t.name COLLATE "C";
END
$erase_texts$;

COMMENT ON FUNCTION omd.erase_texts IS
'For rooms: Masks p_texts, as omd.mask_text does, in what people, programs and errors have written '
'into tables of OMD (the columns that omd.text_column has as ERASED), and returns how many rows of '
'which table it changed. Locks: these rows.';

-- Errors of steps are in the log of process control.

CREATE OR REPLACE FUNCTION omd_lineage.erase_texts(
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
        VALUES
        ('omd_lineage.offsets', '{state}'::text[]),
        ('omd_lineage.replaced_row', '{content}'),
        ('omd_lineage.source_probe', '{problem,shown_problem}')
    ) AS t (name, columns);
END
$erase_texts$;

COMMENT ON FUNCTION omd_lineage.erase_texts IS
'For rooms: Masks p_texts, as omd.mask_text does, in what people, programs and errors have written '
'into tables of the room, and returns how many rows of which table it changed. Locks: these rows.';
REVOKE ALL ON FUNCTION omd_lineage.erase_texts FROM PUBLIC;

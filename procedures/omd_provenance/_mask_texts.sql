-- Reasons are written by people.

CREATE OR REPLACE FUNCTION omd_provenance._mask_texts(
    p_texts text[]
)
RETURNS TABLE (table_code text, row_count bigint)
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $mask_texts$
BEGIN
    table_code := 'omd_provenance.recall';
    row_count := omd.mask_columns(table_code, '{reason}', p_texts);
    RETURN NEXT;
    table_code := 'omd_provenance.recall_item';
    row_count := omd.mask_columns(table_code, '{problem}', p_texts);
    RETURN NEXT;
END
$mask_texts$;

COMMENT ON FUNCTION omd_provenance._mask_texts IS
'Masks p_texts in the recalls, and returns how many rows it changed. Locks: these rows.';
REVOKE ALL ON FUNCTION omd_provenance._mask_texts FROM PUBLIC;

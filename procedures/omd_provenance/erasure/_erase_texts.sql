-- A reason of a recall is a text of a person like any other.

CREATE OR REPLACE FUNCTION omd_provenance._erase_texts(
    p_texts text[]
)
RETURNS jsonb
LANGUAGE sql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $erase_texts$
SELECT coalesce(
    jsonb_agg(
        jsonb_build_object(
            'layer', 'TEXT', 'table_code', e.table_code, 'outcome', 'MASKED', 'key_count', NULL,
            'row_count', e.row_count, 'text', NULL
        )
        ORDER BY e.table_code
    ),
    '[]'
)
FROM omd.erase_texts(p_texts) AS e
WHERE e.row_count > 0
$erase_texts$;

COMMENT ON FUNCTION omd_provenance._erase_texts IS
'Masks p_texts wherever the rooms keep what people and errors have said, and returns the items. '
'Locks: the rows.';
GRANT EXECUTE ON FUNCTION omd_provenance._erase_texts TO omd_admin;

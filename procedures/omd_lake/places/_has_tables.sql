-- A Delta table has no row in the catalogue; its writes and commits tell of it.

CREATE OR REPLACE FUNCTION omd_lake._has_tables(
    p_namespace text
)
RETURNS boolean
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        EXISTS (
            SELECT FROM omd_lake.iceberg_tables AS t
            WHERE t.catalog_name = 'omd' AND t.table_namespace = p_namespace
        )
        OR EXISTS (
            SELECT FROM omd_lake.write_folder AS w
            WHERE
                starts_with(w.table_code, quote_ident(p_namespace) || '.')
                AND cardinality(parse_ident(w.table_code)) = 2
        )
        OR EXISTS (
            SELECT FROM omd_lake.table_commit AS c
            WHERE
                starts_with(c.table_code, quote_ident(p_namespace) || '.')
                AND cardinality(parse_ident(c.table_code)) = 2
        );
END;

COMMENT ON FUNCTION omd_lake._has_tables IS
'Returns whether the namespace p_namespace (without quotes) has tables, or has had any. Locks: '
'none.';

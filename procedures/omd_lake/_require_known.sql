-- A Delta table, or one of another catalogue, is known by its commits.

CREATE OR REPLACE FUNCTION omd_lake._require_known(
    p_table_code text
)
RETURNS void
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $require_known$
BEGIN
    IF NOT EXISTS (
        SELECT FROM omd_lake.table_commit AS c
        WHERE c.table_code = p_table_code
        UNION ALL
        SELECT FROM omd_lake._catalogue_name(p_table_code) AS n
        INNER JOIN omd_lake.iceberg_tables AS t
            ON t.table_namespace = n.p_namespace AND t.table_name = n.p_name
        WHERE t.catalog_name = 'omd' AND t.iceberg_type IS DISTINCT FROM 'VIEW'
    ) THEN
        PERFORM omd.raise_error('OM020', jsonb_build_object('table_code', p_table_code));
    END IF;
END
$require_known$;

COMMENT ON FUNCTION omd_lake._require_known IS
'Refuses a table p_table_code that has no commit and is not in the catalogue. Errors: OM020. '
'Locks: none.';
REVOKE ALL ON FUNCTION omd_lake._require_known FROM PUBLIC;

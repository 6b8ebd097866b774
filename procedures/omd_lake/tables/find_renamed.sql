-- Other engines rename a table in the catalogue; it stays in its folder. A table that was made anew
-- in the same folder is another one, so what counts is the newest commit.

CREATE OR REPLACE FUNCTION omd_lake.find_renamed(
    p_table_code text,
    OUT p_renamed_to text
)
RETURNS text
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $find_renamed$
DECLARE
    v_table_code text := omd_lake._spell_table(p_table_code);
    v_location text;
BEGIN
    IF EXISTS (
        SELECT FROM omd_lake._catalogue_name(v_table_code) AS n
        INNER JOIN omd_lake.iceberg_tables AS t
            ON t.table_namespace = n.p_namespace AND t.table_name = n.p_name
        WHERE t.catalog_name = 'omd'
    ) THEN
        RETURN;
    END IF;
    SELECT omd_lake._location_of(c.metadata_location) INTO v_location
    FROM omd_lake.table_commit AS c
    WHERE c.table_code = v_table_code
    ORDER BY c.commit_datetime DESC, c.sequence_number DESC
    LIMIT 1;
    SELECT format('%I.%I', t.table_namespace, t.table_name) INTO p_renamed_to
    FROM omd_lake.iceberg_tables AS t
    WHERE t.catalog_name = 'omd'
        AND t.iceberg_type IS DISTINCT FROM 'VIEW'
        AND omd_lake._plain_location(omd_lake._location_of(t.metadata_location))
        = omd_lake._plain_location(v_location)
    ORDER BY 1
    LIMIT 1;
END
$find_renamed$;

COMMENT ON FUNCTION omd_lake.find_renamed IS
'For the driver: '
'Returns p_renamed_to: the table of the catalogue that lies where the newest commit of the table '
'p_table_code put it, if that one is not in the catalogue any more; NULL: there is none, or it is. '
'Errors: OM005, OM009, OM013. Locks: none. May be NULL: p_renamed_to.';
GRANT EXECUTE ON FUNCTION omd_lake.find_renamed TO omd_reader;

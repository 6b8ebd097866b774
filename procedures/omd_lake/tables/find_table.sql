-- A driver reads this in the transaction of its snapshot, so that all that a run reads is of one
-- moment.

CREATE OR REPLACE FUNCTION omd_lake.find_table(
    p_table_code text,
    p_table_format_code text DEFAULT NULL
)
RETURNS TABLE (
    table_code text,
    table_format_code text,
    location text,
    metadata_location text
)
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $find_table$
DECLARE
    v_formats text[];
BEGIN
    table_code := omd_lake._spell_table(p_table_code);
    table_format_code := omd.require_code('table format', p_table_format_code);
    IF table_format_code IS NULL THEN
        SELECT array_agg(DISTINCT coalesce(t.table_format_code, t.platform_code)) INTO v_formats
        FROM omd.module_target AS t
        WHERE t.table_code = find_table.table_code;
        IF cardinality(v_formats) > 1 THEN
            PERFORM omd.raise_error(
                'OM221',
                jsonb_build_object(
                    'table_code', table_code, 'formats', array_to_string(v_formats, ', ')
                )
            );
        END IF;
        table_format_code := nullif(nullif(v_formats[1], 'POSTGRES'), 'SPARK');
    END IF;
    IF table_format_code IN ('ICEBERG', 'DELTA') THEN
        location := omd_lake._location(table_code);
    END IF;
    IF table_format_code = 'ICEBERG' THEN
        SELECT t.metadata_location::text INTO metadata_location
        FROM omd_lake._catalogue_name(table_code) AS n
        INNER JOIN omd_lake.iceberg_tables AS t
            ON t.table_namespace = n.p_namespace AND t.table_name = n.p_name
        WHERE t.catalog_name = 'omd' AND t.iceberg_type IS DISTINCT FROM 'VIEW';
    END IF;
    RETURN NEXT;
END
$find_table$;

COMMENT ON FUNCTION omd_lake.find_table IS
'For the driver: '
'One row: the table p_table_code in its one spelling, its format (p_table_format_code, or that of '
'the Modules that load it; NULL: neither tells one), its folder and, for ICEBERG, its metadata '
'file in the catalogue (NULL: it is not there). Errors: OM005, OM006, OM009, OM013, OM220, OM221: '
'Modules load it in two formats. Locks: none. May be NULL: table_format_code, location, '
'metadata_location.';
GRANT EXECUTE ON FUNCTION omd_lake.find_table TO omd_reader;

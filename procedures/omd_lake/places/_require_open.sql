-- A namespace with another location may still have tables whose files lie in the former one.

CREATE OR REPLACE FUNCTION omd_lake._require_open(
    p_tables text[]
)
RETURNS void
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $require_open$
DECLARE
    v_table record;
BEGIN
    IF NOT EXISTS (SELECT FROM omd_lake.closed_location) THEN
        RETURN;
    END IF;
    SELECT
        n.p_namespace,
        t.table_code,
        l.location
    INTO v_table
    FROM unnest(p_tables) AS t (table_code)
    CROSS JOIN LATERAL omd_lake._catalogue_name(t.table_code) AS n
    LEFT JOIN omd_lake.iceberg_tables AS i
        ON
            i.catalog_name = 'omd'
            AND n.p_namespace = i.table_namespace
            AND n.p_name = i.table_name
    CROSS JOIN LATERAL (
        VALUES
            (omd_lake._default_location(t.table_code)),
            (omd_lake._location_of(i.metadata_location::text))
    ) AS l (location)
    WHERE omd_lake._is_closed(l.location)
    ORDER BY t.table_code
    LIMIT 1;
    IF FOUND THEN
        PERFORM omd.raise_error(
            'OM110',
            jsonb_build_object(
                'table_code', v_table.table_code,
                'location', v_table.location,
                'namespace', v_table.p_namespace,
                'namespace_literal', quote_literal(quote_ident(v_table.p_namespace))
            )
        );
    END IF;
END
$require_open$;

COMMENT ON FUNCTION omd_lake._require_open IS
'Refuses the tables p_tables where one lies in a location of the installation that this one is a '
'copy of. Errors: OM110. Locks: none.';

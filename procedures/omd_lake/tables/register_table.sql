-- Two runs may create a table at the same moment: the first one's row stays, and the other one
-- takes the table as it finds it. Runs make their tables by create_table; this one takes any
-- metadata file, and from then on maintenance deletes in the folder where it lies. Whether the file
-- exists is not seen from the database; the driver looks.

CREATE OR REPLACE PROCEDURE omd_lake.register_table(
    p_table_code text,
    p_metadata_location text,
    INOUT p_is_new boolean DEFAULT NULL
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $register_table$
DECLARE
    v_table_code text := omd_lake._spell_table(p_table_code);
    v_name record := omd_lake._catalogue_name(v_table_code);
    v_expected text;
BEGIN
    PERFORM omd.require_name('p_metadata_location', p_metadata_location);
    v_expected := CASE
        WHEN v_name.p_name IS NULL
            THEN 'namespace.table; one of three parts is in another catalogue'
        WHEN greatest(length(v_name.p_namespace), length(v_name.p_name)) > 255
            THEN 'made of names of at most 255 characters'
    END;
    IF v_expected IS NOT NULL THEN
        PERFORM omd.raise_error(
            'OM013',
            jsonb_build_object(
                'argument', 'p_table_code', 'value', left(p_table_code, 60),
                'expected', v_expected
            )
        );
    ELSIF length(p_metadata_location) > 1000 THEN
        PERFORM omd.raise_error(
            'OM013',
            jsonb_build_object(
                'argument', 'p_metadata_location', 'value', left(p_metadata_location, 60),
                'expected', 'at most 1000 characters long'
            )
        );
    END IF;
    PERFORM omd_lake._location(v_table_code);
    IF omd_lake._is_closed(omd_lake._location_of(p_metadata_location)) THEN
        PERFORM omd.raise_error(
            'OM013',
            jsonb_build_object(
                'argument', 'p_metadata_location', 'value', left(p_metadata_location, 60),
                'expected', 'outside of the lake of the installation that this one is a copy of'
            )
        );
    END IF;

    INSERT INTO omd_lake.iceberg_tables (
        catalog_name, table_namespace, table_name, metadata_location, iceberg_type
    )
    VALUES ('omd', v_name.p_namespace, v_name.p_name, p_metadata_location, 'TABLE')
    ON CONFLICT (catalog_name, table_namespace, table_name) DO UPDATE SET
        metadata_location = excluded.metadata_location,
        previous_metadata_location = NULL
    WHERE omd_lake._is_closed(omd_lake._location_of(iceberg_tables.metadata_location::text));
    p_is_new := FOUND;
END
$register_table$;

COMMENT ON PROCEDURE omd_lake.register_table IS
'Enters the Iceberg table p_table_code, which may exist elsewhere already, into the catalogue. '
'p_metadata_location: its metadata file, which exists. Returns p_is_new: FALSE, a table of this '
'name is there and stays as it is, unless it is that of the installation that this one is a copy '
'of. Errors: OM005, OM009, OM013, OM220. Locks: the row of the '
'table.';
GRANT EXECUTE ON PROCEDURE omd_lake.register_table TO omd_admin;

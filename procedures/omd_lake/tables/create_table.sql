-- A run makes a table that is missing. But one with rows of runs that stand was lost or renamed,
-- and an empty one in its place would hide that. Who has a reason to begin anew says so:
-- register_table is omd_admin's. A table outside of this catalogue has no row here; the driver asks
-- before it makes it.

CREATE OR REPLACE PROCEDURE omd_lake.create_table(
    p_module_instance_id bigint,
    p_table_code text,
    p_metadata_location text DEFAULT NULL,
    INOUT p_is_new boolean DEFAULT NULL
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $create_table$
DECLARE
    v_table_code text := omd_lake._spell_table(p_table_code);
    v_name record := omd_lake._catalogue_name(v_table_code);
    v_location text := omd_lake._location(v_table_code);
    v_given text := omd_lake._location_of(p_metadata_location);
    v_commit record;
    v_renamed_to text;
BEGIN
    p_module_instance_id := omd.require_argument('p_module_instance_id', p_module_instance_id);
    IF omd.instance_lives(p_module_instance_id) IS NOT TRUE THEN
        CALL omd.fence(p_module_instance_id);
    END IF;
    PERFORM omd_lake._require_open(ARRAY[v_table_code]);
    IF p_metadata_location IS NOT NULL THEN
        IF omd_lake._lies_within(v_location, v_given) AND omd_lake._lies_within(v_given, v_location)
        THEN
            p_is_new := NOT EXISTS (
                SELECT FROM omd_lake.iceberg_tables AS t
                WHERE t.catalog_name = 'omd'
                    AND t.table_namespace = v_name.p_namespace
                    AND t.table_name = v_name.p_name
            );
        ELSE
            PERFORM omd.raise_error(
                'OM013',
                jsonb_build_object(
                    'argument', 'p_metadata_location',
                    'value', left(p_metadata_location, 200),
                    'expected', coalesce(
                        format('a metadata file in %s/metadata', v_location),
                        'NULL: the table lies in another catalogue'
                    )
                )
            );
        END IF;
        IF NOT p_is_new THEN
            RETURN;
        END IF;
    END IF;

    SELECT c.commit_id, c.module_instance_id, c.metadata_location, c.table_format_code
    INTO v_commit
    FROM omd_lake.table_commit AS c
    WHERE c.table_code = v_table_code
        AND c.table_format_code = CASE
            WHEN p_metadata_location IS NULL AND v_name.p_name IS NOT NULL THEN 'DELTA'
            ELSE 'ICEBERG'
        END
        AND c.operation IN ('APPEND', 'OVERWRITE', 'HISTORY')
        AND c.module_instance_id IS NOT NULL
        AND c.module_instance_id <> ALL(omd.undone_instances(ARRAY[c.module_instance_id]))
    ORDER BY c.commit_datetime DESC, c.sequence_number DESC
    LIMIT 1;
    IF FOUND THEN
        v_renamed_to := omd_lake.find_renamed(v_table_code);
        PERFORM omd.raise_error(
            'OM122',
            jsonb_build_object(
                'table_code', v_table_code,
                'module_instance_id', v_commit.module_instance_id,
                'commit_id', v_commit.commit_id,
                'metadata_location', v_commit.metadata_location,
                'renamed_to', v_renamed_to,
                'now_named', coalesce(format('; what it was is now %s', v_renamed_to), ''),
                'way_out', CASE
                    WHEN v_renamed_to IS NOT NULL THEN format(
                        'Give %s its name back, or enter the metadata file of an empty table, if '
                        'it is meant to begin anew: omd_lake.register_table.', v_renamed_to
                    )
                    WHEN p_metadata_location IS NOT NULL THEN format(
                        'CALL omd_lake.register_table(%L, %L); or the metadata file of an empty '
                        'table, if it is meant to begin anew.',
                        v_table_code, v_commit.metadata_location
                    )
                    ELSE
                        'Put the table back, or create it, empty, with another engine if it is '
                        'meant to begin anew.'
                END
            )
        );
    END IF;
    IF p_metadata_location IS NOT NULL THEN
        CALL omd_lake.register_table(v_table_code, p_metadata_location, p_is_new);
    END IF;
END
$create_table$;

COMMENT ON PROCEDURE omd_lake.create_table IS
'For the driver: '
'Enters a new, empty Iceberg table into the catalogue for a run. p_module_instance_id: the run. '
'p_table_code: the table. p_metadata_location: its metadata file, in the folder that its namespace '
'has for the table; NULL: the table is of Delta or of another catalogue, and this only tells '
'whether it may be made. Returns p_is_new: FALSE, a table of this name is there and stays as it '
'is; NULL, nothing was entered. Errors: OM004, OM005, OM009, OM013, OM101, OM102, OM107, OM110, '
'OM122: runs that stand have written to such a table, and it is gone or renamed, OM220. Locks: the '
'row of the table. May be NULL: p_is_new.';
GRANT EXECUTE ON PROCEDURE omd_lake.create_table TO omd_runner;

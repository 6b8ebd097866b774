-- All that a write into a lake table needs of the database comes in one call, and the folder of its
-- files is announced by it. Only the other catalogue knows where a table of its own lies: the
-- driver announces that folder when it has asked there.

CREATE OR REPLACE FUNCTION omd_lake.begin_write(
    p_module_instance_id bigint,
    p_table_code text,
    p_table_format_code text
)
RETURNS TABLE (
    table_code text,
    location text,
    metadata_location text,
    write_number bigint,
    insert_datetime timestamptz,
    folder text
)
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $begin_write$
DECLARE
    v_location text;
BEGIN
    p_table_format_code := omd.require_argument('p_table_format_code', p_table_format_code);
    SELECT f.table_code, f.location, f.metadata_location
    INTO table_code, location, metadata_location
    FROM omd_lake.find_table(p_table_code, p_table_format_code) AS f;
    PERFORM omd_lake._require_open(ARRAY[begin_write.table_code]);
    SELECT w.write_number, w.insert_datetime INTO write_number, insert_datetime
    FROM omd.begin_write(p_module_instance_id) AS w;
    v_location := coalesce(omd_lake._location_of(metadata_location), location);
    IF v_location IS NOT NULL THEN
        folder := format('%s/data/omd/%s/%s', v_location, p_module_instance_id, write_number);
        CALL omd_lake.announce_write(p_module_instance_id, write_number, table_code, folder);
    END IF;
    RETURN NEXT;
END
$begin_write$;

COMMENT ON FUNCTION omd_lake.begin_write IS
'For the driver: '
'One row: what the Module Instance p_module_instance_id needs for one write into the table '
'p_table_code of the format p_table_format_code: what find_table answers, what omd.begin_write '
'answers, and the folder for its files, which is announced as by announce_write; of a table of '
'another catalogue, neither location nor folder. Errors: OM004, OM005, OM006, OM009, OM013, OM101, '
'OM102, OM107, OM110: the table is that of another installation, OM220. Locks: none of a run that '
'lives. May be NULL: location, metadata_location, folder. Call again when the answer was lost.';
GRANT EXECUTE ON FUNCTION omd_lake.begin_write TO omd_runner;

-- Maintenance deletes an announced folder, with rights of its own. So the folder is judged when it
-- is announced, and again before it is deleted: another version of OMD may have taken it, and the
-- tables may have changed since. The end of a folder names its write, and a table lies in no folder
-- of a write, so only the same write into another table can have the same folder.

CREATE OR REPLACE FUNCTION omd_lake.folder_problem(
    p_module_instance_id bigint,
    p_write_number bigint,
    p_table_code text,
    p_folder text,
    OUT p_problem text
)
RETURNS text
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $folder_problem$
DECLARE
    v_table_code text := omd_lake._spell_table(p_table_code);
    v_namespace text := (omd_lake._catalogue_name(v_table_code)).p_namespace;
    v_folder text := rtrim(p_folder, '/');
    v_end text := format('/data/omd/%s/%s', p_module_instance_id, p_write_number);
    v_table text := left(v_folder, -length(v_end));
    v_location text;
    v_other text;
BEGIN
    IF right(v_folder, length(v_end)) IS DISTINCT FROM v_end
        OR omd_lake._plain_location(v_folder) IS NULL
    THEN
        p_problem := 'it is no such location';
        RETURN;
    END IF;
    IF omd_lake._is_closed(v_folder) THEN
        p_problem := 'it lies in the lake of the installation that this one is a copy of';
        RETURN;
    END IF;
    SELECT w.table_code INTO v_other
    FROM omd_lake.write_folder AS w
    WHERE w.module_instance_id = p_module_instance_id
        AND w.write_number = p_write_number
        AND w.table_code <> v_table_code
        AND w.removed_datetime IS NULL
        AND omd_lake._overlap(w.folder, v_folder)
    LIMIT 1;
    IF FOUND THEN
        p_problem := format('it is the folder of another write, into %s', v_other);
        RETURN;
    END IF;

    IF v_namespace IS NULL THEN
        SELECT p.namespace::text INTO v_other
        FROM omd_lake.iceberg_namespace_properties AS p
        WHERE p.catalog_name = 'omd' AND p.property_key = 'location'
            AND omd_lake._overlap(p.property_value, v_folder)
        LIMIT 1;
        p_problem := CASE WHEN FOUND THEN format('it lies in the namespace %I', v_other) END;
        RETURN;
    END IF;
    v_location := omd_lake.table_location(v_table_code);
    IF omd_lake._lies_within(v_location, v_table)
        AND omd_lake._lies_within(v_table, v_location)
    THEN
        RETURN;
    END IF;
    IF NOT omd_lake._lies_within(omd_lake._namespace_location(v_namespace), v_table)
        OR omd_lake._plain_location(v_table, TRUE) LIKE '%/data/omd/%'
    THEN
        p_problem := format('it does not lie in %s', v_location);
        RETURN;
    END IF;
    SELECT o.table_code INTO v_other
    FROM (
        SELECT format('%I.%I', t.table_namespace, t.table_name) AS table_code
        FROM omd_lake.iceberg_tables AS t
        WHERE t.catalog_name = 'omd'
        UNION
        SELECT c.table_code FROM omd_lake._committed_tables() AS c (table_code)
        UNION
        SELECT m.table_code FROM omd.module_target AS m
        WHERE m.table_format_code IN ('ICEBERG', 'DELTA')
    ) AS o
    CROSS JOIN LATERAL omd_lake._catalogue_name(o.table_code) AS n
    WHERE o.table_code <> v_table_code
        AND omd_lake._namespace_location(n.p_namespace) IS NOT NULL
        AND omd_lake._overlap(omd_lake.table_location(o.table_code), v_table)
    LIMIT 1;
    p_problem := CASE WHEN FOUND THEN format('it lies in the table %s', v_other) END;
END
$folder_problem$;

COMMENT ON FUNCTION omd_lake.folder_problem IS
'For the driver: '
'Returns p_problem: why the folder p_folder can''t be that of the write p_write_number of the '
'Module Instance p_module_instance_id into the table p_table_code, and is not deleted; NULL: it '
'can. Such a folder lies in the table, or in its namespace and in no other table, and no other '
'write has it. Errors: OM005, OM009, OM013, OM220. Locks: none. May be NULL: p_problem.';
GRANT EXECUTE ON FUNCTION omd_lake.folder_problem TO omd_runner;

-- A run that dies before its commit leaves files that no table knows. The row is there before the
-- first of them, so the next begin finds the folder. Maintenance deletes what stands here, so only
-- the folder of the write itself is accepted (folder_problem). A run that rolls back writes too, so
-- what counts is that it lives; the fence only names the error.

CREATE OR REPLACE PROCEDURE omd_lake.announce_write(
    p_module_instance_id bigint,
    p_write_number bigint,
    p_table_code text,
    p_folder text
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $announce_write$
DECLARE
    v_table_code text := omd_lake._spell_table(p_table_code);
    v_folder text := rtrim(p_folder, '/');
    v_end text := format('/data/omd/%s/%s', p_module_instance_id, p_write_number);
    v_problem text;
    v_expected text;
BEGIN
    p_module_instance_id := omd.require_argument('p_module_instance_id', p_module_instance_id);
    p_write_number := omd.require_argument('p_write_number', p_write_number);
    PERFORM omd.require_name('p_folder', p_folder);
    PERFORM omd_lake._location(v_table_code);
    PERFORM omd_lake._require_open(ARRAY[v_table_code]);
    IF omd.instance_lives(p_module_instance_id) IS NOT TRUE THEN
        CALL omd.fence(p_module_instance_id);
    END IF;

    v_problem := omd_lake.folder_problem(
        p_module_instance_id, p_write_number, v_table_code, v_folder
    );
    IF v_problem IS NOT NULL THEN
        v_expected := format('the folder …%s of the table (%s)', v_end, v_problem);
    ELSE
        INSERT INTO omd_lake.write_folder (module_instance_id, write_number, table_code, folder)
        VALUES (p_module_instance_id, p_write_number, v_table_code, v_folder)
        ON CONFLICT DO NOTHING;
        IF NOT FOUND AND NOT EXISTS (
            SELECT FROM omd_lake.write_folder AS w
            WHERE w.module_instance_id = p_module_instance_id
                AND w.write_number = p_write_number
                AND w.table_code = v_table_code
                AND w.folder = v_folder
        ) THEN
            v_expected := 'the one folder that this write has, and no other';
        END IF;
    END IF;
    IF v_expected IS NOT NULL THEN
        PERFORM omd.raise_error(
            'OM013',
            jsonb_build_object(
                'argument', 'p_folder', 'value', left(p_folder, 200), 'expected', v_expected
            )
        );
    END IF;
END
$announce_write$;

COMMENT ON PROCEDURE omd_lake.announce_write IS
'For the driver: '
'Records that the Module Instance p_module_instance_id is about to write files for the table '
'p_table_code; call it before the first of them. p_write_number: from omd.next_write_number. '
'p_folder: where they go, <table>/data/omd/<p_module_instance_id>/<p_write_number>, where <table> '
'is omd_lake.table_location. If the run ends without committing them, the folder is removed. '
'Errors: OM004, OM005, OM009, OM013, OM101, OM102, OM107, OM110, OM220. Locks: none of a run that '
'lives. Call again when the answer was lost.';
GRANT EXECUTE ON PROCEDURE omd_lake.announce_write TO omd_runner;

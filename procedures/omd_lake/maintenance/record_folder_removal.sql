-- A run that has ended never lives again, so a folder that the view shows as abandoned stays so
-- while it is being deleted. The row changes after the files, so that a crash between the two only
-- deletes again.

CREATE OR REPLACE PROCEDURE omd_lake.record_folder_removal(
    p_module_instance_id bigint,
    p_write_number bigint,
    p_table_code text
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $record_folder_removal$
DECLARE
    v_table_code text := omd_lake._spell_table(p_table_code);
    v_write omd_lake.write_folder;
BEGIN
    p_module_instance_id := omd.require_argument('p_module_instance_id', p_module_instance_id);
    p_write_number := omd.require_argument('p_write_number', p_write_number);
    SELECT w.* INTO v_write
    FROM omd_lake.write_folder AS w
    WHERE w.module_instance_id = p_module_instance_id
        AND w.write_number = p_write_number
        AND w.table_code = v_table_code
    FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        PERFORM omd.raise_error(
            'OM013',
            jsonb_build_object(
                'argument', 'p_write_number', 'value', p_write_number,
                'expected', 'a write that was announced'
            )
        );
    ELSIF v_write.commit_id IS NOT NULL OR omd.instance_lives(p_module_instance_id) THEN
        PERFORM omd.raise_error(
            'OM121',
            jsonb_build_object(
                'folder', v_write.folder,
                'module_instance_id', p_module_instance_id,
                'problem', CASE
                    WHEN v_write.commit_id IS NULL THEN 'its run still executes'
                    ELSE 'its files were committed'
                END
            )
        );
    END IF;
    UPDATE omd_lake.write_folder AS w SET removed_datetime = clock_timestamp()
    WHERE w.module_instance_id = p_module_instance_id
        AND w.write_number = p_write_number
        AND w.table_code = v_table_code
        AND w.removed_datetime IS NULL;
END
$record_folder_removal$;

COMMENT ON PROCEDURE omd_lake.record_folder_removal IS
'For the driver: '
'Records that the folder of the write p_write_number of the Module Instance p_module_instance_id '
'into the table p_table_code was removed, after its run had ended without committing it '
'(omd_report.lake_folders, folder_state ABANDONED). p_module_instance_id: the run. p_write_number:'
' the write. p_table_code: the table. Errors: OM005, OM009, OM013: it was not announced, OM121: it'
' was committed, or the run executes. Locks: its row. Call again when the answer was lost.';
GRANT EXECUTE ON PROCEDURE omd_lake.record_folder_removal TO omd_runner;

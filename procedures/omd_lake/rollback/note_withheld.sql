-- The driver has looked at the snapshots, which the database can't read. It tells what it found in
-- the transaction of the rollback, so nothing is reported of one that was overtaken.

CREATE OR REPLACE PROCEDURE omd_lake.note_withheld(
    p_module_instance_id bigint,
    p_table_code text,
    p_undone_instance_id bigint,
    p_snapshot_id bigint,
    p_row_count bigint,
    p_other_snapshot_id bigint DEFAULT NULL
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $note_withheld$
DECLARE
    v_table_code text := omd_lake._spell_table(p_table_code);
BEGIN
    p_module_instance_id := omd.require_argument('p_module_instance_id', p_module_instance_id);
    p_undone_instance_id := omd.require_argument('p_undone_instance_id', p_undone_instance_id);
    p_snapshot_id := omd.require_argument('p_snapshot_id', p_snapshot_id);
    p_row_count := omd.require_argument('p_row_count', p_row_count);
    IF p_row_count < 0 THEN
        PERFORM omd.raise_error(
            'OM013',
            jsonb_build_object(
                'argument', 'p_row_count', 'value', p_row_count, 'expected', 'at least 0'
            )
        );
    END IF;
    CALL omd.fence(p_module_instance_id);
    INSERT INTO omd_lake.withheld_rows (
        table_code, module_instance_id, snapshot_id, row_count, other_snapshot_id,
        rollback_module_instance_id
    )
    VALUES (
        v_table_code, p_undone_instance_id, p_snapshot_id, p_row_count, p_other_snapshot_id,
        p_module_instance_id
    )
    ON CONFLICT DO NOTHING;
    IF FOUND THEN
        CALL omd.log_event(
            omd_lake._withheld_text(
                v_table_code, p_undone_instance_id, p_snapshot_id, p_row_count, p_other_snapshot_id
            ),
            p_module_instance_id => p_module_instance_id,
            p_event_type_code => 6
        );
    END IF;
END
$note_withheld$;

COMMENT ON PROCEDURE omd_lake.note_withheld IS
'For the driver: '
'Records that a rollback has not brought rows back, as a problem in omd_report.lake_tables and as '
'an event. p_module_instance_id: the run that rolls back; call confirm_rollback before, in the '
'same transaction. p_table_code: the table. p_undone_instance_id: the run that had overwritten it.'
' p_snapshot_id: the snapshot (for Delta, the version) in which it did. p_row_count: how many rows '
'stay away. p_other_snapshot_id: the later snapshot, of no run, that left nothing of what was '
'live; NULL: the files of the rows are gone. What is recorded already stays as it is. Errors: '
'OM004, OM005, OM009, OM013, OM101, OM102, OM107. Locks: the instance row FOR SHARE. Call again '
'when the answer was lost.';
GRANT EXECUTE ON PROCEDURE omd_lake.note_withheld TO omd_runner;

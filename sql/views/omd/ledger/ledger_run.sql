-- A room reads views of this one, and no tables.

CREATE OR REPLACE VIEW omd.ledger_run AS
SELECT
    x.module_instance_id,
    x.module_id,
    x.batch_instance_id,
    x.start_datetime,
    x.end_datetime,
    x.execution_status_code,
    x.processing_indicator,
    x.next_run_indicator,
    x.rolled_back_by_module_instance_id,
    x.is_session_bound,
    x.is_one_transaction,
    x.success_order,
    x.newest_instance_id,
    x.rows_inserted,
    x.rows_updated,
    x.rows_deleted
FROM omd.module_instance AS x;

COMMENT ON VIEW omd.ledger_run IS
'For rooms: the runs, as who looks for their readers needs them.';
COMMENT ON COLUMN omd.ledger_run.module_instance_id IS
'Stamped on every row the run writes. Order of instances is by this ID, never by time.';
COMMENT ON COLUMN omd.ledger_run.module_id IS
'The Module. NULL only on the placeholder row 0.';
COMMENT ON COLUMN omd.ledger_run.batch_instance_id IS
'The Batch Instance that called; 0 when run on its own.';
COMMENT ON COLUMN omd.ledger_run.start_datetime IS
'When the instance was created.';
COMMENT ON COLUMN omd.ledger_run.end_datetime IS
'When the instance ended; NULL exactly while it executes.';
COMMENT ON COLUMN omd.ledger_run.execution_status_code IS
'E executing, S succeeded, F failed, A aborted, C skipped.';
COMMENT ON COLUMN omd.ledger_run.processing_indicator IS
'P proceed, A abort, C skip, R roll back first. A until the evaluation has answered.';
COMMENT ON COLUMN omd.ledger_run.next_run_indicator IS
'P proceed, R roll this instance back, C skip the next run once. Administrators may write it.';
COMMENT ON COLUMN omd.ledger_run.rolled_back_by_module_instance_id IS
'The later instance that undid this one.';
COMMENT ON COLUMN omd.ledger_run.is_session_bound IS
'The run is alive as long as its statement executes (run_module).';
COMMENT ON COLUMN omd.ledger_run.is_one_transaction IS
'Its rows and its success are one transaction, so nobody has read them before; an in-database '
'run (is_session_bound) always is. FALSE: its rows may be visible from its begin on.';
COMMENT ON COLUMN omd.ledger_run.success_order IS
'The number that its success has drawn, before its commit and after what it read; NULL: it has '
'not succeeded, or did so before this was recorded.';
COMMENT ON COLUMN omd.ledger_run.newest_instance_id IS
'The newest instance when it ended with S or F: it can have read rows of this and older ones; '
'NULL: it has not ended, or did so before this was recorded.';
COMMENT ON COLUMN omd.ledger_run.rows_inserted IS
'Rows inserted.';
COMMENT ON COLUMN omd.ledger_run.rows_updated IS
'Rows updated.';
COMMENT ON COLUMN omd.ledger_run.rows_deleted IS
'Rows deleted.';

-- A room reads views of this one, and no tables. What counts runs looks them up by their ids.

CREATE OR REPLACE VIEW omd.run_rows AS
SELECT
    mi.module_instance_id,
    m.module_kind_code,
    mi.execution_status_code,
    mi.rows_input,
    mi.rows_inserted,
    mi.rows_updated,
    mi.rows_deleted,
    mi.rows_discarded,
    mi.rows_rejected
FROM omd.module_instance AS mi
INNER JOIN omd.module AS m ON mi.module_id = m.module_id;

COMMENT ON VIEW omd.run_rows IS
'For rooms: the kind and the row counts of each run. A query must name the runs.';
COMMENT ON COLUMN omd.run_rows.module_instance_id IS 'The run.';
COMMENT ON COLUMN omd.run_rows.module_kind_code IS 'The kind of its Module.';
COMMENT ON COLUMN omd.run_rows.execution_status_code IS
'E executing, S succeeded, F failed, A aborted, C skipped.';
COMMENT ON COLUMN omd.run_rows.rows_input IS 'Rows read.';
COMMENT ON COLUMN omd.run_rows.rows_inserted IS 'Rows inserted.';
COMMENT ON COLUMN omd.run_rows.rows_updated IS 'Rows updated.';
COMMENT ON COLUMN omd.run_rows.rows_deleted IS 'Rows deleted.';
COMMENT ON COLUMN omd.run_rows.rows_discarded IS 'Rows read and left out on purpose.';
COMMENT ON COLUMN omd.run_rows.rows_rejected IS 'Rows read that did not fit.';

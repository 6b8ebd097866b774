-- A row says what happens to one run in one table, and why. No business row is shown.

CREATE OR REPLACE VIEW omd_report.recall_items AS
SELECT
    i.recall_id,
    i.position,
    i.action,
    i.module_kind_code,
    i.module_instance_id,
    i.delivery_id,
    i.module_code,
    i.table_code,
    i.distance,
    i.because_of,
    i.relation,
    i.is_exact,
    i.rows_go,
    i.rows_back,
    i.rows_gone,
    i.rows_returned,
    i.comes_again,
    i.problem
FROM omd_provenance.recall_item AS i;

COMMENT ON VIEW omd_report.recall_items IS
'What each recall takes back, by its plan: a row per run and table, in the order of the act.';
COMMENT ON COLUMN omd_report.recall_items.recall_id IS 'The recall.';
COMMENT ON COLUMN omd_report.recall_items.position IS 'The place in the act, from 1.';
COMMENT ON COLUMN omd_report.recall_items.action IS
'What happens to the run: REVERT, REDELIVER, BY_HAND, REQUEUE, UNDO, GIVE_UP, WITHDRAW, '
'PENDING; UNKNOWN and OUTSIDE are left alone, BLOCKED is in the way.';
COMMENT ON COLUMN omd_report.recall_items.module_kind_code IS 'The kind of its Module.';
COMMENT ON COLUMN omd_report.recall_items.module_instance_id IS 'The run; NULL: there is none.';
COMMENT ON COLUMN omd_report.recall_items.delivery_id IS 'Its delivery; NULL: it has none.';
COMMENT ON COLUMN omd_report.recall_items.module_code IS 'Its Module.';
COMMENT ON COLUMN omd_report.recall_items.table_code IS 'The table that it wrote.';
COMMENT ON COLUMN omd_report.recall_items.distance IS 'Steps from the target; the target is 0.';
COMMENT ON COLUMN omd_report.recall_items.because_of IS
'The run that takes this one with it; NULL: it is the target.';
COMMENT ON COLUMN omd_report.recall_items.relation IS
'TARGET; READS: it has read rows of because_of; FOLLOWS: it stands on them by the order of its '
'own Module.';
COMMENT ON COLUMN omd_report.recall_items.is_exact IS
'Whether the ledger knows it; false: it may have read.';
COMMENT ON COLUMN omd_report.recall_items.rows_go IS
'Rows of the table with its stamp when the plan was made; NULL: only a template knows.';
COMMENT ON COLUMN omd_report.recall_items.rows_back IS
'Rows of runs that stand which it had replaced, at that time; NULL: only a template knows.';
COMMENT ON COLUMN omd_report.recall_items.rows_gone IS
'Rows that have gone; NULL: not executed, or not known.';
COMMENT ON COLUMN omd_report.recall_items.rows_returned IS
'Rows that have come back; NULL: not executed, or not known.';
COMMENT ON COLUMN omd_report.recall_items.comes_again IS 'How it is made again; NULL: it is not.';
COMMENT ON COLUMN omd_report.recall_items.problem IS
'What is in the way, or what must be known; NULL: nothing.';

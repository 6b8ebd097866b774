-- Modules and child Batches stand in two tables, since each has a sequence of its own; a reader
-- wants one list.

CREATE OR REPLACE VIEW omd_report.batch_module_list AS
SELECT
    b.batch_code,
    bm.sequence,
    m.module_code,
    NULL::text AS child_batch_code,
    bm.inactive_indicator
FROM omd.batch_module AS bm
INNER JOIN omd.batch AS b ON bm.batch_id = b.batch_id
INNER JOIN omd.module AS m ON bm.module_id = m.module_id
UNION ALL
SELECT
    parent.batch_code,
    bh.sequence,
    NULL AS module_code,
    child.batch_code AS child_batch_code,
    bh.inactive_indicator
FROM omd.batch_hierarchy AS bh
INNER JOIN omd.batch AS parent ON bh.parent_batch_id = parent.batch_id
INNER JOIN omd.batch AS child ON bh.batch_id = child.batch_id;

COMMENT ON VIEW omd_report.batch_module_list IS
'What each Batch contains: Modules, and child Batches that run after them.';
COMMENT ON COLUMN omd_report.batch_module_list.batch_code IS 'The Batch.';
COMMENT ON COLUMN omd_report.batch_module_list.sequence IS
'The order among the Modules of the Batch, or among its child Batches.';
COMMENT ON COLUMN omd_report.batch_module_list.module_code IS
'The Module in the Batch; NULL when the row is a child Batch.';
COMMENT ON COLUMN omd_report.batch_module_list.child_batch_code IS
'The child Batch in the Batch; NULL when the row is a Module.';
COMMENT ON COLUMN omd_report.batch_module_list.inactive_indicator IS
'Y: the Module or child Batch is skipped in this Batch.';

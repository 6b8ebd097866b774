-- Rooms see what is to come again, and what filled an entry; they write it by omd.settle_return.

CREATE OR REPLACE VIEW omd.awaited_return AS
SELECT
    r.recall_id,
    r.position,
    r.module_id,
    m.module_code,
    m.module_kind_code,
    r.is_by_hand,
    r.former_instances,
    r.former_delivery_id,
    r.snapshot_datetime,
    r.module_instance_id,
    r.delivery_id,
    r.ended_datetime,
    r.drop_reason,
    r.problem
FROM omd.module_return AS r
INNER JOIN omd.module AS m ON r.module_id = m.module_id;

COMMENT ON VIEW omd.awaited_return IS
'For rooms: what recalls took back and what must come again from outside, open or not.';
COMMENT ON COLUMN omd.awaited_return.recall_id IS 'The recall.';
COMMENT ON COLUMN omd.awaited_return.position IS 'The place in it.';
COMMENT ON COLUMN omd.awaited_return.module_id IS 'The Module that is to run again.';
COMMENT ON COLUMN omd.awaited_return.module_code IS 'Its code.';
COMMENT ON COLUMN omd.awaited_return.module_kind_code IS 'Its kind: DELIVERY, SQL or JOB.';
COMMENT ON COLUMN omd.awaited_return.is_by_hand IS 'A person must bring it.';
COMMENT ON COLUMN omd.awaited_return.former_instances IS 'The runs that were taken back.';
COMMENT ON COLUMN omd.awaited_return.former_delivery_id IS
'The delivery that was taken back; NULL: it is none.';
COMMENT ON COLUMN omd.awaited_return.snapshot_datetime IS 'Its snapshot; NULL: it is none.';
COMMENT ON COLUMN omd.awaited_return.module_instance_id IS
'The run that fills the entry; NULL: none yet.';
COMMENT ON COLUMN omd.awaited_return.delivery_id IS
'The delivery that fills the entry, or is to; NULL: none yet.';
COMMENT ON COLUMN omd.awaited_return.ended_datetime IS
'When it was filled or dropped; NULL: it is open.';
COMMENT ON COLUMN omd.awaited_return.drop_reason IS
'Why it will not come; NULL: it was not dropped.';
COMMENT ON COLUMN omd.awaited_return.problem IS
'Why it can''t come by itself; NULL: nothing is in its way.';

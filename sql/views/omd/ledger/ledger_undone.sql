-- A room reads views of this one, and no tables.

CREATE OR REPLACE VIEW omd.ledger_undone AS
SELECT
    x.module_instance_id,
    x.undone_by,
    x.undone_datetime,
    x.undone_upto,
    x.looked_datetime,
    x.is_forgotten
FROM omd.undone_run AS x;

COMMENT ON VIEW omd.ledger_undone IS
'For rooms: the runs whose rows were taken back.';
COMMENT ON COLUMN omd.ledger_undone.module_instance_id IS
'The run.';
COMMENT ON COLUMN omd.ledger_undone.undone_by IS
'The run that undid it; the run itself where none did, as when a delivery is reverted.';
COMMENT ON COLUMN omd.ledger_undone.undone_datetime IS
'When.';
COMMENT ON COLUMN omd.ledger_undone.undone_upto IS
'The newest instance at a look after the commit of the undo: a run with a greater id has not '
'read the rows; NULL: nobody has looked yet.';
COMMENT ON COLUMN omd.ledger_undone.looked_datetime IS
'When somebody looked whether a run that stands has read it.';
COMMENT ON COLUMN omd.ledger_undone.is_forgotten IS
'None has, and none that executes can have: nobody has to look again.';

-- Rows are refused by statement, since a run writes many at once.

CREATE OR REPLACE TRIGGER trg_cycle_guard
AFTER INSERT ON omd_decision.cycle
REFERENCING NEW TABLE AS new_rows
FOR EACH STATEMENT
EXECUTE FUNCTION omd_decision._guard_rows();

COMMENT ON TRIGGER trg_cycle_guard ON omd_decision.cycle IS
'Refuses rows of an instance that is no executing run of a stage.';

CREATE OR REPLACE TRIGGER trg_reject_guard
AFTER INSERT ON omd_decision.reject
REFERENCING NEW TABLE AS new_rows
FOR EACH STATEMENT
EXECUTE FUNCTION omd_decision._guard_rows();

COMMENT ON TRIGGER trg_reject_guard ON omd_decision.reject IS
'Refuses rows of an instance that is no executing run of a stage.';

-- Rows are refused by statement, since a run writes many at once.

CALL omd.put_trigger('omd_decision.cycle', 'trg_cycle_guard', $def$
    AFTER INSERT ON {table}
    REFERENCING NEW TABLE AS new_rows
    FOR EACH STATEMENT
    EXECUTE FUNCTION omd_decision._guard_rows()
$def$);

COMMENT ON TRIGGER trg_cycle_guard ON omd_decision.cycle IS
'Refuses rows of an instance that is no executing run of a stage.';

CALL omd.put_trigger('omd_decision.reject', 'trg_reject_guard', $def$
    AFTER INSERT ON {table}
    REFERENCING NEW TABLE AS new_rows
    FOR EACH STATEMENT
    EXECUTE FUNCTION omd_decision._guard_rows()
$def$);

COMMENT ON TRIGGER trg_reject_guard ON omd_decision.reject IS
'Refuses rows of an instance that is no executing run of a stage.';

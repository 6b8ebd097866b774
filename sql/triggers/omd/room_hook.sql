-- What is called by its name is checked when it is entered.

CALL omd.put_trigger('omd.room_hook', 'trg_room_hook', $def$
    BEFORE INSERT OR UPDATE ON {table}
    FOR EACH ROW
    EXECUTE FUNCTION omd._check_hook()
$def$);

COMMENT ON TRIGGER trg_room_hook ON omd.room_hook IS
'Refuses a routine that its caller could not call.';

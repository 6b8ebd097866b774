-- What was sent stays sent; who comes again begins as a new sink.

CREATE OR REPLACE PROCEDURE omd_event.remove_sink(
    p_sink_code text
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $remove_sink$
BEGIN
    DELETE FROM omd_event.sink AS s WHERE s.sink_code = p_sink_code;
    IF NOT FOUND THEN
        PERFORM omd_event._raise_unknown_sink(p_sink_code);
    END IF;
    PERFORM omd_event._log_edit('SINK', format('sink %s is removed', p_sink_code));
END
$remove_sink$;

COMMENT ON PROCEDURE omd_event.remove_sink IS
'Removes the sink p_sink_code, with what it refused. A sender that holds it can confirm nothing '
'more. Errors: OM005, OM095. Locks: the row of the sink.';
GRANT EXECUTE ON PROCEDURE omd_event.remove_sink TO omd_admin;

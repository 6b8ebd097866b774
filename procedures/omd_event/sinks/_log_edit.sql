-- Every act of an administrator leaves an event of process control.

CREATE OR REPLACE FUNCTION omd_event._log_edit(
    p_subject text,
    p_detail text
)
RETURNS void
LANGUAGE sql
VOLATILE
PARALLEL UNSAFE
BEGIN ATOMIC
    SELECT omd.write_event(0, 0, 4, p_subject, format('%s, by %s', p_detail, omd.editor()));
END;

COMMENT ON FUNCTION omd_event._log_edit IS
'Writes an event of type 4: what an administrator did, and who. Locks: none.';

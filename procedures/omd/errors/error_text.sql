-- Each view that shows an error asks here, so that the rule stands once.

CREATE OR REPLACE FUNCTION omd.error_text(
    p_code text,
    p_text text
)
RETURNS text
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT CASE WHEN omd.reads_rows() THEN p_text ELSE omd.shown_error(p_code, p_text) END;
END;

COMMENT ON FUNCTION omd.error_text IS
'For rooms: Returns the error text p_text with the code p_code as the caller may see it: whole for '
'who has omd_data_reader, else as omd.shown_error returns it. Locks: none.';
GRANT EXECUTE ON FUNCTION omd.error_text TO omd_reader;

-- Each view that shows why a run failed asks here, so that the rule stands once.

CREATE OR REPLACE FUNCTION omd.failure_text(
    p_code text,
    p_text text,
    p_module_id integer
)
RETURNS text
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        CASE
            WHEN omd.reads_rows() THEN p_text
            ELSE (
                SELECT
                    s.shown
                    || CASE
                        WHEN s.shown <> p_text
                            THEN chr(10) || 'The role omd_data_reader shows the whole text.'
                        ELSE ''
                    END
                FROM (VALUES (omd.shown_failure(p_code, p_text, p_module_id))) AS s (shown)
            )
        END;
END;

COMMENT ON FUNCTION omd.failure_text IS
'For rooms: Returns the error text p_text with the code p_code of a run of the Module p_module_id '
'(NULL: of a Batch) as the caller may see it: whole for who has omd_data_reader, else as '
'omd.shown_failure returns it, with a line that names the role that shows more. Locks: none.';
GRANT EXECUTE ON FUNCTION omd.failure_text TO omd_reader;

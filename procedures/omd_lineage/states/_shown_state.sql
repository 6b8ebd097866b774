-- After a failure the state of a topic is the first line of the error, unless something was tried
-- since. The text of an error may hold values of rows.

CREATE OR REPLACE FUNCTION omd_lineage._shown_state(
    p_attempts integer,
    p_state text
)
RETURNS text
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        CASE
            WHEN
                p_attempts > 0
                AND p_state !~ '^(RUNNING|DONE|(ABORTED|SKIPPED)(: [A-Z_ ]+)?|NOJOBS: .*)$'
                THEN omd.error_text(NULL, p_state)
            ELSE p_state
        END;
END;

COMMENT ON FUNCTION omd_lineage._shown_state IS
'Returns the state p_state of a topic that has failed p_attempts times as the caller may see it. '
'Locks: none.';
GRANT EXECUTE ON FUNCTION omd_lineage._shown_state TO omd_reader;

-- The problem of a source or of a schedule has its SQLSTATE before it: the database wrote both.

CREATE OR REPLACE FUNCTION omd_dispatch._shown_problem(
    p_problem text
)
RETURNS text
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        omd.error_text(
            substring(p_problem FROM '^([0-9A-Z]{5}): '),
            CASE
                WHEN omd.reads_rows() THEN p_problem
                ELSE regexp_replace(p_problem, '^[0-9A-Z]{5}: ', '')
            END
        );
END;

COMMENT ON FUNCTION omd_dispatch._shown_problem IS
'Returns the problem p_problem of a source or of a schedule as the caller may see it: whole for '
'who has omd_data_reader, else as omd.shown_error returns it. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_dispatch._shown_problem TO omd_reader;

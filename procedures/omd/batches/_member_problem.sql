-- A member is a line of the failure of its Batch: omd.shown_error hides of each what not everybody
-- may see.

CREATE OR REPLACE FUNCTION omd._member_problem(
    p_error jsonb
)
RETURNS text
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        CASE
            WHEN p_error IS NULL THEN ''
            ELSE
                format(
                    '%s (%s)',
                    split_part(p_error ->> 'message', E'\n', 1),
                    p_error ->> 'sqlstate'
                )
        END;
END;

COMMENT ON FUNCTION omd._member_problem IS
'Returns what a Batch says of a member that has failed: the first line and the SQLSTATE of p_error '
'where its begin raised an error, else nothing. Locks: none.';
GRANT EXECUTE ON FUNCTION omd._member_problem TO omd_runner;

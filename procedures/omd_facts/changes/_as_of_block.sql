-- The open row is the one as of the end of the block, or it is too young, and r has the closed one.

CREATE OR REPLACE FUNCTION omd_facts._as_of_block(
    p_alias text,
    p_column text
)
RETURNS text
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT format(
        'CASE WHEN %1$s.acm_start_dt > b.mark THEN r%1$s.%2$I ELSE %1$s.%2$I END',
        p_alias, p_column
    );
END;

COMMENT ON FUNCTION omd_facts._as_of_block IS
'Returns the expression of the column p_column of the context p_alias as of the end of the block. '
'Locks: none.';

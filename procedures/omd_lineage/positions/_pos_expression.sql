-- This is the only place that knows how a position without a time is read: all its rows are of one
-- instant, before all others, so pairs compare by their ids.

CREATE OR REPLACE FUNCTION omd_lineage._pos_expression(
    p_pos_column text
)
RETURNS text
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        CASE p_pos_column
            WHEN '' THEN '''-infinity''::timestamptz'
            ELSE quote_ident(p_pos_column)
        END;
END;

COMMENT ON FUNCTION omd_lineage._pos_expression IS
'Returns the SQL that gives the pos of a row, from its column p_pos_column; empty: the position is'
' the id alone. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_lineage._pos_expression TO omd_runner, omd_admin;

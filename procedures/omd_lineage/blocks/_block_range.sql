-- $1 and $2 are where the block starts, $3 and $4 the position up to which all is visible, and $5
-- is upto.

CREATE OR REPLACE FUNCTION omd_lineage._block_range(
    p_pos_column text,
    p_id_column text,
    p_is_whole boolean
)
RETURNS text
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        CASE
            WHEN p_pos_column = '' THEN format('%1$I > $2 AND %1$I <= $4', p_id_column)
            ELSE
                format(
                    '(%1$s, %2$I) > ($1, $2) AND (%1$s, %2$I) <= ($3, $4) AND %1$s >= $1'
                    ' AND %1$s <= $3 AND %1$s %3$s $5 AND %2$I IS NOT NULL',
                    omd_lineage._pos_expression(p_pos_column),
                    p_id_column,
                    CASE WHEN p_is_whole THEN '<=' ELSE '<' END
                )
        END;
END;

COMMENT ON FUNCTION omd_lineage._block_range IS
'Returns the condition for the rows of a block by the columns p_pos_column (empty: none) and '
'p_id_column, for _walk_block. p_is_whole: those at the instant of upto count. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_lineage._block_range TO omd_runner, omd_admin;

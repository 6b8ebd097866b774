-- The block of a transaction is settings of it: its bounds, and here {"keys": {entity: count},
-- "marks": {entity: moment}}. The planner computes them, as they are stable.

CREATE OR REPLACE FUNCTION omd_facts._block_sql(
    p_interface_code text
)
RETURNS text
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT format(
        'nullif(current_setting(%L, TRUE), '''')::jsonb', 'omd_facts.block_' || p_interface_code
    );
END;

COMMENT ON FUNCTION omd_facts._block_sql IS
'Returns the expression of the block of changes that this transaction shows of the interface '
'p_interface_code; it is NULL outside of a block. Locks: none.';

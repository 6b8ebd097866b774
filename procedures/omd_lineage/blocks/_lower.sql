-- The rule of all blocks: a block ends before the first row that may still be overtaken. A row is
-- overtaken when another one with a lesser position becomes visible after it was read; nothing
-- would ever read that one (docs/explanation/lineage.md, rule L6). Each look that finds a writer at
-- work says here from which instant on its rows may come. What a look says about rows of the base
-- table alone, and not about an instant, _block_of_rows keeps: the position up to which all is
-- visible, and the first row of a run that does not count.
--
-- Rows at the instant itself may still come, so of a block that ends there none of them is taken.

CREATE OR REPLACE FUNCTION omd_lineage._lower(
    p_block omd_lineage.block,
    p_before timestamptz,
    p_why text
)
RETURNS omd_lineage.block
LANGUAGE plpgsql
IMMUTABLE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $lower$
BEGIN
    IF p_before < p_block.upto OR (p_before = p_block.upto AND p_block.is_whole) THEN
        p_block.upto := p_before;
        p_block.is_whole := FALSE;
        p_block.detail := coalesce(p_why, p_block.detail);
    END IF;
    RETURN p_block;
END
$lower$;

COMMENT ON FUNCTION omd_lineage._lower IS
'Returns p_block, which ends before p_before: later rows may still be overtaken, and those of that '
'instant. p_why says who brings rows, may be NULL; p_before NULL: nobody does. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_lineage._lower TO omd_runner, omd_admin;

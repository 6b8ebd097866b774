-- A trigger on the referenced table executes what a foreign key does ON DELETE, on each partition
-- of it too. So the index on triggers finds the keys, and one that is not enforced or is switched
-- off is left out. A key on a partitioned table is known by the constraint that was declared.

CREATE OR REPLACE FUNCTION omd._lossy_constraints(
    p_relation oid
)
RETURNS SETOF oid
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    WITH RECURSIVE declared (id, parent_id) AS (
        SELECT
            k.oid,
            k.conparentid
        FROM pg_trigger AS t
        INNER JOIN pg_constraint AS k ON t.tgconstraint = k.oid
        WHERE
            t.tgrelid = p_relation
            AND t.tgenabled <> 'D'
            -- It fires on DELETE.
            AND t.tgtype & 8 = 8
            AND k.contype = 'f'
            AND k.confrelid = p_relation
            AND k.confdeltype IN ('c', 'n', 'd')
        UNION
        SELECT
            k.oid,
            k.conparentid
        FROM declared AS d
        INNER JOIN pg_constraint AS k ON d.parent_id = k.oid
    )

    SELECT d.id FROM declared AS d WHERE d.parent_id = 0;
END;

COMMENT ON FUNCTION omd._lossy_constraints IS
'Returns the foreign keys (of pg_constraint) that delete or change a referring row when a row of '
'the table p_relation itself is deleted: ON DELETE CASCADE, SET NULL or SET DEFAULT. Locks: none.';

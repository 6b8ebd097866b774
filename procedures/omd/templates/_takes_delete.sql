-- PostgreSQL passes a DELETE from a simple view on to its table; another view needs a trigger or a
-- rule that says what it means.

CREATE OR REPLACE FUNCTION omd._takes_delete(
    p_relation oid
)
RETURNS boolean
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    -- Bit 4 stands for DELETE.
    SELECT pg_relation_is_updatable(p_relation, TRUE) & 16 = 16;
END;

COMMENT ON FUNCTION omd._takes_delete IS
'Returns whether rows can be deleted from the relation p_relation. Locks: none.';

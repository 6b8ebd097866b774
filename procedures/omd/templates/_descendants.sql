-- Partitions and inheriting tables hold rows that a statement on their parent touches.

CREATE OR REPLACE FUNCTION omd._descendants(
    p_relation oid
)
RETURNS SETOF oid
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    WITH RECURSIVE tree (relation) AS (
        SELECT p_relation
        UNION
        SELECT i.inhrelid
        FROM tree AS t
        INNER JOIN pg_inherits AS i ON t.relation = i.inhparent
    )

    SELECT t.relation FROM tree AS t;
END;

COMMENT ON FUNCTION omd._descendants IS
'Returns the relation p_relation, its partitions and the tables that inherit from it, at every '
'depth. Locks: none.';
GRANT EXECUTE ON FUNCTION omd._descendants TO omd_runner, omd_admin;

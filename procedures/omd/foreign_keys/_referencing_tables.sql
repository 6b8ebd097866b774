-- Foreign keys may stand on a table or on a partition, and each may keep rows from being deleted.

CREATE OR REPLACE FUNCTION omd._referencing_tables(
    p_relation oid
)
RETURNS SETOF oid
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    WITH RECURSIVE edge (source, target, is_key) AS (
        SELECT
            c.confrelid,
            c.conrelid,
            TRUE
        FROM pg_constraint AS c
        WHERE c.contype = 'f'
        UNION ALL
        SELECT
            i.inhparent,
            i.inhrelid,
            FALSE
        FROM pg_inherits AS i
        UNION ALL
        SELECT
            i.inhrelid,
            i.inhparent,
            FALSE
        FROM pg_inherits AS i
    ),

    reached (relation, is_referencing) AS (
        SELECT
            p_relation,
            FALSE
        UNION
        SELECT
            e.target,
            r.is_referencing OR e.is_key
        FROM reached AS r
        INNER JOIN edge AS e ON r.relation = e.source
    )

    SELECT r.relation
    FROM reached AS r
    WHERE r.is_referencing AND r.relation <> p_relation;
END;

COMMENT ON FUNCTION omd._referencing_tables IS
'Returns the relations from which foreign keys refer to the relation p_relation, directly or '
'through other relations, with their partitions and parents. Locks: none.';

-- A deleted row takes others with it, and these take others: the search follows each chain of
-- cascades through the catalogue. What ends in a table where no run's row can be lost is left out,
-- so that nobody needs a right on it. A key of a partitioned table counts once, not once for each
-- partition. In PL/pgSQL a session keeps the plan; as SQL it was made at each call.

CREATE OR REPLACE FUNCTION omd._lossy_keys(
    p_relation oid,
    p_is_alone boolean
)
RETURNS TABLE (
    constraint_id oid,
    referenced oid,
    goes_on boolean
)
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan
AS $lossy_keys$
BEGIN
    RETURN QUERY
    WITH RECURSIVE part AS MATERIALIZED (
        SELECT d.relation
        FROM omd._descendants(p_relation) AS d (relation)
        WHERE NOT p_is_alone OR d.relation = p_relation
    ),

    edge (from_id, to_id) AS (
        SELECT
            NULL::oid,
            k.id
        FROM part AS p
        CROSS JOIN LATERAL omd._lossy_constraints(p.relation) AS k (id)
        UNION
        SELECT
            e.to_id,
            k.id
        FROM edge AS e
        INNER JOIN pg_constraint AS c ON e.to_id = c.oid
        CROSS JOIN
            LATERAL (
                SELECT c.conrelid AS relation
                UNION
                SELECT t.relid FROM pg_partition_tree(c.conrelid) AS t
            ) AS child
        CROSS JOIN LATERAL omd._lossy_constraints(child.relation) AS k (id)
        WHERE c.confdeltype = 'c'
    ),

    matters (id) AS (
        SELECT k.to_id
        FROM (SELECT DISTINCT e.to_id FROM edge AS e) AS k
        INNER JOIN pg_constraint AS c ON k.to_id = c.oid
        CROSS JOIN LATERAL omd._referring_rows(c.oid, c.confrelid) AS r
        WHERE r.is_guarded
        UNION
        SELECT e.from_id
        FROM matters AS m
        INNER JOIN edge AS e ON m.id = e.to_id
        WHERE e.from_id IS NOT NULL
    )

    SELECT
        k.oid AS constraint_id,
        CASE
            WHEN k.confrelid IN (SELECT p.relation FROM part AS p) THEN k.confrelid
            ELSE p_relation
        END AS referenced,
        EXISTS(
            SELECT FROM edge AS onward
            INNER JOIN matters AS m ON onward.to_id = m.id
            WHERE onward.from_id = k.oid
        ) AS goes_on
    FROM edge AS e
    INNER JOIN pg_constraint AS k ON e.to_id = k.oid
    WHERE e.from_id IS NULL AND k.oid IN (SELECT m.id FROM matters AS m)
    ORDER BY k.oid;
END
$lossy_keys$;

COMMENT ON FUNCTION omd._lossy_keys IS
'Returns the foreign keys that may delete or change a row of another run when rows of p_relation '
'are deleted, itself or what hangs on that row; and the table whose rows they refer to, p_relation '
'or a part of it. p_is_alone: partitions and inheriting tables do not count. goes_on: a row that '
'goes with them may take others along. Locks: none.';
GRANT EXECUTE ON FUNCTION omd._lossy_keys TO omd_runner, omd_admin;

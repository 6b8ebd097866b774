-- The catalogue knows what a view reads, also through SQL functions with BEGIN ATOMIC; it does not
-- know what another function reads. Behind a schema with a bound nobody has to look.
-- ROWS: it is joined with the catalogue, which the planner would read whole if it expected the
-- thousand rows that it expects of any function.

CREATE OR REPLACE FUNCTION omd.relations_under(
    p_relation oid
)
RETURNS TABLE (
    relation_id oid,
    routine text
)
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
ROWS 2
SET search_path = pg_catalog, pg_temp
AS $relations_under$
BEGIN
    -- Most sources are tables, and this saves them a walk.
    IF EXISTS (
        SELECT FROM pg_class AS c WHERE c.oid = p_relation AND c.relkind IN ('r', 'p', 'f')
    ) THEN
        RETURN QUERY SELECT p_relation, omd._bound_routine(p_relation);
        RETURN;
    END IF;
    RETURN QUERY
    WITH RECURSIVE object AS (
        SELECT
            'pg_class'::regclass::oid AS class_id,
            p_relation AS object_id,
            b.routine
        FROM (SELECT omd._bound_routine(p_relation) AS routine) AS b
        UNION
        SELECT
            d.refclassid,
            d.refobjid,
            CASE WHEN d.refclassid = 'pg_class'::regclass THEN omd._bound_routine(d.refobjid) END
        FROM object AS o
        CROSS JOIN LATERAL (
            SELECT k.refclassid, k.refobjid
            FROM pg_rewrite AS r
            INNER JOIN pg_depend AS k
                ON k.classid = 'pg_rewrite'::regclass AND r.oid = k.objid
            WHERE o.class_id = 'pg_class'::regclass AND r.ev_class = o.object_id
            UNION ALL
            SELECT k.refclassid, k.refobjid
            FROM pg_depend AS k
            WHERE o.class_id = 'pg_proc'::regclass
                AND k.classid = o.class_id
                AND k.objid = o.object_id
        ) AS d
        WHERE o.routine IS NULL
            AND d.refclassid IN ('pg_class'::regclass, 'pg_proc'::regclass)
            AND (d.refclassid, d.refobjid) <> (o.class_id, o.object_id)
    )

    SELECT DISTINCT o.object_id, o.routine
    FROM object AS o
    INNER JOIN pg_class AS c ON o.object_id = c.oid
    WHERE o.class_id = 'pg_class'::regclass
        AND (o.routine IS NOT NULL OR c.relkind IN ('r', 'p', 'm', 'f'));
END
$relations_under$;

COMMENT ON FUNCTION omd.relations_under IS
'For rooms: Returns the tables that the relation p_relation reads, itself if it is one; of a '
'schema with a hook READ_BOUND the table or view by which it is read, with the routine of the '
'bound. Locks: none.';

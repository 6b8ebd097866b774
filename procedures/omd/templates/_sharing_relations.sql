-- Two relations share rows when what is below them (partitions, inheriting tables, the tables of a
-- view or a rule) meets. So the search goes down from the relation and from there up again. A view
-- leads also to tables that it only looks at: that is too much and never too little.

CREATE OR REPLACE FUNCTION omd._sharing_relations(
    p_relation oid
)
RETURNS SETOF oid
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    WITH RECURSIVE below (relation) AS (
        SELECT p_relation
        UNION
        SELECT n.relation
        FROM below AS b
        CROSS JOIN
            LATERAL (
                SELECT i.inhrelid AS relation
                FROM pg_inherits AS i
                WHERE i.inhparent = b.relation
                UNION ALL
                SELECT d.refobjid AS relation
                FROM pg_rewrite AS r
                INNER JOIN pg_depend AS d
                    ON
                        r.oid = d.objid
                        AND d.classid = 'pg_rewrite'::regclass
                        AND d.refclassid = 'pg_class'::regclass
                WHERE r.ev_class = b.relation
            ) AS n
    ),

    sharing (relation) AS (
        SELECT b.relation FROM below AS b
        UNION
        SELECT n.relation
        FROM sharing AS s
        CROSS JOIN
            LATERAL (
                SELECT i.inhparent AS relation
                FROM pg_inherits AS i
                WHERE i.inhrelid = s.relation
                UNION ALL
                SELECT r.ev_class AS relation
                FROM pg_depend AS d
                INNER JOIN pg_rewrite AS r ON d.objid = r.oid
                WHERE
                    d.classid = 'pg_rewrite'::regclass
                    AND d.refclassid = 'pg_class'::regclass
                    AND d.refobjid = s.relation
            ) AS n
    )

    SELECT s.relation FROM sharing AS s;
END;

COMMENT ON FUNCTION omd._sharing_relations IS
'Returns the relation p_relation and all through which its rows may be written too: partitions, '
'parents, inheriting tables, views. Locks: none.';

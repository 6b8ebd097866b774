-- It is the way of omd.relations_under from the other end.

CREATE OR REPLACE FUNCTION omd.relations_over(
    p_table_code text
)
RETURNS text[]
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $relations_over$
BEGIN
    RETURN (
        WITH RECURSIVE object AS (
            SELECT
                'pg_class'::regclass::oid AS class_id,
                f.relation_id AS object_id
            FROM unnest(omd.table_family(omd.target_relation(p_table_code))) AS f (relation_id)
            UNION
            SELECT
                CASE WHEN r.oid IS NULL THEN d.classid ELSE 'pg_class'::regclass END,
                coalesce(r.ev_class, d.objid)
            FROM object AS o
            INNER JOIN pg_depend AS d
                ON o.class_id = d.refclassid
                AND o.object_id = d.refobjid
                AND d.classid IN ('pg_rewrite'::regclass, 'pg_proc'::regclass)
            LEFT JOIN pg_rewrite AS r ON d.classid = 'pg_rewrite'::regclass AND d.objid = r.oid
        )

        SELECT array_agg(DISTINCT format('%I.%I', n.nspname, c.relname))
        FROM object AS o
        INNER JOIN pg_class AS c ON o.object_id = c.oid
        INNER JOIN pg_namespace AS n ON c.relnamespace = n.oid
        WHERE o.class_id = 'pg_class'::regclass
    );
END
$relations_over$;

COMMENT ON FUNCTION omd.relations_over IS
'For rooms: Returns the table or view p_table_code, its partitions and parents, and all views '
'that read one of them, as schema.name. Locks: none.';

-- A column of a view can't change its type, so its views are made anew where a type becomes wider.
-- What users granted on them is granted again.

CREATE OR REPLACE FUNCTION omd_facts._drop_views(
    p_interface_id integer
)
RETURNS SETOF text
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $drop_views$
BEGIN
    RETURN QUERY
    WITH view AS (
        SELECT c.oid, c.relacl, c.relowner, format('%I.%I', n.nspname, c.relname) AS name,
            n.nspname ~ '^asof_' AS has_function
        FROM omd_facts.interface AS i
        INNER JOIN pg_namespace AS n
            ON n.nspname IN (
                'gdal_' || i.interface_code, 'asof_' || i.interface_code,
                'history_' || i.interface_code
            )
        INNER JOIN pg_class AS c ON n.oid = c.relnamespace AND c.relkind = 'v'
        WHERE i.interface_id = p_interface_id
    )

    SELECT format('DROP FUNCTION %s', p.oid::regprocedure)
    FROM view AS v
    INNER JOIN pg_depend AS d ON d.refobjid = (SELECT t.reltype FROM pg_class AS t WHERE t.oid = v.oid)
    INNER JOIN pg_proc AS p ON d.objid = p.oid AND d.classid = 'pg_proc'::regclass
    WHERE v.has_function AND p.pronamespace::regnamespace::text = split_part(v.name, '.', 1)
    UNION ALL
    SELECT format('DROP VIEW %s', v.name) FROM view AS v;
END
$drop_views$;

COMMENT ON FUNCTION omd_facts._drop_views IS
'Returns the statements that drop the views of the interface p_interface_id and their functions. '
'Locks: none.';
REVOKE ALL ON FUNCTION omd_facts._drop_views FROM PUBLIC;

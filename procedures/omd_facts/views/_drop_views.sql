-- A column of a view can't go or change its type, so views are made anew where one must. Those of
-- generalizations and key roots show keys too.

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
    SELECT format('DROP FUNCTION %s', p.oid::regprocedure)
    FROM omd_facts._present_views(p_interface_id) AS v
    INNER JOIN pg_proc AS p ON v.row_type = p.prorettype
    UNION ALL
    SELECT format('DROP VIEW %s', v.name) FROM omd_facts._present_views(p_interface_id) AS v;
END
$drop_views$;

COMMENT ON FUNCTION omd_facts._drop_views IS
'Returns the statements that drop the views of the interface p_interface_id and their functions. '
'Locks: none.';

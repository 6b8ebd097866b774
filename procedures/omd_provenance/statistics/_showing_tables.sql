-- Rows that a purge or an undo has taken may live on in statistics.

CREATE OR REPLACE FUNCTION omd_provenance._showing_tables(
    p_texts text[]
)
RETURNS SETOF text
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $showing_tables$
BEGIN
    RETURN QUERY
    SELECT DISTINCT format('%I.%I', s.schemaname, s.tablename)
    FROM pg_stats AS s
    INNER JOIN pg_class AS c
        ON c.oid = omd.target_relation(format('%I.%I', s.schemaname, s.tablename))
    CROSS JOIN LATERAL concat_ws(
        ' ', s.most_common_vals, s.histogram_bounds, s.most_common_elems
    ) AS v (shown)
    WHERE pg_get_userbyid(c.relowner) = 'omd_owner'
        AND EXISTS (SELECT FROM unnest(p_texts) AS t (text) WHERE strpos(v.shown, t.text) > 0);
END
$showing_tables$;

COMMENT ON FUNCTION omd_provenance._showing_tables IS
'Returns the tables of the rooms whose statistics show one of p_texts. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_provenance._showing_tables TO omd_admin;

-- Parts are ranges of acm_id, in the order of which a table was filled, so each part reads its own
-- blocks. Without a wish there is one per million rows, and eight at most.

CREATE OR REPLACE FUNCTION omd_facts._export_cuts(
    p_entity_id integer,
    p_partitions integer
)
RETURNS TABLE (low bigint, high bigint)
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $export_cuts$
DECLARE
    v_schema text;
    v_anchor text;
    v_rows real;
    v_low bigint;
    v_high bigint;
    v_parts bigint;
BEGIN
    SELECT 'cfl_' || i.interface_code, e.anchor_table, c.reltuples
    INTO v_schema, v_anchor, v_rows
    FROM omd_facts.entity AS e
    INNER JOIN omd_facts.interface AS i USING (interface_id)
    LEFT JOIN pg_class AS c
        ON c.oid = to_regclass(format('%I.%I', 'cfl_' || i.interface_code, e.anchor_table))
    WHERE e.entity_id = p_entity_id;
    v_parts := coalesce(p_partitions, least(8, 1 + greatest(v_rows, 0)::bigint / 1000000));
    EXECUTE format('SELECT min(a.acm_id), max(a.acm_id) FROM %I.%I AS a', v_schema, v_anchor)
    INTO v_low, v_high;
    v_parts := greatest(1, least(v_parts, v_high - v_low + 1));
    -- The first and the last range are open.
    RETURN QUERY
    SELECT
        CASE WHEN n.n > 0 THEN v_low + (v_high - v_low + 1) * n.n / v_parts END,
        CASE WHEN n.n < v_parts - 1 THEN v_low + (v_high - v_low + 1) * (n.n + 1) / v_parts END
    FROM generate_series(0, v_parts - 1) AS n (n)
    ORDER BY n.n;
END
$export_cuts$;

COMMENT ON FUNCTION omd_facts._export_cuts IS
'Returns the ranges of acm_id, from low up to, but not, high (NULL: without a bound), into which '
'the rows of the entity p_entity_id are cut: p_partitions at most, NULL: as many as suit it. '
'Locks: none.';

-- Interfaces that load in parallel insert the same keys. They do so before all else, in one
-- statement per key root, and in one order, so they wait for each other and never lock each other
-- out.

CREATE OR REPLACE FUNCTION omd_facts._root_statements(
    p_interface_id integer
)
RETURNS SETOF text
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $root_statements$
BEGIN
    RETURN QUERY
    WITH named AS (
        SELECT
            e.interface_id,
            e.entity_code,
            r.ancestor_id,
            r.child_columns
        FROM omd_facts.entity AS e
        CROSS JOIN LATERAL (
            SELECT f.ancestor_id, f.child_columns FROM omd_facts._references(e.entity_id) AS f
            UNION ALL
            SELECT e.entity_id, omd_facts._anchor_columns(e.entity_id)
            WHERE e.entity_kind <> 'CONTEXT'
        ) AS r
        WHERE e.interface_id = p_interface_id
    ),

    part AS (
        SELECT
            a.key_root_code,
            cardinality(n.child_columns) AS size,
            format(
                'SELECT %s FROM %I.%I AS d WHERE d.delivery_id = $1 AND d.acm_record_ind <> ''R'''
                ' AND num_nulls(%s) = 0',
                c.keys, 'wrk_' || i.interface_code, 'delta_' || n.entity_code, c.columns
            ) AS query
        FROM named AS n
        INNER JOIN omd_facts.interface AS i USING (interface_id)
        INNER JOIN omd_facts.entity AS a
            ON n.ancestor_id = a.entity_id AND a.key_root_code IS NOT NULL
        CROSS JOIN LATERAL (
            SELECT
                string_agg(format('d.%I AS key_%s', k.code, k.n), ', ' ORDER BY k.n) AS keys,
                string_agg(format('d.%I', k.code), ', ' ORDER BY k.n) AS columns
            FROM unnest(n.child_columns) WITH ORDINALITY AS k (code, n)
        ) AS c
    ),

    root AS (
        SELECT
            p.key_root_code,
            p.size,
            string_agg(p.query, E'\n    UNION ALL\n    ' ORDER BY p.query) AS query
        FROM part AS p
        GROUP BY p.key_root_code, p.size
    )

    SELECT
        format(
            $sql$INSERT INTO cfl.%1$I (%2$s)
SELECT DISTINCT %2$s
FROM (
    %3$s
) AS d
WHERE NOT EXISTS (SELECT FROM cfl.%1$I AS r WHERE %4$s)
ORDER BY %2$s
ON CONFLICT DO NOTHING$sql$,
            'kr_' || r.key_root_code, c.keys, r.query, c.key_match
        )
    FROM root AS r
    CROSS JOIN LATERAL (
        SELECT
            string_agg('key_' || n.n, ', ' ORDER BY n.n) AS keys,
            string_agg(format('r.key_%1$s = d.key_%1$s', n.n), ' AND ' ORDER BY n.n) AS key_match
        FROM generate_series(1, r.size) AS n (n)
    ) AS c
    ORDER BY r.key_root_code;
END
$root_statements$;

COMMENT ON FUNCTION omd_facts._root_statements IS
'Returns the statements that insert the key roots that a delta of the interface p_interface_id '
'names, in order. Parameter: $1 the delivery. Locks: none.';

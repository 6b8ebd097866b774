-- An index or a column that differs would make the exchange scan or rebuild, under its lock. Two
-- purges of a partition at once exchange the tables that the other one compares, so the spare
-- partition is held.

CREATE OR REPLACE FUNCTION omd_dispatch._require_spare_partition(
    p_family_code text,
    p_partition_code integer
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET lock_timeout = '5s'
AS $require_spare_partition$
DECLARE
    v_partition text := omd_dispatch._data_table(p_family_code, '_p' || p_partition_code);
    v_spare text := omd_dispatch._data_table(p_family_code, '_swap');
    v_problem text;
BEGIN
    IF to_regclass(v_spare) IS NULL THEN
        v_problem := 'it does not exist';
    ELSE
        IF EXISTS (
            SELECT FROM pg_class AS c WHERE c.oid = v_spare::regclass AND c.relkind = 'r'
        ) THEN
            EXECUTE format(
                'LOCK TABLE %s IN ACCESS SHARE MODE',
                omd_dispatch._data_table(p_family_code, '_swap')
            );
        END IF;
        WITH parts AS (
            SELECT
                a.attrelid AS relid,
                format(
                    'column %I %s%s%s%s', a.attname, format_type(a.atttypid, a.atttypmod),
                    coalesce(' COLLATE ' || nullif(a.attcollation, 0)::regcollation, ''),
                    CASE WHEN a.attnotnull THEN ' NOT NULL' ELSE '' END,
                    coalesce(
                        ' DEFAULT ' || a.attgenerated::text || pg_get_expr(d.adbin, d.adrelid),
                        ''
                    )
                ) AS part
            FROM pg_attribute AS a
            LEFT JOIN pg_attrdef AS d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
            WHERE a.attnum > 0 AND NOT a.attisdropped
            UNION ALL
            -- A check must have the same name, or the spare partition can't be attached.
            SELECT c.conrelid, concat_ws(
                ' ', 'constraint', CASE WHEN c.contype = 'c' THEN c.conname END,
                pg_get_constraintdef(c.oid)
            )
            FROM pg_constraint AS c
            WHERE c.contype <> 'n'
            UNION ALL
            SELECT c.oid, format(
                'kind %s%s%s', c.relkind, c.relpersistence,
                CASE WHEN c.relrowsecurity THEN ' ROW LEVEL SECURITY' ELSE '' END
            )
            FROM pg_class AS c
            UNION ALL
            SELECT t.tgrelid, format('trigger %I', t.tgname)
            FROM pg_trigger AS t
            WHERE NOT t.tgisinternal AND t.tgparentid = 0
            UNION ALL
            SELECT r.ev_class, format('rule %I', r.rulename) FROM pg_rewrite AS r
            UNION ALL
            SELECT h.inhparent, format('child %s', h.inhrelid::regclass) FROM pg_inherits AS h
            UNION ALL
            SELECT i.indrelid, regexp_replace(
                pg_get_indexdef(i.indexrelid), '^CREATE (UNIQUE )?INDEX \S+ ON \S+', 'index \1'
            )
            FROM pg_index AS i
            WHERE i.indisvalid
        ),

        ours AS (
            SELECT p.part, count(*) AS n FROM parts AS p
            WHERE p.relid = v_partition::regclass GROUP BY p.part
        ),

        spare AS (
            SELECT p.part, count(*) AS n FROM parts AS p
            WHERE p.relid = v_spare::regclass GROUP BY p.part
        )

        SELECT CASE
            WHEN t.part IS NULL OR t.n < s.n THEN 'it lacks the ' || s.part
            ELSE 'it has the ' || t.part || ', which the partition lacks'
        END
        INTO v_problem
        FROM ours AS s
        FULL JOIN spare AS t ON s.part = t.part
        WHERE s.n IS DISTINCT FROM t.n
        ORDER BY coalesce(s.part, t.part)
        LIMIT 1;
    END IF;
    IF v_problem IS NOT NULL THEN
        PERFORM omd.raise_error(
            'OM270',
            jsonb_build_object(
                'table_name', v_partition, 'twin_name', v_spare, 'problem', v_problem
            )
        );
    END IF;
END
$require_spare_partition$;

COMMENT ON FUNCTION omd_dispatch._require_spare_partition IS
'Refuses a spare partition for p_partition_code of p_family_code that differs from '
'it in columns, constraints, indexes or anything else that the exchange or the partition would '
'notice. Errors: OM270. Locks: the spare partition, for which it waits 5 seconds.';
GRANT EXECUTE ON FUNCTION omd_dispatch._require_spare_partition TO omd_admin;

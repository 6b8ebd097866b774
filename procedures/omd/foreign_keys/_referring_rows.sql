-- The operators are those of the key itself, since another = may be found by the path or by none.
-- Rows of a table that is no partitioned one and inherits to others are meant without theirs, as
-- the key means them. In a table without the stamp, and in a row where it is NULL, nothing tells
-- who wrote it: it goes with what it refers to, unless a Module loads the table. In PL/pgSQL a
-- session keeps the plan; as SQL it was made at each call.

CREATE OR REPLACE FUNCTION omd._referring_rows(
    p_constraint_id oid,
    p_referenced oid
)
RETURNS TABLE (
    referring oid,
    table_name text,
    constraint_name text,
    from_clause text,
    is_stranger text,
    stamp text,
    is_guarded boolean
)
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan
AS $referring_rows$
BEGIN
    RETURN QUERY
    WITH key AS (
        SELECT
            k.conrelid,
            k.conname,
            k.conkey,
            k.confkey,
            k.confrelid,
            k.conpfeqop,
            format('%I.%I', cn.nspname, c.relname) AS child,
            c.relkind AS child_kind,
            format('%I.%I', pn.nspname, p.relname) AS parent,
            p.relkind AS parent_kind
        FROM pg_constraint AS k
        INNER JOIN pg_class AS c ON k.conrelid = c.oid
        INNER JOIN pg_namespace AS cn ON c.relnamespace = cn.oid
        INNER JOIN pg_class AS p ON p_referenced = p.oid
        INNER JOIN pg_namespace AS pn ON p.relnamespace = pn.oid
        WHERE k.oid = p_constraint_id
    ),

    loader AS MATERIALIZED (
        SELECT
            m.module_code,
            m.insert_instance_column
        FROM key AS k
        CROSS JOIN LATERAL omd._sharing_modules(k.conrelid) AS m
    ),

    stamped AS MATERIALIZED (
        SELECT
            array_agg(
                CASE
                    WHEN t.typcategory = 'N' THEN format('(c.%I <> ALL ($1)) IS TRUE', a.attname)
                    ELSE format('(c.%I::text <> ALL ($1::text[])) IS TRUE', a.attname)
                END
            ) AS conditions,
            array_agg(format('c.%I::text', a.attname)) AS names
        FROM key AS k
        INNER JOIN pg_attribute AS a ON k.conrelid = a.attrelid
        INNER JOIN pg_type AS t ON a.atttypid = t.oid
        WHERE
            a.attnum > 0
            AND NOT a.attisdropped
            AND a.attname::text IN (
                SELECT 'omd_insert_module_instance_id' AS column_name
                UNION ALL
                SELECT l.insert_instance_column
                FROM loader AS l
            )
    )

    SELECT
        k.conrelid AS referring,
        k.child AS table_name,
        quote_ident(k.conname) AS constraint_name,
        format(
            '%s%s AS c INNER JOIN %s%s AS p ON %s',
            CASE WHEN k.child_kind <> 'p' THEN 'ONLY ' END,
            k.child,
            CASE WHEN k.parent_kind <> 'p' THEN 'ONLY ' END,
            k.parent,
            (
                SELECT
                    string_agg(
                        format(
                            'p.%I OPERATOR(%I.%s) c.%I',
                            pa.attname, n.nspname, o.oprname, ca.attname
                        ),
                        ' AND '
                    )
                FROM unnest(k.conkey, k.confkey, k.conpfeqop) AS u (child, parent, operator)
                INNER JOIN pg_attribute AS ca ON k.conrelid = ca.attrelid AND u.child = ca.attnum
                INNER JOIN pg_attribute AS pa ON k.confrelid = pa.attrelid AND u.parent = pa.attnum
                INNER JOIN pg_operator AS o ON u.operator = o.oid
                INNER JOIN pg_namespace AS n ON o.oprnamespace = n.oid
            )
        ) AS from_clause,
        concat_ws(
            ' OR ',
            coalesce(array_to_string(s.conditions, ' OR '), 'FALSE'),
            CASE
                WHEN EXISTS (SELECT FROM loader)
                    THEN
                        format(
                            'num_nonnulls(%s) = 0',
                            array_to_string(ARRAY['NULL'] || s.names, ', ')
                        )
            END
        ) AS is_stranger,
        format('coalesce(%s)', array_to_string(ARRAY['NULL'] || s.names, ', ')) AS stamp,
        s.names IS NOT NULL OR EXISTS (SELECT FROM loader) AS is_guarded
    FROM key AS k
    CROSS JOIN stamped AS s;
END
$referring_rows$;

COMMENT ON FUNCTION omd._referring_rows IS
'Returns how rows are found that refer by the foreign key p_constraint_id to rows of p_referenced, '
'which is the table of the key or a partition of it: the referring table; the FROM that joins it '
'as c with the other as p; the condition that c belongs to none of the runs $1; its stamp as '
'text; and whether such a row can exist (is_guarded). Locks: none.';
GRANT EXECUTE ON FUNCTION omd._referring_rows TO omd_runner, omd_admin;

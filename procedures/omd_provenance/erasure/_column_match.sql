-- Columns of one kind are compared by their index; others as texts.

CREATE OR REPLACE FUNCTION omd_provenance._column_match(
    p_table regclass,
    p_columns jsonb,
    p_key text[],
    p_key_types text[]
)
RETURNS text
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $column_match$
BEGIN
    RETURN (
        SELECT string_agg(format('(%s)', m.condition), ' AND ' ORDER BY m.attribute)
        FROM (
            -- The key may be in more than one column.
            SELECT
                c.attribute,
                string_agg(
                    format(
                        CASE
                            WHEN t.typcategory = kt.typcategory
                                AND (t.typcategory = 'N' OR t.oid = kt.oid OR t.typcategory = 'S')
                                THEN 't.%I = k.%I'
                            ELSE 't.%I::text = k.%I::text'
                        END,
                        c.name, c.attribute
                    ),
                    ' OR ' ORDER BY c.name
                ) AS condition
            FROM jsonb_each_text(p_columns) AS c (name, attribute)
            INNER JOIN unnest(p_key, p_key_types) AS k (attribute, data_type)
                ON c.attribute = k.attribute
            INNER JOIN pg_attribute AS a
                ON a.attrelid = p_table AND c.name = a.attname AND NOT a.attisdropped
            INNER JOIN pg_type AS d ON a.atttypid = d.oid
            INNER JOIN pg_type AS t
                ON t.oid = CASE WHEN d.typtype = 'd' THEN d.typbasetype ELSE d.oid END
            INNER JOIN pg_type AS kt ON kt.oid = k.data_type::regtype
            GROUP BY c.attribute
        ) AS m
    );
END
$column_match$;

COMMENT ON FUNCTION omd_provenance._column_match IS
'Returns the condition that a row t of p_table has the key k in p_columns, {column: attribute}; '
'the key has the attributes p_key of the types p_key_types. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_provenance._column_match TO omd_admin;

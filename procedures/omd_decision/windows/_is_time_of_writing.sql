-- The name and the default of a column tell; a view keeps the names, as a rule.

CREATE OR REPLACE FUNCTION omd_decision._is_time_of_writing(
    p_source text,
    p_column_name text
)
RETURNS boolean
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $is_time_of_writing$
BEGIN
    RETURN EXISTS (
        SELECT
        FROM omd.relations_under(omd.target_relation(p_source)) AS r
        LEFT JOIN pg_attribute AS a
            ON r.relation_id = a.attrelid AND a.attname = p_column_name AND NOT a.attisdropped
        LEFT JOIN pg_attrdef AS d ON a.attrelid = d.adrelid AND a.attnum = d.adnum
        WHERE r.routine IS NOT NULL
            OR a.attname = 'omd_insert_datetime'
            OR pg_get_expr(d.adbin, d.adrelid)
            ~ '^(CURRENT_TIMESTAMP|now\(\)|(clock|statement|transaction)_timestamp\(\))'
    );
END
$is_time_of_writing$;

COMMENT ON FUNCTION omd_decision._is_time_of_writing IS
'Returns whether rows of the table or view p_source get their p_column_name when they are '
'written, or a room knows how far they may be read by it. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_decision._is_time_of_writing TO omd_runner;

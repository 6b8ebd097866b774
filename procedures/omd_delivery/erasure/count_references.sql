-- The columns of such a target are not its key.

CREATE OR REPLACE FUNCTION omd_delivery.count_references(
    p_subject jsonb
)
RETURNS TABLE (
    entity_code text,
    table_code text,
    key_count bigint,
    row_count bigint,
    keys jsonb
)
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET timezone = 'UTC'
AS $count_references$
DECLARE
    v_target record;
    v_table text;
BEGIN
    FOR v_target IN SELECT s.* FROM omd_delivery._subject_sql(p_subject) AS s LOOP
        FOREACH v_table IN ARRAY ARRAY[v_target.lvl_table, v_target.delta_table] LOOP
            entity_code := v_target.entity_code;
            table_code := v_table;
            EXECUTE format(
                $sql$
                WITH found AS (
                    SELECT ROW(%1$s) AS key, o.own
                    FROM %2$s AS l
                    INNER JOIN %3$s ON %4$s
                    CROSS JOIN LATERAL (
                        SELECT to_jsonb(x) AS own FROM (SELECT %5$s) AS x
                    ) AS o
                )

                SELECT count(DISTINCT f.key), count(*), coalesce(jsonb_agg(DISTINCT f.own), '[]')
                FROM found AS f
                $sql$,
                v_target.key_list, v_table, v_target.keys_sql, v_target.match_sql,
                v_target.key_columns
            ) INTO key_count, row_count, keys USING p_subject -> 'keys';
            RETURN NEXT;
        END LOOP;
    END LOOP;
END
$count_references$;

COMMENT ON FUNCTION omd_delivery.count_references IS
'For rooms: Returns how many rows of the targets of p_subject refer to its keys, to how many of '
'them, and the keys of these rows, per table of LVL and deltas. Locks: none.';

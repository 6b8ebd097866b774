-- What was written through views is in no delta.

CREATE OR REPLACE FUNCTION omd_facts.count_references(
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
BEGIN
    FOR v_target IN
        SELECT s.* FROM omd_facts._subject_sql(p_subject) AS s WHERE s.context_table IS NOT NULL
    LOOP
        entity_code := v_target.entity_code;
        table_code := v_target.context_table;
        EXECUTE format(
            $sql$
            WITH found AS (
                SELECT ROW(%1$s) AS key, w.own
                FROM %2$s AS a
                INNER JOIN %3$s AS o ON a.acm_id = o.acm_id
                INNER JOIN %4$s ON %5$s
                CROSS JOIN LATERAL (SELECT to_jsonb(x) AS own FROM (SELECT %6$s) AS x) AS w
            )

            SELECT count(DISTINCT f.key), count(*), coalesce(jsonb_agg(DISTINCT f.own), '[]')
            FROM found AS f
            $sql$,
            v_target.key_list, v_target.anchor, v_target.context_table, v_target.keys_sql,
            v_target.match_sql, v_target.own_list
        ) INTO key_count, row_count, keys USING p_subject -> 'keys';
        RETURN NEXT;
    END LOOP;
END
$count_references$;

COMMENT ON FUNCTION omd_facts.count_references IS
'For rooms: Returns how many rows of contexts of the targets of p_subject refer to its keys, to '
'how many of them, and the keys of these rows, per table. Locks: none.';

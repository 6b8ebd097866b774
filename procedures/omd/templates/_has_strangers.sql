-- The rights of the caller apply, as they do for the rollback. A staging table has few runs and
-- many rows, so the query walks from stamp to stamp by the index and stops at the first stranger.
-- Without an index one scan finds the distinct stamps; MATERIALIZED, since the planner would ask
-- for each row of the table whose run it is.

CREATE OR REPLACE FUNCTION omd._has_strangers(
    p_module_id integer
)
RETURNS boolean
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $has_strangers$
DECLARE
    v_stamp record;
    v_has boolean;
BEGIN
    SELECT s.* INTO v_stamp FROM omd._stamp_column(p_module_id) AS s;
    IF v_stamp.is_numeric AND v_stamp.is_indexed THEN
        EXECUTE format(
            'WITH RECURSIVE stamp (id, is_own) AS ('
            'SELECT n.id, omd._is_run_of(%1$s, n.id::numeric)'
            ' FROM (SELECT min(t.%2$I) AS id FROM %3$s AS t) AS n'
            ' UNION ALL '
            'SELECT n.id, omd._is_run_of(%1$s, n.id::numeric) FROM stamp AS s'
            ' CROSS JOIN LATERAL (SELECT min(t.%2$I) AS id FROM %3$s AS t WHERE t.%2$I > s.id) AS n'
            ' WHERE s.is_own'
            ') SELECT EXISTS (SELECT FROM stamp AS s WHERE s.id IS NOT NULL AND NOT s.is_own)'
            ' OR EXISTS (SELECT FROM %3$s AS t WHERE t.%2$I IS NULL)',
            p_module_id, v_stamp.column_name, v_stamp.table_name
        )
        INTO v_has;
    ELSE
        EXECUTE format(
            'WITH stamp AS MATERIALIZED (SELECT DISTINCT %1$s AS id FROM %2$s AS t)'
            ' SELECT EXISTS (SELECT FROM stamp AS s WHERE NOT omd._is_run_of(%3$s, s.id))',
            CASE
                WHEN v_stamp.is_numeric THEN format('t.%I::numeric', v_stamp.column_name)
                ELSE
                    format(
                        'CASE WHEN t.%1$I::text ~ ''^[0-9]+$'' THEN t.%1$I::text::numeric END',
                        v_stamp.column_name
                    )
            END,
            v_stamp.table_name,
            p_module_id
        )
        INTO v_has;
    END IF;
    RETURN v_has;
END
$has_strangers$;

COMMENT ON FUNCTION omd._has_strangers IS
'Returns whether the target of the Module p_module_id, which has a column of instance ids, holds a '
'row that no instance of it wrote: stamped by another, by a purged one, or by none. Locks: none.';
GRANT EXECUTE ON FUNCTION omd._has_strangers TO omd_reader;

-- The runs whose rows are replaced are all undone by it, so what they wrote elsewhere goes with
-- their rows as in a rollback.

CREATE OR REPLACE FUNCTION omd_lineage._refuse_lost_by_reload(
    p_table regclass,
    p_new regclass,
    p_key text[],
    p_insert_instance_column text,
    p_module_instance_id bigint
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
SET row_security = off
AS $refuse_lost_by_reload$
DECLARE
    v_undone bigint[];
BEGIN
    IF NOT omd_lineage._lock_destination(p_table) THEN
        RETURN;
    END IF;
    PERFORM FROM pg_attribute AS a
    WHERE a.attrelid = p_table
        AND a.attname = p_insert_instance_column
        AND NOT a.attisdropped;
    IF FOUND THEN
        EXECUTE format(
            'SELECT array_agg(DISTINCT t.%1$I::bigint) FROM %2$s AS t WHERE t.%1$I IS NOT NULL',
            p_insert_instance_column, p_table
        ) INTO v_undone;
    END IF;
    PERFORM omd_lineage._refuse_loss(
        p_table,
        CASE
            WHEN p_key IS NULL THEN 'TRUE'
            ELSE format(
                'NOT EXISTS (SELECT FROM %s AS n WHERE %s)',
                p_new,
                (omd_lineage._match_keys(p_table, p_key, 'p', 'n', FALSE))[1]
            )
        END,
        array_append(v_undone, p_module_instance_id)
    );
END
$refuse_lost_by_reload$;

COMMENT ON FUNCTION omd_lineage._refuse_lost_by_reload IS
'Raises OM118 when a reload of p_table by DELETE would delete or change rows of other runs through '
'a foreign key: the rows go whose key p_key (NULL: all rows) is not in p_new. The runs that '
'p_insert_instance_column names, and p_module_instance_id, are no others. Errors: OM118. Locks: '
'the table, as _lock_destination does, and rows that go with its rows.';
GRANT EXECUTE ON FUNCTION omd_lineage._refuse_lost_by_reload TO omd_runner;

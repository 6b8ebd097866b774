-- Rows that others refer to can't go and come again, so they are updated by their key, and only
-- those that are really gone are deleted. Writers wait, readers don't. A policy must not hide rows
-- that are to go, so with row_security off it is an error instead.

CREATE OR REPLACE FUNCTION omd_lineage._exchange_rows(
    p_table regclass,
    p_new regclass,
    p_method text,
    p_key text[]
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
SET row_security = off
AS $exchange_rows$
DECLARE
    v_columns text;
    v_update text;
    v_same text;
    v_schema text;
    v_name text;
    v_message text;
    v_detail text;
BEGIN
    SELECT
        string_agg(quote_ident(a.attname), ', ' ORDER BY a.attnum),
        string_agg(format('%1$I = n.%1$I', a.attname), ', ' ORDER BY a.attnum)
        FILTER (WHERE a.attname <> ALL(p_key))
    INTO v_columns, v_update
    FROM pg_attribute AS a
    WHERE a.attrelid = p_table
        AND a.attnum > 0
        AND NOT a.attisdropped
        AND a.attgenerated = ''
        AND a.attidentity <> 'a';
    v_same := (
        SELECT string_agg(format('t.%1$I = n.%1$I', k.name), ' AND ' ORDER BY k.n)
        FROM unnest(p_key) WITH ORDINALITY AS k (name, n)
    );

    IF p_method = 'TRUNCATE' THEN
        EXECUTE format('TRUNCATE TABLE %s', p_table);
    ELSIF p_key IS NULL THEN
        EXECUTE format('LOCK TABLE %s IN SHARE ROW EXCLUSIVE MODE', p_table);
        EXECUTE format('DELETE FROM %s', p_table);
    ELSE
        EXECUTE format('LOCK TABLE %s IN SHARE ROW EXCLUSIVE MODE', p_table);
        -- Two new rows with one key would become one row, so this index refuses them.
        EXECUTE format(
            'CREATE UNIQUE INDEX ON %s (%s)',
            p_new,
            (SELECT string_agg(quote_ident(k.name), ', ') FROM unnest(p_key) AS k (name))
        );
        EXECUTE format('ANALYZE %s', p_new);
        BEGIN
            EXECUTE format(
                'DELETE FROM %s AS t WHERE NOT EXISTS (SELECT FROM %s AS n WHERE %s)',
                p_table, p_new, v_same
            );
        EXCEPTION
            WHEN foreign_key_violation OR restrict_violation THEN
                GET STACKED DIAGNOSTICS
                    v_schema = SCHEMA_NAME,
                    v_name = TABLE_NAME,
                    v_message = MESSAGE_TEXT,
                    v_detail = PG_EXCEPTION_DETAIL;
                PERFORM omd_lineage._raise_referenced(
                    p_table,
                    format('%I.%I', v_schema, v_name),
                    concat_ws(': ', v_message, nullif(v_detail, '')),
                    NULL
                );
        END;
        IF v_update IS NOT NULL THEN
            EXECUTE format(
                'UPDATE %s AS t SET %s FROM %s AS n WHERE %s', p_table, v_update, p_new, v_same
            );
        END IF;
        EXECUTE format(
            'DELETE FROM %s AS n WHERE EXISTS (SELECT FROM %s AS t WHERE %s)',
            p_new, p_table, v_same
        );
    END IF;
    EXECUTE format('INSERT INTO %s (%s) SELECT %s FROM %s', p_table, v_columns, v_columns, p_new);
END
$exchange_rows$;

COMMENT ON FUNCTION omd_lineage._exchange_rows IS
'Replaces the rows of p_table by those of the temporary table p_new, by p_method: TRUNCATE, or '
'DELETE. With p_key the rows are updated by these columns, and only those whose key is gone are '
'deleted. Errors: OM118: rows of another table refer to a row that is gone. Locks: with DELETE the'
' table against writers, with TRUNCATE exclusively.';
GRANT EXECUTE ON FUNCTION omd_lineage._exchange_rows TO omd_runner;

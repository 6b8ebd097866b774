-- The table is a user's, so it is the caller who deletes; a row that a policy hides from him is an
-- error, and not passed over. What his triggers and constraints say may name the person, so nobody
-- hears it. Deferred constraints speak now, since at the commit they would be heard.

CREATE OR REPLACE FUNCTION omd_provenance._erase_table(
    p_table_code text,
    p_columns jsonb,
    p_action text,
    p_subject jsonb,
    p_is_keyed boolean DEFAULT FALSE
)
RETURNS jsonb
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
SET row_security = off
SET client_min_messages = error
AS $erase_table$
DECLARE
    v_table CONSTANT regclass := omd.target_relation(p_table_code)::regclass;
    v_key CONSTANT text[] := ARRAY(SELECT jsonb_array_elements_text(p_subject -> 'key'));
    v_types CONSTANT text[] := ARRAY(SELECT jsonb_array_elements_text(p_subject -> 'types'));
    v_keys_sql text;
    v_match text;
    v_list text;
    v_item jsonb := jsonb_build_object(
        'layer', CASE WHEN p_is_keyed THEN 'DECISION' ELSE 'TABLE' END,
        'table_code', p_table_code,
        'outcome', CASE p_action WHEN 'NULL' THEN 'NULLED' ELSE 'DELETED' END,
        'key_count', NULL, 'row_count', NULL, 'text', NULL
    );
    v_key_count bigint;
    v_row_count bigint;
    v_code text;
BEGIN
    IF v_table IS NULL AND omd_lake.is_catalogued(p_table_code) THEN
        RETURN omd_provenance._put_off(p_table_code, p_columns, p_action, p_subject -> 'keys');
    ELSIF v_table IS NULL OR EXISTS (
        SELECT FROM jsonb_object_keys(p_columns) AS c (name)
        WHERE NOT p_is_keyed AND NOT EXISTS (
            SELECT FROM pg_attribute AS a
            WHERE a.attrelid = v_table AND c.name = a.attname AND NOT a.attisdropped
        )
    ) THEN
        RETURN v_item || jsonb_build_object(
            'layer', 'NOT_REACHED', 'outcome', 'NOT_REACHED',
            'text', 'the table, or a column that was registered, is not there any more'
        );
    END IF;
    SELECT
        format('jsonb_to_recordset($1) AS k (%s)', string_agg(
            format('%I %s', n.code, n.data_type), ', ' ORDER BY n.place
        )),
        string_agg(format('k.%I', n.code), ', ' ORDER BY n.place)
    INTO v_keys_sql, v_list
    FROM unnest(v_key, v_types) WITH ORDINALITY AS n (code, data_type, place);
    IF p_is_keyed THEN
        SELECT string_agg(
            format(
                '(t.omd_key -> %1$L = to_jsonb(k.%2$I)'
                ' OR t.omd_key ->> %1$L = to_jsonb(k.%2$I) #>> ''{}'')',
                c.name, c.attribute
            ),
            ' AND ' ORDER BY c.name
        )
        INTO v_match
        FROM jsonb_each_text(p_columns) AS c (name, attribute);
    ELSE
        v_match := omd_provenance._column_match(v_table, p_columns, v_key, v_types);
    END IF;
    BEGIN
        IF p_action = 'NULL' THEN
            EXECUTE format(
                'SELECT count(DISTINCT ROW(%s)) FROM %s AS t INNER JOIN %s ON %s',
                v_list, v_table, v_keys_sql, v_match
            ) INTO v_key_count USING p_subject -> 'keys';
            -- A row may hold the keys of two persons.
            EXECUTE format(
                'UPDATE %s AS t SET %s WHERE EXISTS (SELECT FROM %s WHERE %s)',
                v_table,
                (
                    SELECT string_agg(
                        format(
                            '%1$I = CASE WHEN EXISTS (SELECT FROM %2$s WHERE %3$s AND %4$s)'
                            ' THEN NULL ELSE t.%1$I END',
                            c.name, v_keys_sql, v_match,
                            omd_provenance._column_match(
                                v_table, jsonb_build_object(c.name, c.attribute), v_key, v_types
                            )
                        ),
                        ', ' ORDER BY c.name
                    )
                    FROM jsonb_each_text(p_columns) AS c (name, attribute)
                ),
                v_keys_sql, v_match
            ) USING p_subject -> 'keys';
            GET DIAGNOSTICS v_row_count = ROW_COUNT;
        ELSE
            EXECUTE format(
                'WITH gone AS (DELETE FROM %s AS t USING %s WHERE %s RETURNING ROW(%s) AS key)'
                ' SELECT count(DISTINCT g.key), count(*) FROM gone AS g',
                v_table, v_keys_sql, v_match, v_list
            ) INTO v_key_count, v_row_count USING p_subject -> 'keys';
        END IF;
        SET CONSTRAINTS ALL IMMEDIATE;
        RETURN v_item || jsonb_build_object('key_count', v_key_count, 'row_count', v_row_count);
    EXCEPTION
        WHEN insufficient_privilege THEN
            v_code := format('%s has not the right to do it', current_user);
        WHEN integrity_constraint_violation THEN
            GET STACKED DIAGNOSTICS v_code = CONSTRAINT_NAME;
            v_code := format('the constraint %s keeps these rows', v_code);
        WHEN deadlock_detected OR lock_not_available OR serialization_failure THEN
            RAISE;
        WHEN OTHERS THEN
            v_code := format('it failed with SQLSTATE %s', SQLSTATE);
    END;
    RETURN v_item || jsonb_build_object(
        'layer', 'NOT_REACHED', 'outcome', 'NOT_REACHED', 'text', v_code
    );
END
$erase_table$;

COMMENT ON FUNCTION omd_provenance._erase_table IS
'Erases p_subject from the table p_table_code, which has its key in p_columns, {column: '
'attribute}: p_action DELETE or NULL; p_is_keyed: these are properties of its column omd_key. '
'Returns the item. Locks: the rows.';
GRANT EXECUTE ON FUNCTION omd_provenance._erase_table TO omd_admin;

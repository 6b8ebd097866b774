-- The new content is built first, so that readers wait only for the exchange, which is one visible
-- change. The function runs with the rights of the caller.

CREATE OR REPLACE FUNCTION omd_lineage._reload_table(
    p_transforms text[],
    p_table_code text,
    p_insert_instance_column text,
    p_module_instance_id bigint,
    p_record_source text,
    p_reload_method text,
    OUT p_row_count bigint,
    OUT p_nulls jsonb,
    OUT p_method text
)
RETURNS record
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $reload_table$
DECLARE
    v_table regclass := to_regclass(p_table_code);
    v_new text;
    v_way record;
    v_is_swapped boolean;
    v_missing text;
    v_view text;
    v_inserted record;
    v_name text[] := parse_ident(p_table_code);
BEGIN
    IF v_table IS NULL THEN
        PERFORM omd.raise_error(
            'OM207',
            jsonb_build_object(
                'transform', p_transforms[1],
                'problem', format('there is no table %s', p_table_code)
            )
        );
    END IF;
    v_way := omd_lineage._reload_way(v_table, p_reload_method);
    p_method := concat_ws(': ', v_way.p_method, v_way.p_reason);
    v_is_swapped := v_way.p_method = 'SWAP';
    v_new := format(
        '%I.%I',
        CASE WHEN v_is_swapped THEN v_name[1] ELSE 'pg_temp' END,
        left(v_name[2], 40) || '_new_' || p_module_instance_id
    );
    EXECUTE format(
        'CREATE %s TABLE %s (LIKE %s INCLUDING DEFAULTS INCLUDING GENERATED%s)',
        CASE WHEN v_is_swapped THEN '' ELSE 'TEMPORARY' END,
        v_new,
        v_table,
        CASE
            WHEN v_is_swapped THEN ' INCLUDING ALL'
            ELSE ' INCLUDING IDENTITY'
        END
    );
    p_row_count := 0;
    p_nulls := '{}';
    FOREACH v_view IN ARRAY p_transforms LOOP
        -- A key that the table itself makes would tell nothing about which row is which.
        SELECT k.name INTO v_missing
        FROM unnest(v_way.p_key) AS k (name)
        WHERE to_regclass(v_view) IS NOT NULL
            AND NOT EXISTS (
                SELECT FROM pg_attribute AS a
                WHERE a.attrelid = to_regclass(v_view) AND a.attname = k.name
            )
        LIMIT 1;
        IF FOUND THEN
            PERFORM omd.raise_error(
                'OM207',
                jsonb_build_object(
                    'transform', v_view,
                    'problem', format(
                        'it has no column "%s", by which %s', v_missing, v_way.p_reason
                    )
                )
            );
        END IF;
        v_inserted := omd_lineage._insert_transform(
            v_view, v_new, p_insert_instance_column, p_module_instance_id, p_record_source
        );
        p_row_count := p_row_count + v_inserted.p_row_count;
        p_nulls := omd_lineage._add_counts(p_nulls, v_inserted.p_nulls);
    END LOOP;

    IF v_is_swapped THEN
        EXECUTE format('DROP TABLE %s', v_table);
        EXECUTE format('ALTER TABLE %s RENAME TO %I', v_new, v_name[2]);
    ELSE
        IF v_way.p_method = 'DELETE' THEN
            PERFORM omd_lineage._refuse_lost_by_reload(
                v_table, v_new::regclass, v_way.p_key, p_insert_instance_column,
                p_module_instance_id
            );
        END IF;
        PERFORM omd_lineage._exchange_rows(
            v_table, v_new::regclass, v_way.p_method, v_way.p_key
        );
        EXECUTE format('DROP TABLE %s', v_new);
    END IF;
END
$reload_table$;

COMMENT ON FUNCTION omd_lineage._reload_table IS
'Replaces the content of p_table_code by the rows of the views p_transforms, which carry '
'p_module_instance_id and p_record_source as in _insert_transform, as _reload_way says for '
'p_reload_method. Returns p_row_count, the number of rows, p_nulls, the counts of NULLs, and '
'p_method, how it was done and why so. Errors: OM118: rows of another table refer to a row that is'
' gone; OM207: a view or the table is missing, or the table lacks a column of a view, or a view '
'lacks the key that foreign keys refer to. Locks: those of _exchange_rows; with SWAP the table, '
'exclusively.';
GRANT EXECUTE ON FUNCTION omd_lineage._reload_table TO omd_runner;

-- The rollback template of a topic that replaces rows calls it, since an undo has to do what the
-- step did, backwards: one step after the other, the newest first. A key that a later step, of
-- another topic, has replaced again keeps its row; what is put back is then what that step has
-- replaced. Deleting comes first, because the key may not be the only one that is unique.

CREATE OR REPLACE FUNCTION omd_lineage.put_back_rows(
    p_instance_array bigint[]
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
SET datestyle = 'ISO'
SET intervalstyle = 'postgres'
SET extra_float_digits = 1
AS $put_back_rows$
DECLARE
    v_target record;
    v_table regclass;
    v_stamp text;
    v_step record;
    v_later record;
    v_old text;
    v_columns text;
    v_condition text;
    v_later_ids bigint[];
BEGIN
    p_instance_array := omd.require_argument('p_instance_array', p_instance_array);
    v_target := omd_lineage._step_module(p_instance_array[1]);
    v_table := v_target.p_table_code::regclass;
    v_stamp := format('d.%I::bigint', v_target.p_insert_instance_column);
    IF EXISTS (
        SELECT FROM omd_lineage.replacement AS r
        WHERE r.module_id = v_target.p_module_id
            AND r.is_purged
            AND r.module_instance_id >= (SELECT min(u.id) FROM unnest(p_instance_array) AS u (id))
    ) THEN
        PERFORM omd.raise_error(
            'OM217',
            jsonb_build_object(
                'module_code', v_target.p_module_code, 'table_code', v_target.p_table_code,
                'module_instance_ids', p_instance_array
            )
        );
    END IF;

    EXECUTE format('LOCK TABLE %s IN SHARE ROW EXCLUSIVE MODE', v_table);
    FOR v_step IN
        SELECT r.* FROM omd_lineage.replacement AS r
        WHERE r.module_instance_id = ANY(p_instance_array) AND r.table_code = v_table::text
        ORDER BY r.module_instance_id DESC
    LOOP
        v_old := format('pg_temp.omd_old_%s', v_step.module_instance_id);
        PERFORM omd_lineage._fill_kept_table(
            v_old, v_table, v_step.module_instance_id, v_step.row_columns,
            v_step.module_instance_id, NULL
        );

        -- Rows that are left or come back, in their places.
        IF omd_lineage._has_unique_key(v_table, v_step.key_columns) THEN
            v_condition := (
                omd_lineage._match_keys(v_table, v_step.key_columns, 'd', 'o', FALSE)
            )[1];
            EXECUTE format(
                'DELETE FROM %s AS d WHERE %s = $1 AND NOT EXISTS (SELECT FROM %s AS o WHERE %s)',
                v_table, v_stamp, v_old, v_condition
            ) USING v_step.module_instance_id;
            SELECT string_agg(format('%1$I = o.%1$I', a.attname), ', ') INTO v_columns
            FROM unnest(v_step.row_columns) AS c (name)
            INNER JOIN pg_attribute AS a ON a.attrelid = v_table AND a.attname = c.name
            WHERE a.attidentity <> 'a' AND a.attgenerated = '';
            EXECUTE format(
                'WITH back AS ('
                'UPDATE %s AS d SET %s FROM %s AS o WHERE %s = $1 AND %s RETURNING o.ctid AS place)'
                ' DELETE FROM %s AS o USING back AS b WHERE o.ctid = b.place',
                v_table, v_columns, v_old, v_stamp, v_condition, v_old
            ) USING v_step.module_instance_id;
        ELSE
            EXECUTE format('DELETE FROM %s AS d WHERE %s = $1', v_table, v_stamp)
            USING v_step.module_instance_id;
        END IF;

        -- Keys that a later step has replaced.
        FOR v_later IN
            SELECT r.* FROM omd_lineage.replacement AS r
            WHERE r.module_instance_id IN (
                SELECT k.module_instance_id
                FROM omd_lineage._kept_rows(NULL, v_step.module_instance_id) AS k
            )
        LOOP
            PERFORM omd_lineage._fill_kept_table(
                'pg_temp.omd_replaced', v_table, v_later.module_instance_id, v_later.row_columns,
                NULL, v_step.module_instance_id
            );
            PERFORM omd_lineage._hand_on_rows(
                v_table, v_step.key_columns, v_old, 'pg_temp.omd_replaced', v_later.row_columns,
                v_target.p_insert_instance_column, v_later.module_instance_id, 'TRUE'
            );
            EXECUTE 'DROP TABLE pg_temp.omd_replaced';
        END LOOP;

        -- Keys that this step has deleted, and a later one inserted.
        EXECUTE format(
            'SELECT array_agg(DISTINCT %s) FROM %s AS d INNER JOIN %s AS o ON %s',
            v_stamp, v_table, v_old,
            (omd_lineage._match_keys(v_table, v_step.key_columns, 'd', 'o', FALSE))[1]
        ) INTO v_later_ids;
        FOR v_later IN
            SELECT r.* FROM omd_lineage.replacement AS r
            WHERE r.module_instance_id = ANY(v_later_ids)
        LOOP
            PERFORM omd_lineage._hand_on_rows(
                v_table, v_step.key_columns, v_old, v_table::text, v_later.row_columns,
                v_target.p_insert_instance_column, v_later.module_instance_id,
                format('%s = %s', v_stamp, v_later.module_instance_id)
            );
        END LOOP;
        FOREACH v_condition IN ARRAY
            omd_lineage._match_keys(v_table, v_step.key_columns, 'd', 'o', TRUE)
        LOOP
            EXECUTE format('DELETE FROM %s AS o USING %s AS d WHERE %s', v_old, v_table, v_condition);
        END LOOP;

        v_columns := (
            SELECT string_agg(quote_ident(c.name), ', ') FROM unnest(v_step.row_columns) AS c (name)
        );
        EXECUTE format(
            'INSERT INTO %s (%s) OVERRIDING SYSTEM VALUE SELECT %s FROM %s',
            v_table, v_columns, v_columns, v_old
        );
        EXECUTE format('DROP TABLE %s', v_old);
        PERFORM omd_lineage._forget_rows(ARRAY[v_step.module_instance_id]);
    END LOOP;
    EXECUTE format('DELETE FROM %s AS d WHERE %s = ANY ($1)', v_table, v_stamp)
    USING p_instance_array;
    PERFORM omd_lineage._forget_rows(p_instance_array);
END
$put_back_rows$;

COMMENT ON FUNCTION omd_lineage.put_back_rows IS
'For rooms: '
'Undoes the Module Instances p_instance_array of one Module in its destination: deletes their rows'
' and puts back those that they had replaced by key, as they were. A key that a later step has '
'replaced keeps its row. The statements of omd.build_rollback_sql call it. Errors: OM004: there is'
' no such instance; OM005: p_instance_array is NULL; OM217: the replaced rows are purged; OM218: '
'the destination lacks a column of theirs. Locks: the destination, against other writers.';
GRANT EXECUTE ON FUNCTION omd_lineage.put_back_rows TO omd_runner, omd_admin;

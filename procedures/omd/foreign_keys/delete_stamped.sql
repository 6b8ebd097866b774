-- The rows of a run are found by its stamp, never by TRUNCATE: other runs may have written since. A
-- DELETE answers how many rows of each run it took. What decides besides it (a trigger, a rule, a
-- view) may leave rows, and only then is it worth to look again: where the stamp has no index, the
-- look costs as much as the DELETE.

CREATE OR REPLACE FUNCTION omd.delete_stamped(
    p_module_code text,
    p_table_code text,
    p_column text,
    p_instance_array bigint[],
    p_undone bigint[]
)
RETURNS TABLE (
    module_instance_id bigint,
    rows_gone bigint
)
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
SET jit = off
SET row_security = off
AS $delete_stamped$
DECLARE
    v_table CONSTANT regclass := omd.quote_table(p_table_code, 'POSTGRES')::regclass;
    v_loss jsonb;
    v_left bigint := 0::bigint;
    v_problem text;
    v_detail text;
BEGIN
    IF omd.may_lose_rows(v_table) THEN
        EXECUTE format(
            'SELECT count(*) FROM (SELECT FROM %s AS p WHERE p.%I = ANY ($1) FOR UPDATE) AS locked',
            v_table, p_column
        )
        USING p_instance_array;
        v_loss := omd.find_loss(
            v_table, format('p.%I = ANY ($2)', p_column), p_undone || p_instance_array,
            p_instance_array
        );
        v_problem := v_loss ->> 'problem';
    END IF;
    IF v_problem IS NULL THEN
        BEGIN
            RETURN QUERY EXECUTE format(
                'WITH gone AS (DELETE FROM %1$s AS d WHERE d.%2$I = ANY ($1)'
                ' RETURNING d.%2$I::bigint AS id)'
                ' SELECT g.id, count(*) FROM gone AS g GROUP BY g.id',
                v_table, p_column
            )
            USING p_instance_array;
        EXCEPTION
            WHEN foreign_key_violation OR restrict_violation THEN
                GET STACKED DIAGNOSTICS
                    v_problem = MESSAGE_TEXT,
                    v_detail = PG_EXCEPTION_DETAIL;
        END;
    END IF;
    PERFORM FROM pg_class AS c
    WHERE c.oid = v_table
        AND (c.relkind <> 'r' OR c.relhastriggers OR c.relhasrules);
    IF FOUND AND v_problem IS NULL THEN
        EXECUTE format('SELECT count(*) FROM %s AS d WHERE d.%I = ANY ($1)', v_table, p_column)
        INTO v_left
        USING p_instance_array;
    END IF;
    IF v_left > 0 THEN
        PERFORM omd._refuse_left_rows(p_module_code, p_table_code, p_instance_array, v_left);
    END IF;
    IF v_problem IS NOT NULL THEN
        PERFORM omd.raise_error(
            'OM112',
            jsonb_build_object(
                'module_code', p_module_code,
                'table_code', p_table_code,
                'module_instance_ids', p_instance_array,
                'problem', v_problem,
                'way_out', coalesce(
                    v_loss ->> 'way_out',
                    'Take back what refers to the rows as well, or delete it by hand, and plan the '
                    'recall again.'
                )
            )
            || CASE
                WHEN v_detail <> '' THEN jsonb_build_object('error_detail', v_detail) ELSE '{}'
            END
        );
    END IF;
END
$delete_stamped$;

COMMENT ON FUNCTION omd.delete_stamped IS
'For rooms: Deletes the rows of p_table_code whose column p_column holds one of p_instance_array, '
'runs of the Module p_module_code, with the rights of the caller, and returns how many of each. '
'p_undone: what else is undone in this transaction, so that its rows may go too. Errors: OM112: '
'rows of others refer to them, or rows are left. Locks: the rows; those that a foreign key takes '
'along.';
GRANT EXECUTE ON FUNCTION omd.delete_stamped TO omd_admin;

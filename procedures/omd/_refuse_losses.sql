-- A foreign key with ON DELETE CASCADE, SET NULL or SET DEFAULT deletes or changes rows of other
-- runs without a word. Only for such keys are the rows locked before the look. Who may delete but
-- not update can't lock rows; the lock of the table keeps new references away as well, and also
-- other writers.

CREATE OR REPLACE FUNCTION omd._refuse_losses(
    p_module_instance_id bigint,
    p_module_id integer,
    p_instance_array bigint[]
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
SET jit = off
AS $refuse_losses$
DECLARE
    v_place record;
    v_undone bigint[];
    v_relations oid[];
    v_rows tid[];
    v_seen_relations oid[];
    v_seen_rows tid[];
BEGIN
    FOR v_place IN SELECT p.* FROM omd._guarded_places(p_module_id) AS p LOOP
        v_undone := coalesce(v_undone, ARRAY(
            SELECT unnest(r.instance_array) FROM omd._rollback_parts(p_module_instance_id) AS r
        ));
        BEGIN
            IF has_any_column_privilege(v_place.relation, 'UPDATE') THEN
                EXECUTE format(
                    'SELECT count(*) FROM (SELECT FROM %s AS p WHERE p.%I = ANY ($1) FOR UPDATE)'
                    ' AS locked',
                    v_place.table_name,
                    v_place.column_name
                )
                USING p_instance_array;
            ELSE
                EXECUTE format('LOCK TABLE %s IN EXCLUSIVE MODE', v_place.table_name);
            END IF;
        EXCEPTION
            WHEN insufficient_privilege THEN
                PERFORM omd._raise_unseen_reference(
                    p_module_instance_id, v_place.table_name, NULL, 'SELECT, UPDATE', SQLERRM
                );
        END;

        -- The rows to undo are found by their stamp, and those that go with them by their place.
        SELECT array_agg(t.relation), array_agg(t.row_id) INTO v_relations, v_rows
        FROM omd._take_referring(
            p_module_instance_id, v_place.relation, FALSE,
            format('p.%I = ANY ($2)', v_place.column_name), v_undone, p_instance_array, NULL
        ) AS t;
        v_seen_relations := '{}';
        v_seen_rows := '{}';
        WHILE v_rows IS NOT NULL LOOP
            SELECT array_agg(n.relation), array_agg(n.row_id) INTO v_relations, v_rows
            FROM (
                SELECT f.relation, f.row_id FROM unnest(v_relations, v_rows) AS f (relation, row_id)
                EXCEPT
                SELECT s.relation, s.row_id
                FROM unnest(v_seen_relations, v_seen_rows) AS s (relation, row_id)
            ) AS n;
            v_seen_relations := v_seen_relations || v_relations;
            v_seen_rows := v_seen_rows || v_rows;
            SELECT array_agg(t.relation), array_agg(t.row_id) INTO v_relations, v_rows
            FROM (
                SELECT f.relation, array_agg(f.row_id) AS row_ids
                FROM unnest(v_relations, v_rows) AS f (relation, row_id)
                GROUP BY f.relation
            ) AS g
            CROSS JOIN LATERAL omd._take_referring(
                p_module_instance_id, g.relation, TRUE, 'p.ctid = ANY ($3)', v_undone, NULL,
                g.row_ids
            ) AS t;
        END LOOP;
    END LOOP;
END
$refuse_losses$;

COMMENT ON FUNCTION omd._refuse_losses IS
'Raises OM112 when the rollback of the instances p_instance_array of the Module p_module_id, as a '
'part of what the Module Instance has to undo, would delete or change a row of another run through '
'a foreign key, at whatever depth; or when the caller may not see that. Errors: OM112. Locks: '
'where there is such a key, the rows to undo, and those that go with them.';
REVOKE ALL ON FUNCTION omd._refuse_losses FROM PUBLIC;
GRANT EXECUTE ON FUNCTION omd._refuse_losses TO omd_runner;

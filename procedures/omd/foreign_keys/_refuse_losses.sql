-- Only for keys that may delete or change rows of other runs are the rows locked before the look.
-- Who may delete but not update can't lock rows; the lock of the table keeps new references away as
-- well, and also other writers.

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
    v_loss jsonb;
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
                v_loss := omd._unseen_reference(
                    v_place.table_name, NULL, 'SELECT, UPDATE', SQLERRM
                );
        END;
        v_loss := coalesce(
            v_loss,
            omd.find_loss(
                v_place.relation, format('p.%I = ANY ($2)', v_place.column_name), v_undone,
                p_instance_array
            )
        );
        IF v_loss IS NOT NULL THEN
            PERFORM omd._refuse_rollback(
                p_module_instance_id,
                v_loss ->> 'table_name',
                v_loss ->> 'problem',
                ARRAY(SELECT jsonb_array_elements_text(v_loss -> 'stamps')),
                NULL,
                v_loss ->> 'way_out'
            );
        END IF;
    END LOOP;
END
$refuse_losses$;

COMMENT ON FUNCTION omd._refuse_losses IS
'Raises OM112 when the rollback of the instances p_instance_array of the Module p_module_id, as a '
'part of what the Module Instance has to undo, would delete or change a row of another run through '
'a foreign key, at whatever depth; or when the caller may not see that. Errors: OM112. Locks: '
'where there is such a key, the rows to undo, and those that go with them.';
GRANT EXECUTE ON FUNCTION omd._refuse_losses TO omd_runner, omd_admin;

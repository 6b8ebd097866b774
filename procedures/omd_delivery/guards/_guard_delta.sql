-- A run writes its delta itself, since a Spark job moves the rows; so each statement is looked at,
-- once, however many rows it has. The delivery is locked first and looked at in a statement of its
-- own, which sees what the former holder of the lock has committed. apply_delta locks it against
-- this before it counts, and a call that ends the run before it rolls back.

CREATE OR REPLACE FUNCTION omd_delivery._guard_delta()
RETURNS trigger
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $guard_delta$
DECLARE
    v_entity_id CONSTANT integer := tg_argv[0]::integer;
    v_table_name CONSTANT text := format('%I.%I', tg_table_schema, tg_table_name);
    v_rows record;
    v_problem text;
BEGIN
    FOR v_rows IN
        SELECT DISTINCT n.delivery_id, n.acm_audit_id FROM new_rows AS n
    LOOP
        PERFORM FROM omd_delivery.delivery AS d
        WHERE d.delivery_id = v_rows.delivery_id
        FOR SHARE;
        SELECT
            CASE
                WHEN d.delivery_id IS NULL
                    THEN format('there is no delivery %s', v_rows.delivery_id)
                WHEN d.delivery_status NOT IN ('LOADED', 'VALIDATED')
                    THEN format('delivery %s is %s', d.delivery_id, d.delivery_status)
                WHEN NOT d.is_running OR NOT omd_delivery._run_lives(d.delivery_id)
                    THEN format('no run of delivery %s is at work', d.delivery_id)
                WHEN de.module_instance_id IS DISTINCT FROM v_rows.acm_audit_id
                    THEN format(
                        'acm_audit_id %s is not the instance of run %s of delivery %s',
                        v_rows.acm_audit_id, d.attempt, d.delivery_id
                    )
            END
        INTO v_problem
        FROM (VALUES (v_rows.delivery_id)) AS r (delivery_id)
        LEFT JOIN omd_delivery.delivery AS d ON r.delivery_id = d.delivery_id
        LEFT JOIN omd_delivery.delivery_entity AS de
            ON r.delivery_id = de.delivery_id AND de.entity_id = v_entity_id;
        IF v_problem IS NOT NULL THEN
            PERFORM omd_delivery._raise_rows(v_table_name, v_problem);
        END IF;
    END LOOP;
    RETURN NULL;
END
$guard_delta$;

COMMENT ON FUNCTION omd_delivery._guard_delta IS
'Refuses rows of a delta that are not of the run at work of a delivery that is not applied. '
'Errors: OM138. Locks: the delivery FOR SHARE, until the transaction ends.';

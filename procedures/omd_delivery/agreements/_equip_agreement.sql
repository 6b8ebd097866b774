-- A model may grow after its agreements, so its deployment calls this too. Nothing is dropped: a
-- column that the model has no longer stays and is not read. What is there already is not altered,
-- so nobody waits for a tenant who is staging rows.

CREATE OR REPLACE FUNCTION omd_delivery._equip_agreement(
    p_agreement_id integer
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $equip_agreement$
DECLARE
    v_agreement record;
    v_entity record;
    v_column text;
    v_table text;
    v_batch_id integer;
    v_routine text;
BEGIN
    SELECT a.*, i.interface_code INTO v_agreement
    FROM omd_delivery.agreement AS a
    INNER JOIN omd_delivery.interface AS i USING (interface_id)
    WHERE a.agreement_id = p_agreement_id;
    IF v_agreement.layer_code <> 'LVL' THEN
        SELECT h.routine INTO v_routine
        FROM omd.room_hooks('EQUIP_AGREEMENT', v_agreement.layer_code) AS h;
        EXECUTE format('SELECT %s($1, $2, $3)', v_routine)
        USING v_agreement.interface_id, v_agreement.agreement_code, v_agreement.layer_code;
        RETURN;
    END IF;
    PERFORM omd_delivery._register_agreement_module(v_agreement.agreement_code);
    CALL omd.register_batch(
        v_agreement.batch_code,
        p_batch_description => format(
            'Deliveries under the agreement %s.', v_agreement.agreement_code
        ),
        p_batch_id => v_batch_id
    );
    CALL omd_delivery._make_schema(
        v_agreement.staging_schema,
        format('What is staged under the agreement %s.', v_agreement.agreement_code)
    );
    FOR v_entity IN
        SELECT e.entity_id, e.entity_code, e.indicator_column, e.is_derived
        FROM omd_delivery.entity AS e
        WHERE e.interface_id = v_agreement.interface_id AND NOT e.is_retired
        ORDER BY e.ordinal
    LOOP
        CALL omd.add_module_to_batch(
            v_agreement.batch_code,
            format('lvl.%s.%s', v_agreement.interface_code, v_entity.entity_code)
        );
        CONTINUE WHEN v_entity.is_derived;
        v_table := format('%I.%I', v_agreement.staging_schema, v_entity.entity_code);
        IF to_regclass(v_table) IS NULL THEN
            EXECUTE format('CREATE TABLE %s ()', v_table);
            EXECUTE format('ALTER TABLE %s REPLICA IDENTITY FULL', v_table);
            EXECUTE format('GRANT SELECT ON %s TO omd_data_reader', v_table);
            EXECUTE format('GRANT INSERT, DELETE ON %s TO omd_runner', v_table);
            CALL omd_delivery._guard_table(v_table, NULL, p_agreement_id);
        END IF;
        FOR v_column IN
            SELECT s.column_name
            FROM (
                SELECT
                    a.source_column,
                    a.ordinal
                FROM omd_delivery.attribute AS a
                WHERE a.entity_id = v_entity.entity_id
                    AND NOT a.is_retired
                    AND a.source_column IS NOT NULL
                UNION ALL
                SELECT
                    v_entity.indicator_column,
                    NULL
            ) AS s (column_name, ordinal)
            WHERE NOT EXISTS (
                SELECT FROM pg_attribute AS c
                WHERE c.attrelid = to_regclass(v_table) AND c.attname::text = s.column_name
            )
            GROUP BY s.column_name
            ORDER BY min(s.ordinal)
        LOOP
            EXECUTE format('ALTER TABLE %s ADD COLUMN %I text COLLATE "C"', v_table, v_column);
        END LOOP;
    END LOOP;
END
$equip_agreement$;

COMMENT ON FUNCTION omd_delivery._equip_agreement IS
'Makes what the agreement p_agreement_id lacks for the present model: its Module, its Batch with '
'the Modules of the interface, and its staging tables. For an agreement of another layer than LVL '
'it calls the routine of the room that has it. Errors: OM233: the schema of its staging tables '
'belongs to somebody else; OM234: it can''t be created. Locks: the Batch, the staging tables that '
'change.';

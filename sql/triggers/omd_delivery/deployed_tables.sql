-- Interfaces and agreements that are older than the triggers of their tables get them too.

DO $do$
DECLARE
    v_table record;
BEGIN
    FOR v_table IN
        SELECT
            format('%I.%I', i.work_schema, 'delta_' || e.entity_code) AS table_name,
            e.entity_id,
            NULL::integer AS agreement_id
        FROM omd_delivery.entity AS e
        INNER JOIN omd_delivery.interface AS i USING (interface_id)
        UNION ALL
        SELECT
            format('%I.%I', a.staging_schema, e.entity_code) AS table_name,
            NULL AS entity_id,
            a.agreement_id
        FROM omd_delivery.agreement AS a
        INNER JOIN omd_delivery.entity AS e USING (interface_id)
        ORDER BY 1
    LOOP
        IF to_regclass(v_table.table_name) IS NOT NULL THEN
            CALL omd_delivery._guard_table(
                v_table.table_name, v_table.entity_id, v_table.agreement_id
            );
        END IF;
    END LOOP;
END
$do$;

-- A run writes into a folder of its own, so what a dead one left is in nobody's way.

CREATE OR REPLACE PROCEDURE omd_facts.begin_export(
    p_delivery_id bigint,
    p_lease interval DEFAULT NULL,
    INOUT p_module_instance_id bigint DEFAULT NULL,
    INOUT p_processing_indicator text DEFAULT NULL,
    INOUT p_attempt integer DEFAULT NULL,
    INOUT p_plan jsonb DEFAULT NULL,
    p_batch_instance_id bigint DEFAULT NULL,
    p_execution_context jsonb DEFAULT NULL
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $begin_export$
DECLARE
    v_export omd_facts.export := omd_facts._hold_export(p_delivery_id);
    v_module_code CONSTANT text := 'export.' || v_export.agreement_code;
    v_reason text;
BEGIN
    PERFORM omd_facts._require_unended(p_delivery_id);
    p_module_instance_id := NULL;
    p_processing_indicator := NULL;
    CALL omd.begin_for_room(
        v_module_code, p_batch_instance_id, p_execution_context, p_lease, NULL,
        p_module_instance_id, p_processing_indicator, v_reason
    );
    IF p_processing_indicator <> 'P' THEN
        p_attempt := NULL;
        p_plan := NULL;
        RETURN;
    END IF;
    -- Before it reads, so that a run at work is found.
    PERFORM omd.record_run_input(
        p_module_instance_id, omd_facts._exported_tables(p_delivery_id), NULL
    );
    p_attempt := v_export.attempt + 1;
    UPDATE omd_facts.export AS x SET
        attempt = p_attempt,
        module_instance_id = p_module_instance_id
    WHERE x.delivery_id = p_delivery_id;
    UPDATE omd_facts.export_entity AS n
    SET since = omd_facts._export_since(v_export, n.entity_id)
    WHERE n.delivery_id = p_delivery_id;
    SELECT
        jsonb_agg(
            jsonb_build_object(
                'entity_code', e.entity_code,
                'folder', format(
                    '%s/%s/delivery=%s/_attempt=%s/%s',
                    rtrim(v_export.target_uri, '/'), v_export.agreement_code, p_delivery_id,
                    p_attempt, e.entity_code
                ),
                'query', omd_facts._export_sql(
                    n.entity_id, v_export.export_mode, n.as_of, n.since
                ),
                'parts', (
                    SELECT
                        jsonb_agg(
                            omd_facts._export_sql(
                                n.entity_id, v_export.export_mode, n.as_of, n.since, c.low, c.high
                            )
                            ORDER BY c.low NULLS FIRST
                        )
                    FROM omd_facts._export_cuts(
                        n.entity_id, (v_export.options ->> 'partitions')::integer
                    ) AS c
                ),
                'since', n.since
            )
            ORDER BY e.load_order
        )
    INTO p_plan
    FROM omd_facts.export_entity AS n
    INNER JOIN omd_facts.entity AS e USING (entity_id)
    WHERE n.delivery_id = p_delivery_id;
END
$begin_export$;

COMMENT ON PROCEDURE omd_facts.begin_export IS
'For the driver: '
'Begins a run of the export p_delivery_id, by the Module export.<agreement>; after a failure it '
'begins another. p_lease: how long it lives without omd.heartbeat; NULL: for ever. '
'p_batch_instance_id: the Batch Instance that it is part of; NULL: it is on its own. '
'p_execution_context: JSON about where it runs. Returns p_module_instance_id and '
'p_processing_indicator as omd.begin_module does, and where it is P p_attempt, the number of the '
'run, and p_plan, a list of what to write: entity_code, folder, query, parts (queries that return '
'its rows in parts), since (the moment since which CHANGES has them; NULL: all rows). Errors: '
'OM003, OM005, OM011, OM013, OM014, OM034: there is no such export, OM101 (the Batch has just '
'ended), OM155: it has ended. Locks: the export, the Module row. May be NULL: p_attempt, p_plan.';
GRANT EXECUTE ON PROCEDURE omd_facts.begin_export TO omd_runner;

-- The Modules that an older version has registered get their kinds, and agreements their Modules.
-- This changes rows that a begin holds, and the begin may wait for what the installation has
-- locked, so it is done in the transaction after it. Each installation runs the script; it changes
-- nothing that is as it should be. Modules are locked in the order of their ids.

SET LOCAL search_path = pg_catalog, pg_temp;
SET LOCAL ROLE omd_owner;

DO $do$
BEGIN
    PERFORM omd.set_module_kind(k.module_id, k.module_kind_code, k.engine)
    FROM (
        SELECT t.module_id, 'TOPIC' AS module_kind_code, t.engine
        FROM omd_lineage.topic AS t
        UNION ALL
        SELECT i.module_id, 'FACTS', 'POSTGRES'
        FROM omd_facts.interface AS i
        UNION ALL
        SELECT e.module_id, 'PART', NULL
        FROM omd_delivery.entity AS e
        UNION ALL
        SELECT m.module_id, 'PART', NULL
        FROM omd.module_target AS m
        WHERE m.module_code = 'omd_lake_maintain'
        UNION ALL
        SELECT m.module_id, NULL, NULL
        FROM omd.module AS m
        WHERE m.module_kind_code = 'SPARK' AND m.executable ~ '\S'
        UNION ALL
        SELECT s.module_id, 'STAGE', omd_decision._engine_of(s.stage_id)
        FROM omd_decision.stage AS s
    ) AS k
    WHERE k.module_id IS NOT NULL
    ORDER BY k.module_id;

    PERFORM omd_delivery._register_agreement_module(a.agreement_code)
    FROM omd_delivery.agreement AS a
    WHERE a.layer_code = 'LVL' AND NOT EXISTS (
        SELECT FROM omd.module_target AS m
        WHERE m.module_code = 'delivery.' || a.agreement_code AND m.module_kind_code = 'DELIVERY'
    )
    ORDER BY a.agreement_code;
    PERFORM omd_facts.equip_agreement(a.interface_id, a.agreement_code, a.layer_code)
    FROM omd_delivery.agreement AS a
    WHERE a.layer_code IN ('GDAL', 'EXPORT') AND NOT EXISTS (
        SELECT FROM omd.module_target AS m
        WHERE m.module_code = lower(a.layer_code) || '.' || a.agreement_code
            AND m.module_kind_code IN ('PART', 'EXPORT')
    )
    ORDER BY a.agreement_code;
END
$do$;

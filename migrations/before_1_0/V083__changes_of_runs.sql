-- V083: facts: the changes of a run are found at once, and what former loads and exports have read
-- is recorded. Applied once.

CREATE INDEX ix_change_run ON omd_facts.change (module_instance_id)
WHERE module_instance_id IS NOT NULL;
CREATE INDEX ix_gdal_delivery_run ON omd_facts.gdal_delivery (module_instance_id);

-- A load has read the runs of its delivery.
INSERT INTO omd.run_input (module_instance_id, table_code, source_instances)
SELECT
    l.module_instance_id,
    format('%I.%I', i.lvl_schema, e.entity_code) AS table_code,
    ARRAY[de.module_instance_id] AS source_instances
FROM omd_facts.load_log AS l
INNER JOIN omd_delivery.delivery_entity AS de ON l.delivery_id = de.delivery_id
INNER JOIN omd_delivery.entity AS e ON de.entity_id = e.entity_id
INNER JOIN omd_delivery.interface AS i ON e.interface_id = i.interface_id
WHERE de.module_instance_id IS NOT NULL
ON CONFLICT (module_instance_id, table_code) DO NOTHING;

-- An export has read its entities, and their supertypes.
INSERT INTO omd.run_input (module_instance_id, table_code)
WITH RECURSIVE exported AS (
    SELECT
        x.module_instance_id,
        n.entity_id
    FROM omd_facts.export AS x
    INNER JOIN omd_facts.export_entity AS n ON x.delivery_id = n.delivery_id
    WHERE x.module_instance_id IS NOT NULL
    UNION
    SELECT
        x.module_instance_id,
        e.supertype_id AS entity_id
    FROM exported AS x
    INNER JOIN omd_facts.entity AS e ON x.entity_id = e.entity_id
    WHERE e.supertype_id IS NOT NULL
)

SELECT
    x.module_instance_id,
    format('%I.%I', 'gdal_' || i.interface_code, e.entity_code) AS table_code
FROM exported AS x
INNER JOIN omd_facts.entity AS e ON x.entity_id = e.entity_id
INNER JOIN omd_facts.interface AS i ON e.interface_id = i.interface_id
ON CONFLICT (module_instance_id, table_code) DO NOTHING;

INSERT INTO omd.module_read (module_id, table_code)
SELECT DISTINCT
    mi.module_id,
    r.table_code
FROM omd.run_input AS r
INNER JOIN omd.module_instance AS mi ON r.module_instance_id = mi.module_instance_id
ON CONFLICT (module_id, table_code) DO NOTHING;

-- Who reads by changes knows exactly what was undone before.
INSERT INTO omd.undone_run (
    module_instance_id, undone_by, undone_datetime, transaction_id, undone_upto
)
SELECT
    l.module_instance_id,
    l.undone_by,
    mi.start_datetime AS undone_datetime,
    '0'::xid8 AS transaction_id,
    l.undone_by AS undone_upto
FROM omd_facts.load_log AS l
INNER JOIN omd.module_instance AS mi ON l.undone_by = mi.module_instance_id
ON CONFLICT (module_instance_id) DO NOTHING;

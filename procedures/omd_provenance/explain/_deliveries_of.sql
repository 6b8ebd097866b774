-- Two rooms have runs of deliveries: the entities of one, and its loads, edits and exports.

CREATE OR REPLACE FUNCTION omd_provenance._deliveries_of(
    p_instance_array bigint[]
)
RETURNS TABLE (
    module_instance_id bigint,
    delivery_id bigint,
    entity_code text,
    load_kind text
)
LANGUAGE sql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT
        d.module_instance_id,
        d.delivery_id,
        (parse_ident(d.table_code))[2] AS entity_code,
        'DELIVERY' AS load_kind
    FROM omd_delivery.deliveries_of_runs(p_instance_array) AS d
    UNION ALL
    SELECT
        f.module_instance_id,
        f.delivery_id,
        NULL::text AS entity_code,
        f.load_kind
    FROM omd_facts.deliveries_of(p_instance_array) AS f;
END;

COMMENT ON FUNCTION omd_provenance._deliveries_of IS
'Returns the delivery of each run among p_instance_array that has one, the entity that it brought '
'(NULL: it brought several), and what it did with it: load_kind DELIVERY, LOAD, RESYNC (without a '
'delivery), CRUD or EXPORT. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_provenance._deliveries_of TO omd_data_reader;

-- It is the one proof of physical deletes; it holds no key.

CREATE OR REPLACE FUNCTION omd_delivery.log_removal(
    p_delivery_id bigint,
    p_entity_id integer,
    p_module_instance_id bigint,
    p_layer text,
    p_table_name text,
    p_key_count bigint,
    p_row_count bigint
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $log_removal$
BEGIN
    INSERT INTO omd_delivery.removal (
        delivery_id, entity_id, module_instance_id, layer, table_name, key_count, row_count
    )
    VALUES (
        p_delivery_id, p_entity_id, p_module_instance_id, p_layer, p_table_name, p_key_count,
        p_row_count
    );
END
$log_removal$;

COMMENT ON FUNCTION omd_delivery.log_removal IS
'For rooms: Records that p_module_instance_id removed p_row_count rows of p_key_count keys of '
'the entity p_entity_id from p_table_name in p_layer for the delivery p_delivery_id. Locks: none.';

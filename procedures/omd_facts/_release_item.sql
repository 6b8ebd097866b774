-- The failure is committed; this is a transaction of its own.

CREATE OR REPLACE FUNCTION omd_facts._release_item(
    p_queue_id bigint,
    p_module_instance_id bigint
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $release_item$
BEGIN
    PERFORM omd_delivery.release_queue_item(p_queue_id, p_module_instance_id);
END
$release_item$;

COMMENT ON FUNCTION omd_facts._release_item IS
'Puts the item p_queue_id, whose load by p_module_instance_id has failed, back into the queue. '
'Locks: the item.';
REVOKE ALL ON FUNCTION omd_facts._release_item FROM PUBLIC;
GRANT EXECUTE ON FUNCTION omd_facts._release_item TO omd_runner;

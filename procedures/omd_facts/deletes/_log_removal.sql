-- The proof of a physical delete through a view, also for an undo.

CREATE OR REPLACE FUNCTION omd_facts._log_removal(
    p_interface_id integer,
    p_entity_id integer,
    p_layer text,
    p_table text,
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
    PERFORM omd_delivery.log_removal(
        i.writer_delivery_id, p_entity_id, i.writer_instance_id, p_layer, p_table, 1, p_row_count
    )
    FROM omd_facts.interface AS i
    WHERE i.interface_id = p_interface_id;
    UPDATE omd_facts.entity AS e SET has_removals = TRUE
    WHERE e.entity_id = p_entity_id AND NOT e.has_removals;
END
$log_removal$;

COMMENT ON FUNCTION omd_facts._log_removal IS
'Records that the writer at work removed p_row_count rows of one key from p_table. Locks: the '
'entity.';

-- A session asks for it, and the delivery must allow it. Who reads by changes is waited for.

CREATE OR REPLACE FUNCTION omd_facts._require_physical(
    p_interface_id integer
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $require_physical$
DECLARE
    v_delivery_id bigint;
BEGIN
    SELECT g.delivery_id INTO v_delivery_id
    FROM omd_facts.interface AS i
    INNER JOIN omd_facts.gdal_delivery AS g ON i.writer_delivery_id = g.delivery_id
    WHERE i.interface_id = p_interface_id AND NOT g.is_physical_delete_allowed;
    IF FOUND THEN
        PERFORM omd.raise_error('OM156', jsonb_build_object('delivery_id', v_delivery_id));
    END IF;
    PERFORM omd_facts._take_position(p_interface_id);
END
$require_physical$;

COMMENT ON FUNCTION omd_facts._require_physical IS
'Raises OM156 where the delivery of the writer at work does not allow to delete physically, and '
'takes the position of the interface p_interface_id. Errors: OM159. Locks: the position, against '
'readers.';

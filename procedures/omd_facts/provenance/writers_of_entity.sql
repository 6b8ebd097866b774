-- Loads and writers through views.

CREATE OR REPLACE FUNCTION omd_facts.writers_of_entity(
    p_table_code text
)
RETURNS integer[]
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $writers_of_entity$
DECLARE
    v_interface omd_facts.interface;
BEGIN
    SELECT i.* INTO v_interface
    FROM omd_facts.interface AS i
    INNER JOIN omd_facts.entity AS e ON i.interface_id = e.interface_id
    WHERE format('%I.%I', 'gdal_' || i.interface_code, e.entity_code) = p_table_code;
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    RETURN ARRAY(
        SELECT v_interface.module_id
        UNION
        SELECT m.module_id
        FROM (
            SELECT DISTINCT g.agreement_code FROM omd_facts.gdal_delivery AS g
            WHERE g.interface_id = v_interface.interface_id
        ) AS a
        INNER JOIN omd.module_target AS m ON m.module_code = 'gdal.' || a.agreement_code
    );
END
$writers_of_entity$;

COMMENT ON FUNCTION omd_facts.writers_of_entity IS
'For rooms: returns the Modules whose runs write the entity with the current view p_table_code; '
'NULL: it is no such view. Locks: none.';

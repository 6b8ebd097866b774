-- It looks for one row, and reads no more.

CREATE OR REPLACE FUNCTION omd_delivery._has_rows(
    p_entity_id integer
)
RETURNS boolean
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $has_rows$
DECLARE
    v_entity record;
    v_has_rows boolean;
BEGIN
    SELECT i.lvl_schema, i.work_schema, e.entity_code INTO v_entity
    FROM omd_delivery.entity AS e
    INNER JOIN omd_delivery.interface AS i USING (interface_id)
    WHERE e.entity_id = p_entity_id;
    EXECUTE format(
        'SELECT EXISTS (SELECT FROM %I.%I) OR EXISTS (SELECT FROM %I.%I)',
        v_entity.lvl_schema, v_entity.entity_code,
        v_entity.work_schema, 'delta_' || v_entity.entity_code
    ) INTO v_has_rows;
    RETURN v_has_rows;
END
$has_rows$;

COMMENT ON FUNCTION omd_delivery._has_rows IS
'Returns whether the entity p_entity_id has a row in the Logical Validation Layer or among its '
'deltas. Locks: none.';

-- CREATE OR REPLACE VIEW adds columns and removes none. All views of an entity have the same ones.

CREATE OR REPLACE FUNCTION omd_facts._views_shrink(
    p_interface_id integer
)
RETURNS boolean
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $views_shrink$
BEGIN
    RETURN EXISTS (
        SELECT
        FROM omd_facts.entity AS e
        INNER JOIN omd_facts.interface AS i USING (interface_id)
        INNER JOIN pg_attribute AS c
            ON c.attrelid = to_regclass(
                format('%I.%I', 'gdal_' || i.interface_code, e.entity_code)
            )
                AND c.attnum > 0
                AND NOT c.attisdropped
        WHERE e.interface_id = p_interface_id
            AND NOT EXISTS (
                SELECT FROM omd_facts._view_items(e.entity_id) AS v WHERE v.name = c.attname
            )
    );
END
$views_shrink$;

COMMENT ON FUNCTION omd_facts._views_shrink IS
'Returns whether a view of the interface p_interface_id has a column that its mapping has no '
'longer. Locks: none.';

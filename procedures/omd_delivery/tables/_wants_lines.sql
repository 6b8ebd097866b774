-- The lines of one agreement need columns in the tables of all of its interface.

CREATE OR REPLACE FUNCTION omd_delivery._wants_lines(
    p_interface_id integer
)
RETURNS boolean
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $wants_lines$
BEGIN
    RETURN EXISTS (
        SELECT
        FROM omd_delivery.agreement AS a
        WHERE
            a.interface_id = p_interface_id
            AND a.layer_code = 'LVL'
            AND a.options @> '{"lines": true}'
    );
END
$wants_lines$;

COMMENT ON FUNCTION omd_delivery._wants_lines IS
'Returns whether an agreement over the interface p_interface_id keeps lines. Locks: none.';

-- What agreements have made by the model follows it; the part of this room that knows agreements
-- fills this in.

CREATE OR REPLACE PROCEDURE omd_delivery._follow_model(
    p_interface_id integer
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $follow_model$
BEGIN
    PERFORM p_interface_id;
END
$follow_model$;

COMMENT ON PROCEDURE omd_delivery._follow_model IS
'Brings what the agreements of the interface p_interface_id have made to its model. Locks: none.';
REVOKE ALL ON PROCEDURE omd_delivery._follow_model FROM PUBLIC;

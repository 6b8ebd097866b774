-- The agreements of an interface have Batches and staging tables that follow its model.

CREATE OR REPLACE PROCEDURE omd_delivery._follow_model(
    p_interface_id integer
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $follow_model$
BEGIN
    PERFORM omd_delivery._equip_agreement(a.agreement_id)
    FROM omd_delivery.agreement AS a
    WHERE a.interface_id = p_interface_id;
END
$follow_model$;

COMMENT ON PROCEDURE omd_delivery._follow_model IS
'Brings what the agreements of the interface p_interface_id have made to its model. Locks: the '
'Batches and the staging tables that change.';

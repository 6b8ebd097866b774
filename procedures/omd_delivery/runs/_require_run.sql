-- An instance of a run may be ended by hand or declared dead without a word to this room.

CREATE OR REPLACE FUNCTION omd_delivery._require_run(
    p_delivery omd_delivery.delivery
)
RETURNS void
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $require_run$
BEGIN
    IF NOT p_delivery.is_running OR EXISTS (
        SELECT
        FROM omd_delivery.delivery_entity AS e
        CROSS JOIN LATERAL omd.instance_state(e.module_instance_id) AS s
        WHERE e.delivery_id = p_delivery.delivery_id AND s.execution_status_code <> 'E'
    ) THEN
        PERFORM omd_delivery._raise_fenced(p_delivery, p_delivery.attempt);
    END IF;
END
$require_run$;

COMMENT ON FUNCTION omd_delivery._require_run IS
'Refuses a call for the newest run of p_delivery when that has ended. Errors: OM132: it has '
'ended. Locks: none.';

-- The number of the run is the fence: a program whose run was given up can't change what a later
-- one does.

CREATE OR REPLACE FUNCTION omd_delivery._hold_attempt(
    p_delivery_id bigint,
    p_attempt integer
)
RETURNS omd_delivery.delivery
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $hold_attempt$
DECLARE
    v_delivery omd_delivery.delivery;
BEGIN
    p_attempt := omd.require_argument('p_attempt', p_attempt);
    v_delivery := omd_delivery._hold_delivery(p_delivery_id);
    IF v_delivery.attempt <> p_attempt THEN
        PERFORM omd_delivery._raise_fenced(v_delivery, p_attempt);
    END IF;
    RETURN v_delivery;
END
$hold_attempt$;

COMMENT ON FUNCTION omd_delivery._hold_attempt IS
'Returns the delivery p_delivery_id, whose newest run is p_attempt, under the lock of its '
'interface. Errors: OM005: an argument is NULL; OM014: the isolation level is not read '
'committed; OM034: there is no such delivery; OM132: p_attempt is not its newest run. Locks: the '
'interface.';

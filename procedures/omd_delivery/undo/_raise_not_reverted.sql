-- A revert and the rollback of an accepted run are refused alike.

CREATE OR REPLACE FUNCTION omd_delivery._raise_not_reverted(
    p_delivery_id bigint,
    p_problem text
)
RETURNS void
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $raise_not_reverted$
BEGIN
    PERFORM omd.raise_error(
        'OM133',
        jsonb_build_object(
            'delivery_id', p_delivery_id,
            'problem', p_problem,
            'next_command', coalesce(
                omd_delivery._way_back(p_delivery_id),
                'Deliver the former state again as a new delivery.'
            )
        )
    );
END
$raise_not_reverted$;

COMMENT ON FUNCTION omd_delivery._raise_not_reverted IS
'Raises OM133 for the delivery p_delivery_id, because of p_problem. Locks: none.';

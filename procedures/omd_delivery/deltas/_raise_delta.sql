-- A delta that does not fit the current rows was made from others.

CREATE OR REPLACE FUNCTION omd_delivery._raise_delta(
    p_delivery_id bigint,
    p_entity_code text,
    p_problem text
)
RETURNS void
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $raise_delta$
BEGIN
    PERFORM omd.raise_error(
        'OM134',
        jsonb_build_object(
            'delivery_id', p_delivery_id, 'entity', left(p_entity_code, 200), 'problem', p_problem
        )
    );
END
$raise_delta$;

COMMENT ON FUNCTION omd_delivery._raise_delta IS
'Raises OM134 for the delta of p_entity_code of the delivery p_delivery_id, because of '
'p_problem. Locks: none.';

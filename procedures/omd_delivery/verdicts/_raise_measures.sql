-- Measures that do not fit the plan would make a wrong verdict.

CREATE OR REPLACE FUNCTION omd_delivery._raise_measures(
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
AS $raise_measures$
BEGIN
    PERFORM omd.raise_error(
        'OM040',
        jsonb_build_object(
            'delivery_id', p_delivery_id,
            'entity', left(p_entity_code, 200),
            'problem', left(p_problem, 1000)
        )
    );
END
$raise_measures$;

COMMENT ON FUNCTION omd_delivery._raise_measures IS
'Raises OM040 for the measures of p_entity_code of the delivery p_delivery_id, because of '
'p_problem. Locks: none.';

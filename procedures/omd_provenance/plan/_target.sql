-- The target is kept as it was given, since the act finds its runs again: what stands may have
-- changed meanwhile. An entity run means its delivery.

CREATE OR REPLACE FUNCTION omd_provenance._target(
    p_module_instance_id bigint,
    p_delivery_id bigint,
    p_batch_instance_id bigint,
    p_agreement_code text,
    p_since timestamptz,
    p_is_stale boolean
)
RETURNS jsonb
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $target$
DECLARE
    v_target CONSTANT jsonb := jsonb_strip_nulls(
        jsonb_build_object(
            'module_instance_id', p_module_instance_id,
            'delivery_id', p_delivery_id,
            'batch_instance_id', p_batch_instance_id,
            'agreement_code', p_agreement_code,
            'since', p_since,
            'is_stale', nullif(p_is_stale, FALSE)
        )
    );
BEGIN
    IF v_target = '{}' THEN
        PERFORM omd.raise_error(
            'OM005',
            jsonb_build_object(
                'argument',
                'one of p_module_instance_id, p_delivery_id, p_batch_instance_id, '
                    'p_agreement_code with p_since, p_is_stale'
            )
        );
    ELSIF num_nonnulls(
        p_module_instance_id, p_delivery_id, p_batch_instance_id, p_agreement_code,
        nullif(p_is_stale, FALSE)
    ) <> 1
    THEN
        PERFORM omd.raise_error(
            'OM013',
            jsonb_build_object(
                'argument',
                'p_module_instance_id, p_delivery_id, p_batch_instance_id, p_agreement_code, '
                    'p_is_stale',
                'value', v_target,
                'expected', 'exactly one of these'
            )
        );
    ELSIF p_agreement_code IS NOT NULL AND p_since IS NULL THEN
        PERFORM omd.raise_error('OM005', jsonb_build_object('argument', 'p_since'));
    ELSIF p_agreement_code IS NULL AND p_since IS NOT NULL THEN
        PERFORM omd.raise_error(
            'OM013',
            jsonb_build_object(
                'argument', 'p_since', 'value', p_since,
                'expected', 'given with p_agreement_code only'
            )
        );
    END IF;
    RETURN v_target;
END
$target$;

COMMENT ON FUNCTION omd_provenance._target IS
'Returns what is to be recalled as JSON: the one argument that was given, with p_since for '
'p_agreement_code. Errors: OM005: none is given, or p_since is missing; OM013: more than one is '
'given. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_provenance._target TO omd_admin;

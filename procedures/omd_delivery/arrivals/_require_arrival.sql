-- An empty object removes it, as NULL keeps it.

CREATE OR REPLACE FUNCTION omd_delivery._require_arrival(
    p_agreement omd_delivery.agreement,
    p_arrival jsonb
)
RETURNS jsonb
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $require_arrival$
DECLARE
    v_problems jsonb;
BEGIN
    IF p_arrival = '{}' THEN
        RETURN NULL;
    END IF;
    SELECT
        jsonb_agg(
            jsonb_build_object('path', 'arrival' || coalesce('.' || nullif(p.path, ''), ''))
            || jsonb_build_object('problem', p.problem)
            ORDER BY p.path COLLATE "C"
        )
    INTO v_problems
    FROM omd_delivery._arrival_problems(p_agreement, p_arrival) AS p;
    IF v_problems IS NOT NULL THEN
        PERFORM omd.raise_error(
            'OM043',
            jsonb_build_object(
                'agreement_code', p_agreement.agreement_code,
                'problem_count', jsonb_array_length(v_problems),
                'first', v_problems #>> '{0,path}',
                'problem', v_problems #>> '{0,problem}',
                'problems', v_problems
            )
        );
    END IF;
    RETURN p_arrival;
END
$require_arrival$;

COMMENT ON FUNCTION omd_delivery._require_arrival IS
'Returns p_arrival when it suits the agreement p_agreement; NULL for an empty object. Errors: '
'OM043: something is wrong with it. Locks: none.';

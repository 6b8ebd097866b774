-- It is asked before anything is read, so that no search can read a whole table.

CREATE OR REPLACE FUNCTION omd_dispatch.search_index(
    p_family_code text,
    p_criteria jsonb
)
RETURNS text
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $search_index$
DECLARE
    v_index text;
BEGIN
    PERFORM omd_dispatch._require_family(p_family_code);
    PERFORM omd_dispatch._require_task_arguments(p_criteria, NULL, NULL, NULL);
    PERFORM omd_dispatch._require_criterion(p_family_code, c)
    FROM jsonb_object_keys(coalesce(nullif(p_criteria, 'null'), '{}')) AS c;
    SELECT s.index_name INTO v_index
    FROM omd_dispatch.task_conf_search_allowed AS s
    WHERE s.family_code = p_family_code
    GROUP BY s.index_name
    HAVING bool_and(coalesce(p_criteria ->> s.criterion IS NOT NULL, FALSE))
    ORDER BY count(*) DESC, s.index_name
    LIMIT 1;
    IF NOT FOUND THEN
        PERFORM omd.raise_error(
            'OM079',
            jsonb_build_object(
                'family_code', p_family_code,
                'criteria', (
                    SELECT coalesce(string_agg(c, ', ' ORDER BY c), 'no criteria')
                    FROM jsonb_object_keys(coalesce(nullif(p_criteria, 'null'), '{}')) AS c
                )
            )
        );
    END IF;
    RETURN v_index;
END
$search_index$;

COMMENT ON FUNCTION omd_dispatch.search_index IS
'For rooms: '
'Returns the index that serves a search of p_family_code by p_criteria: of those whose criteria '
'are all given, the one with most, of equals the lowest name. Errors: OM005: p_family_code is '
'NULL; OM013: p_criteria; OM070: the family is unknown; OM075: it lacks a criterion; OM079: no '
'index serves it. Locks: none.';

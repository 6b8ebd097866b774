-- Before and after the change: a row is neither taken out of what an agreement names nor brought
-- into it. The delete of a row and its insert are bound alike.

CREATE OR REPLACE FUNCTION omd_facts._require_agreed(
    p_terms jsonb,
    p_entity_id integer,
    p_key jsonb,
    p_old jsonb,
    p_new jsonb
)
RETURNS void
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $require_agreed$
DECLARE
    v_problem text;
BEGIN
    IF NOT coalesce(nullif(p_terms -> 'entity_ids', 'null') @> to_jsonb(p_entity_id), TRUE) THEN
        v_problem := 'it does not name the entity';
    ELSIF (p_old IS NOT NULL AND NOT omd_facts._is_agreed(p_terms, p_entity_id, p_old))
        OR (p_new IS NOT NULL AND NOT omd_facts._is_agreed(p_terms, p_entity_id, p_new))
    THEN
        v_problem := 'the row is outside of its context';
    END IF;
    IF v_problem IS NOT NULL THEN
        PERFORM omd.raise_error(
            'OM062',
            jsonb_build_object(
                'entity_code', e.entity_code,
                'key', p_key,
                'agreement_code', p_terms ->> 'agreement_code',
                'problem', v_problem
            )
        )
        FROM omd_facts.entity AS e
        WHERE e.entity_id = p_entity_id;
    END IF;
END
$require_agreed$;

COMMENT ON FUNCTION omd_facts._require_agreed IS
'Raises OM062 where p_terms, what an agreement names, has not the entity p_entity_id, or not its '
'row p_key as it is before, p_old, or after the write, p_new. Locks: none.';

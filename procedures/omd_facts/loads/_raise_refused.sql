-- It names the row by its key. What a constraint tells beside its name has values of rows, and the
-- event log must not.

CREATE OR REPLACE FUNCTION omd_facts._raise_refused(
    p_entity_id integer,
    p_context_id integer,
    p_delivery_id bigint,
    p_sqlstate text,
    p_problem text
)
RETURNS void
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $raise_refused$
DECLARE
    v_key CONSTANT jsonb := omd_facts._refused_key(
        p_entity_id, p_context_id, p_delivery_id, p_sqlstate = '54000'
    );
BEGIN
    PERFORM omd.raise_error(
        'OM161',
        jsonb_build_object(
            'interface_code', i.interface_code,
            'entity_code', e.entity_code,
            'context', coalesce(
                (
                    SELECT c.context_code FROM omd_facts.context AS c
                    WHERE c.context_id = p_context_id
                ),
                'anchor'
            ),
            -- A key may be what is too long.
            'key', CASE WHEN octet_length(v_key::text) > 1000 THEN to_jsonb(left(v_key::text, 200))
                ELSE v_key END,
            'delivery_id', p_delivery_id,
            'problem', p_problem
        )
    )
    FROM omd_facts.entity AS e
    INNER JOIN omd_facts.interface AS i USING (interface_id)
    WHERE e.entity_id = p_entity_id;
END
$raise_refused$;

COMMENT ON FUNCTION omd_facts._raise_refused IS
'Raises OM161: the context p_context_id (NULL: the anchor) of the entity p_entity_id does not take '
'a row of the delta of p_delivery_id, for p_problem, of p_sqlstate. Locks: none.';

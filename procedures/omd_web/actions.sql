-- Who may do what is a matter of GRANT EXECUTE, and of nothing else. What is said of the state are
-- the columns that the condition reads, so that it can't differ from the condition.

CREATE OR REPLACE FUNCTION omd_web.actions(
    p_object_kind text,
    p_key text
)
RETURNS TABLE (
    action_code text,
    title text,
    is_offered boolean,
    is_permitted boolean,
    why_not text,
    asks jsonb,
    is_careful boolean,
    statement text
)
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $actions$
DECLARE
    v_object CONSTANT jsonb := omd_web._evaluate(p_object_kind, p_key);
BEGIN
    RETURN QUERY
    SELECT
        a.action_code,
        a.title,
        s.is_offered,
        s.is_permitted,
        CASE
            WHEN NOT s.is_permitted
                THEN 'it needs the role ' || omd_web._needed_roles(p.oid::regproc)
            WHEN NOT s.is_offered THEN coalesce(
                (
                    SELECT
                        string_agg(
                            DISTINCT m.part[1] || ' is '
                            || coalesce(v_object -> 'row' ->> m.part[1], 'NULL'),
                            ', '
                        )
                    FROM regexp_matches(a.offered_when, '\mo\.([a-z_]+)', 'g') AS m (part)
                ),
                'its state'
            )
        END,
        coalesce(
            (
                SELECT
                    jsonb_object_agg(
                        n.name,
                        a.arguments -> n.name
                        || jsonb_build_object('type', format_type(n.type, NULL))
                    )
                FROM unnest(
                    p.proargnames, coalesce(p.proallargtypes, p.proargtypes::oid[])
                ) AS n (name, type)
                WHERE a.arguments -> n.name ? 'ask'
            ),
            '{}'
        ),
        a.is_careful,
        omd_web._call(a, v_object #> ARRAY['actions', a.action_code, 'values'], '{}', TRUE)
    FROM omd_web.action AS a
    INNER JOIN pg_proc AS p ON a.routine::regproc = p.oid
    CROSS JOIN LATERAL (
        SELECT
            (v_object #>> ARRAY['actions', a.action_code, 'is_offered'])::boolean AS is_offered,
            has_schema_privilege(p.pronamespace, 'USAGE')
            AND has_function_privilege(p.oid, 'EXECUTE') AS is_permitted
    ) AS s
    WHERE a.object_kind = p_object_kind
    ORDER BY a.position;
END
$actions$;

COMMENT ON FUNCTION omd_web.actions IS
'Returns what can be done with the object p_key of the kind p_object_kind, a row of '
'omd_web.object_kind. is_offered: its state lets it look possible. is_permitted: the caller may '
'execute the procedure. why_not: the role that is missing, else the state that it is in; NULL: '
'nothing is in the way. asks: what it asks, parameter → {"ask": a label, "required": whether it '
'must be given, "type": its type}. is_careful: the key must be typed. statement: the call, with '
':name for each parameter that it asks; omd_web.statement makes the real one. The procedure '
'decides in the end: omd_web.preview says what it would say. Errors: OM005: an argument is NULL; '
'OM098: there is no such kind or object. May be NULL: why_not. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_web.actions TO omd_reader;

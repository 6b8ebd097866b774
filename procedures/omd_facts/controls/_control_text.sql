-- What OMD calls is its text and this much of its settings; what is text for PostgreSQL alone can't
-- be copied without parsing it, which may execute code of a user.

CREATE OR REPLACE FUNCTION omd_facts._control_text(
    p_function_name text
)
RETURNS text
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        format(
            '(%s text, %s jsonb, %s jsonb) RETURNS jsonb LANGUAGE %I VOLATILE SECURITY DEFINER%s'
            ' AS %L',
            coalesce(quote_ident(nullif(p.proargnames[1], '')), ''),
            coalesce(quote_ident(nullif(p.proargnames[2], '')), ''),
            coalesce(quote_ident(nullif(p.proargnames[3], '')), ''),
            l.lanname,
            coalesce(
                ' SET search_path TO ' || (
                    SELECT string_agg(quote_literal(trim(s.name, ' "')), ', ' ORDER BY s.n)
                    FROM
                        unnest(string_to_array(substr(p.proconfig[1], 13), ','))
                        WITH ORDINALITY AS s (name, n)
                ),
                ''
            ),
            p.prosrc
        )
    FROM pg_proc AS p
    INNER JOIN pg_language AS l ON p.prolang = l.oid
    WHERE
        p.oid = to_regprocedure(p_function_name || '(text, jsonb, jsonb)')
        AND p.prokind = 'f'
        AND NOT p.proretset
        AND p.prorettype = 'jsonb'::regtype
        AND p.proargmodes IS NULL
        AND p.prosqlbody IS NULL
        AND l.lanname IN ('sql', 'plpgsql')
        AND (
            p.proconfig IS NULL
            OR (cardinality(p.proconfig) = 1 AND p.proconfig[1] ~ '^search_path=[a-z0-9_$", ]+$')
        );
END;

COMMENT ON FUNCTION omd_facts._control_text IS
'Returns how the copy of the function p_function_name (schema.function) is created, from its '
'parameters on; NULL: it is none that can be copied. Locks: none.';

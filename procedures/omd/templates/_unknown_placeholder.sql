-- The same look for the templates of a Module and of an area.

CREATE OR REPLACE FUNCTION omd._unknown_placeholder(
    p_statement_template text,
    p_count_template text
)
RETURNS text
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT min(used.m[1])
    FROM (
        SELECT
            regexp_matches(
                concat(p_statement_template, p_count_template), '\{([a-z_]+)\}', 'g'
            ) AS m
    ) AS used
    WHERE NOT omd._rollback_values(NULL, '{}') ? used.m[1];
END;

COMMENT ON FUNCTION omd._unknown_placeholder IS
'Returns a placeholder in a rollback template that there is not; NULL: each is known. Locks: none.';

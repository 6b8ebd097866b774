-- The text is filled in one pass: a value that contains {key} itself stays as it is, so a hostile
-- name can't reach another placeholder.

CREATE OR REPLACE FUNCTION omd._fill_template(
    p_template text,
    p_values jsonb
)
RETURNS text
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        coalesce(
            string_agg(
                CASE
                    WHEN piece.m[1] IS NULL THEN piece.m[2]
                    WHEN p_values ? piece.m[1] THEN coalesce(p_values ->> piece.m[1], 'NULL')
                    ELSE '{' || piece.m[1] || '}'
                END,
                '' ORDER BY piece.n
            ),
            ''
        )
    FROM
        regexp_matches(p_template, '\{([a-z_]+)\}|([^{]+|\{)', 'g') WITH ORDINALITY AS piece (m, n);
END;

COMMENT ON FUNCTION omd._fill_template IS
'Returns p_template with each {key} replaced by the value of the JSON object p_values; a NULL '
'value becomes the word NULL, and unknown keys stay. No locks.';

-- A session of Spark may read a backslash as it likes, so what may contain one is written in bytes.
-- Parentheses and dollars too: the plan looks for delivery_date() in the text, Spark for variables.

CREATE OR REPLACE FUNCTION omd_delivery._spark_text(
    p_text text
)
RETURNS text
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        CASE
            WHEN p_text ~ '^[A-Za-z0-9 _.,:;@#%&/<>=!?*+|~^-]*$' THEN format('''%s''', p_text)
            ELSE format(
                'CAST(X''%s'' AS STRING)', upper(encode(convert_to(p_text, 'UTF8'), 'hex'))
            )
        END;
END;

COMMENT ON FUNCTION omd_delivery._spark_text IS
'Returns p_text as a literal of Spark SQL that any session reads the same. Locks: none.';

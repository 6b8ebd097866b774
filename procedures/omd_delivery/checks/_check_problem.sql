-- The parser knows which words there are, PostgreSQL which types go together. PREPARE analyses the
-- statement and evaluates nothing; its text is written by _read_check, and contains none of the
-- modeller's but quoted values.

CREATE OR REPLACE FUNCTION omd_delivery._check_problem(
    p_check text,
    p_attribute_code text,
    p_types jsonb
)
RETURNS text
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $check_problem$
DECLARE
    v_check jsonb;
    v_other text;
    v_statement text;
    v_problem text;
BEGIN
    v_check := omd_delivery._read_check(p_check, p_types);
    SELECT a.code INTO v_other
    FROM jsonb_array_elements_text(v_check -> 'attributes') AS a (code)
    WHERE a.code <> p_attribute_code
    LIMIT 1;
    IF FOUND THEN
        RETURN format('a check of one attribute can''t look at "%s": make it a record', v_other);
    END IF;
    v_statement := format(
        'PREPARE omd_delivery_check AS SELECT FROM (SELECT %s) AS t WHERE %s',
        (
            SELECT
                string_agg(
                    format(
                        'NULL::%s%s AS %I',
                        y.value,
                        CASE
                            WHEN omd_delivery._type_kind(y.value) = 'text' THEN ' COLLATE "C"'
                            ELSE ''
                        END,
                        y.key
                    ),
                    ', '
                )
            FROM jsonb_each_text(p_types) AS y
            WHERE y.value IS NOT NULL
        ),
        v_check ->> 'sql'
    );
    EXECUTE v_statement;
    DEALLOCATE omd_delivery_check;
    RETURN NULL;
EXCEPTION
    WHEN syntax_error_or_access_rule_violation OR data_exception OR feature_not_supported
        OR program_limit_exceeded OR indeterminate_collation
    THEN
        GET STACKED DIAGNOSTICS v_problem = MESSAGE_TEXT;
        RETURN v_problem;
END
$check_problem$;

COMMENT ON FUNCTION omd_delivery._check_problem IS
'Returns why p_check is no check of an entity whose attributes have the types p_types, {attribute:'
' type}; NULL when it is one. p_attribute_code: the one attribute that it may look at; NULL: any. '
'Locks: none.';

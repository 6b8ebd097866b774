-- The key is one text for the index of omd_dispatch.mutex and for people. The caller pins TimeZone.
-- The type and its key criteria may be parameters of a statement, whose plan then serves all types.

CREATE OR REPLACE FUNCTION omd_dispatch._key_sql(
    p_family_code text,
    p_task_type_sql text,
    p_key_criteria_sql text
)
RETURNS text
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        format(
            'CASE WHEN %2$s <> ''{}''::text[] THEN (jsonb_build_array(%1$L, %3$s)%4$s)::text END',
            p_family_code,
            p_key_criteria_sql,
            p_task_type_sql,
            string_agg(
                format(
                    ' || CASE WHEN %1$L = ANY(%2$s) THEN jsonb_build_array(c.criteria -> %1$L)'
                    ' ELSE ''[]'' END',
                    m.criterion,
                    p_key_criteria_sql
                ),
                '' ORDER BY m.criterion
            )
        )
    FROM omd_dispatch.task_conf_family_model AS m
    WHERE m.family_code = p_family_code AND m.is_key;
END;

COMMENT ON FUNCTION omd_dispatch._key_sql IS
'Returns the SQL expression of the key of a task in p_family_code: a JSON array of family, type '
'and the key criteria of the type, as text; NULL for a type without a key. p_task_type_sql and '
'p_key_criteria_sql are the expressions of the type and of what _key_criteria returns for it. It '
'reads the criteria from c.criteria. Locks: none.';

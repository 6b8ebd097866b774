-- The key is one text for the index of omd_dispatch.mutex and for people. The caller pins TimeZone.

CREATE OR REPLACE FUNCTION omd_dispatch._key_sql(
    p_family_code text,
    p_task_type text
)
RETURNS text
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        coalesce(
            format(
                'jsonb_build_array(%L, %L, %s)::text',
                p_family_code,
                p_task_type,
                string_agg(
                    format('c.criteria -> %L', m.criterion), ', ' ORDER BY m.criterion
                )
            ),
            'NULL::text'
        )
    FROM omd_dispatch.task_conf_family_model AS m
    WHERE
        m.family_code = p_family_code
        AND m.is_key
        AND NOT EXISTS (
            SELECT FROM omd_dispatch.task_conf_custom AS k
            WHERE
                k.family_code = m.family_code
                AND k.task_type = p_task_type
                AND k.criterion = m.criterion
                AND k.mode = 'D'
        )
    HAVING count(*) > 0
    UNION ALL
    SELECT 'NULL::text'
    LIMIT 1;
END;

COMMENT ON FUNCTION omd_dispatch._key_sql IS
'Returns the SQL expression of the key of a task of the type p_task_type in p_family_code: a JSON '
'array of family, type and the key criteria that the type does not forbid, as text; NULL for a '
'type without a key. Locks: none.';
REVOKE ALL ON FUNCTION omd_dispatch._key_sql FROM PUBLIC;

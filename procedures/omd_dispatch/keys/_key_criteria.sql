-- What a type forbids is no part of the key of its tasks.

CREATE OR REPLACE FUNCTION omd_dispatch._key_criteria(
    p_family_code text,
    p_task_type text
)
RETURNS text[]
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $key_criteria$
BEGIN
    RETURN ARRAY(
        SELECT m.criterion
        FROM omd_dispatch.task_conf_family_model AS m
        WHERE m.family_code = p_family_code
            AND m.is_key
            AND NOT EXISTS (
                SELECT FROM omd_dispatch.task_conf_custom AS k
                WHERE k.family_code = m.family_code
                    AND k.task_type = p_task_type
                    AND k.criterion = m.criterion
                    AND k.mode = 'D'
            )
    );
END
$key_criteria$;

COMMENT ON FUNCTION omd_dispatch._key_criteria IS
'Returns the criteria that are the key of a task of the type p_task_type in p_family_code. Locks: '
'none.';

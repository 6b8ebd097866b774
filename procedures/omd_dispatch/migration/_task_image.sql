-- A task looks the same in both models: the columns that they share, and the criteria.

CREATE OR REPLACE FUNCTION omd_dispatch._task_image(
    p_row jsonb,
    p_criteria jsonb DEFAULT NULL
)
RETURNS jsonb
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        jsonb_object_agg(r.key, r.value) FILTER (
            WHERE r.key NOT LIKE 'func\_%' AND r.key <> 'partition_code'
        )
        || jsonb_build_object(
            'criteria',
            coalesce(
                p_criteria,
                jsonb_object_agg(upper(substr(r.key, 6)), r.value) FILTER (
                    WHERE r.key LIKE 'func\_%' AND r.value <> 'null'
                ),
                '{}'
            )
        )
    FROM jsonb_each(p_row) AS r;
END;

COMMENT ON FUNCTION omd_dispatch._task_image IS
'Returns the row p_row of a task (to_jsonb of it) as it is in both models; p_criteria: its '
'criteria, where the row has none. Locks: none.';

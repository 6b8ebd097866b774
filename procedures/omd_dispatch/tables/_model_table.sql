-- Whoever reads or writes tasks does so in the master of the two models. Their tables differ only
-- in criteria and partition, which _criteria_sql and _partition_sql give, so every statement serves
-- both.

CREATE OR REPLACE FUNCTION omd_dispatch._model_table(
    p_family_code text,
    p_is_new boolean DEFAULT NULL
)
RETURNS text
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        CASE
            WHEN coalesce(p_is_new, omd_dispatch._migration_status(p_family_code) >= 3)
                THEN omd_dispatch._data_table(p_family_code)
            ELSE format('omd_dispatch.%I', 'old_task_data_' || lower(p_family_code))
        END;
END;

COMMENT ON FUNCTION omd_dispatch._model_table IS
'Returns the qualified name of the table of tasks of p_family_code. p_is_new: in the new or the '
'old model; NULL: in the master. Locks: none.';

-- An error of a constraint tells its table. In a target of the rollback it is the error of a
-- statement or of a trigger there; elsewhere a foreign key has led to it.

CREATE OR REPLACE FUNCTION omd._is_undone_in(
    p_module_instance_id bigint,
    p_table_code text
)
RETURNS boolean
LANGUAGE sql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT
        EXISTS(
            SELECT FROM omd._rollback_parts(p_module_instance_id) AS p
            INNER JOIN omd._sharing_modules(omd.target_relation(p_table_code)) AS m
                ON p.module_id = m.module_id
        );
END;

COMMENT ON FUNCTION omd._is_undone_in IS
'Returns whether the Module Instance has rows of the table p_table_code to undo. Locks: none.';
GRANT EXECUTE ON FUNCTION omd._is_undone_in TO omd_runner;

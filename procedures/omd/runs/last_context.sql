-- BETWEEN keeps the planner to the index of a Module's runs: of one that has none it would walk all
-- runs back by the key.

CREATE OR REPLACE FUNCTION omd.last_context(
    p_module_id integer
)
RETURNS jsonb
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT r.execution_context
    FROM omd.module_instance AS r
    WHERE r.module_id BETWEEN p_module_id AND p_module_id
    ORDER BY r.module_id DESC, r.module_instance_id DESC
    LIMIT 1;
END;

COMMENT ON FUNCTION omd.last_context IS
'For rooms: Returns the execution context of the newest run of the Module p_module_id; NULL: it '
'has never run, or its run gave none. Locks: none.';
GRANT EXECUTE ON FUNCTION omd.last_context TO omd_reader;

-- A later failure in any Batch counts, since the Module loads the same target everywhere.

CREATE OR REPLACE FUNCTION omd._module_has_newer_failure(
    p_module_id integer,
    p_module_instance_id bigint
)
RETURNS boolean
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT EXISTS(
        SELECT FROM omd.module_instance AS f
        WHERE
            f.module_id = p_module_id
            AND f.module_instance_id > p_module_instance_id
            AND f.execution_status_code = 'F'
    );
END;

COMMENT ON FUNCTION omd._module_has_newer_failure IS
'Returns whether the Module p_module_id has a failed instance newer than p_module_instance_id, in '
'whatever Batch. Locks: none.';

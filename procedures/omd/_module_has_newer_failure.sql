-- Has a Module failed after a given instance, wherever it ran?

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
'Whether the Module p_module_id has an instance newer than p_module_instance_id that failed, in '
'whatever Batch. Locks: none.';
REVOKE ALL ON FUNCTION omd._module_has_newer_failure FROM PUBLIC;

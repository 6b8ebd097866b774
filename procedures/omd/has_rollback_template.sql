-- Is it known how to undo a Module?

CREATE OR REPLACE FUNCTION omd.has_rollback_template(
    p_module_id integer
)
RETURNS boolean
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT EXISTS(SELECT FROM omd._fitting_templates(p_module_id));
END;

COMMENT ON FUNCTION omd.has_rollback_template IS
'For rooms: Whether a rollback template fits the Module p_module_id. Locks: none.';
REVOKE ALL ON FUNCTION omd.has_rollback_template FROM PUBLIC;

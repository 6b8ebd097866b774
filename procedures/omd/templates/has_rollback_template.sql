-- A room asks this when it registers a Module, before any failure needs the template.

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
'For rooms: Returns whether a rollback template fits the Module p_module_id. Locks: none.';

-- What is written as namespace/name/run_id must be read back as it was.

CREATE OR REPLACE FUNCTION omd_event._is_job_namespace(
    p_job_namespace text
)
RETURNS boolean
LANGUAGE plpgsql
IMMUTABLE
PARALLEL SAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $is_job_namespace$
DECLARE
    v_parent CONSTANT text := p_job_namespace || '/j/00000000-0000-0000-0000-000000000000';
    v_back CONSTANT jsonb := omd_event._context_parent(
        jsonb_build_object('parent', v_parent), 'parent'
    );
BEGIN
    RETURN p_job_namespace ~ '\S'
        AND length(p_job_namespace) <= 1000
        AND coalesce(v_back #>> '{job,namespace}' = p_job_namespace, FALSE);
END
$is_job_namespace$;

COMMENT ON FUNCTION omd_event._is_job_namespace IS
'Returns whether p_job_namespace can be read back from the text by which a run names its parent '
'(_context_parent). Locks: none.';

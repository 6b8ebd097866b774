-- The same rule as for a run that reads all: what could see the source.

CREATE OR REPLACE FUNCTION omd_provenance._windows_after(
    p_run omd.ledger_run,
    p_undone_by bigint,
    p_upto bigint,
    p_all boolean,
    p_module_id integer,
    p_after_id bigint,
    p_upto_id bigint
)
RETURNS SETOF omd.ledger_window
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
SET jit = off
AS $windows_after$
DECLARE
    v_first bigint;
BEGIN
    SELECT before.module_instance_id INTO v_first
    FROM omd.ledger_run AS before
    WHERE before.module_id >= p_module_id
        AND before.module_id <= p_module_id
        AND before.module_instance_id < (p_run).module_instance_id
        AND before.execution_status_code IN ('S', 'E', 'F')
    ORDER BY before.module_id DESC, before.module_instance_id DESC
    LIMIT 1;
    RETURN QUERY
    SELECT sc.*
    FROM omd.ledger_run AS r
    INNER JOIN omd.ledger_window AS sc ON r.module_instance_id = sc.module_instance_id
    WHERE r.module_id = p_module_id
        AND r.module_instance_id >= greatest(
            coalesce(v_first, (p_run).module_instance_id), p_after_id + 1
        )
        AND r.module_instance_id <= least(p_upto_id, p_upto)
        AND r.module_instance_id <> (p_run).module_instance_id
        AND r.module_instance_id IS DISTINCT FROM p_undone_by
        AND r.execution_status_code IN ('S', 'E', 'F')
        AND r.processing_indicator IN ('P', 'R')
        AND (p_all OR omd_provenance._stands(r))
        AND omd_provenance._could_see(p_run, r);
END
$windows_after$;

COMMENT ON FUNCTION omd_provenance._windows_after IS
'Returns the windows of runs of the Module p_module_id whose run could see rows of the run p_run. '
'The other parameters are those of omd_provenance._window_readers. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_provenance._windows_after TO omd_reader;

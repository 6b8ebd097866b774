-- run_stage itself can't set how its queries are planned, since it commits.

CREATE OR REPLACE FUNCTION omd_decision._counts_of_run(
    p_module_instance_id bigint,
    OUT p_cycles bigint,
    OUT p_rows_rejected bigint
)
RETURNS record
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $counts_of_run$
BEGIN
    SELECT r.cycles INTO p_cycles
    FROM omd_decision.run AS r
    WHERE r.module_instance_id = p_module_instance_id;
    SELECT count(*) INTO p_rows_rejected
    FROM omd_decision.reject AS r
    WHERE r.module_instance_id = p_module_instance_id;
END
$counts_of_run$;

COMMENT ON FUNCTION omd_decision._counts_of_run IS
'Returns p_cycles and p_rows_rejected of the run p_module_instance_id of a stage. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_decision._counts_of_run TO omd_runner;

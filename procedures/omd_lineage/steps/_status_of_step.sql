-- The letters of docs/explanation/jobs.md, rule J11, of the answers of begin_step and step.

CREATE OR REPLACE FUNCTION omd_lineage._status_of_step(
    p_outcome text
)
RETURNS text
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        CASE p_outcome
            WHEN 'RUN' THEN 'E'
            WHEN 'NOJOBS' THEN 'C'
            WHEN 'SKIPPED' THEN 'C'
            WHEN 'MUTEX' THEN 'A'
            WHEN 'ABORTED' THEN 'A'
            ELSE 'F'
        END;
END;

COMMENT ON FUNCTION omd_lineage._status_of_step IS
'Returns the execution status of a step that has begun, or that could not begin, by its p_outcome. '
'Locks: none.';
GRANT EXECUTE ON FUNCTION omd_lineage._status_of_step TO omd_runner;

-- A Module and a Batch may have the same code.

CREATE OR REPLACE FUNCTION omd_event._job_name(
    p_subject_type text,
    p_code text
)
RETURNS text
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT CASE p_subject_type WHEN 'BATCH' THEN 'batch:' || p_code ELSE p_code END;
END;

COMMENT ON FUNCTION omd_event._job_name IS
'Returns the name of a Module or Batch as a job in OpenLineage. Locks: none.';

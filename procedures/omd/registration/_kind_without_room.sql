-- A Module without SQL is a program. Without a job nobody but who calls it knows what it runs on.

CREATE OR REPLACE FUNCTION omd._kind_without_room(
    p_executable text,
    p_job text,
    OUT p_module_kind_code text,
    OUT p_engine_code text
)
RETURNS record
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        CASE WHEN p_executable IS NULL THEN 'JOB' ELSE 'SQL' END AS p_module_kind_code,
        CASE
            WHEN p_executable IS NOT NULL THEN 'POSTGRES'
            WHEN p_job IS NOT NULL THEN 'SPARK'
        END AS p_engine_code;
END;

COMMENT ON FUNCTION omd._kind_without_room IS
'Returns the kind of a Module that no room performs, and its engine, by its SQL p_executable and '
'its function p_job; the engine is NULL when a program outside begins it. Locks: none.';

-- What a Module runs is its SQL or its function. What a room performs has neither: a run of its own
-- text would go past the rules of the room.

CREATE OR REPLACE FUNCTION omd._require_job(
    p_present omd.module,
    p_executable text,
    p_job text
)
RETURNS void
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $require_job$
BEGIN
    IF num_nonnulls(p_executable, p_job) > 0
        AND p_present.module_kind_code NOT IN (SELECT k.module_kind_code FROM omd.own_kind AS k)
    THEN
        PERFORM omd.raise_error(
            'OM219',
            jsonb_build_object(
                'module_code', p_present.module_code,
                'module_kind_code', p_present.module_kind_code,
                'problem', 'it takes neither SQL nor a job',
                'next_command', format('omd show %s', p_present.module_code)
            )
        );
    ELSIF p_job <> '' AND p_job !~ '^[A-Za-z_][\w.]*:[A-Za-z_][\w.]*$' THEN
        PERFORM omd.raise_error(
            'OM013',
            jsonb_build_object(
                'argument', 'p_job', 'value', left(p_job, 60),
                'expected', 'a Python function: module:function'
            )
        );
    ELSIF coalesce(p_executable, p_present.executable) ~ '\S'
        AND coalesce(p_job, p_present.job) <> ''
    THEN
        PERFORM omd.raise_error(
            'OM013',
            jsonb_build_object(
                'argument', CASE WHEN p_job <> '' THEN 'p_job' ELSE 'p_executable' END,
                'value', left(CASE WHEN p_job <> '' THEN p_job ELSE p_executable END, 60),
                'expected', CASE
                    WHEN p_job <> '' THEN 'a Module without SQL; p_executable => '''' takes it away'
                    ELSE 'a Module without a job; p_job => '''' takes it away'
                END
            )
        );
    END IF;
END
$require_job$;

COMMENT ON FUNCTION omd._require_job IS
'Refuses p_executable and p_job for a Module that is now p_present (all NULL: a new one). Errors: '
'OM013 (no module:function, or both), OM219 (a Module of a room). Locks: none.';

-- What records the failure of a statement cuts here what of ours has called it.

CREATE OR REPLACE FUNCTION omd.context_within(
    p_context text,
    p_routine text
)
RETURNS text
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT nullif(
        regexp_replace(p_context, E'(^|\n)PL/pgSQL function ' || p_routine || E'\\(.*$', ''), ''
    );
END;

COMMENT ON FUNCTION omd.context_within IS
'For rooms: Returns where in a statement an error happened: what of p_context, its '
'PG_EXCEPTION_CONTEXT, lies within the first routine whose name matches the regular expression '
'p_routine. NULL: nothing does. Locks: none.';
GRANT EXECUTE ON FUNCTION omd.context_within TO omd_runner;

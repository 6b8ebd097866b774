-- A worker fires each schedule by a call of its own, since a statement_timeout that is set inside
-- of a call does nothing. A procedure that commits can't set a search_path, so every name is
-- qualified.

CREATE OR REPLACE PROCEDURE omd_dispatch.fire_schedule(
    p_schedule_code text,
    INOUT p_fired bigint DEFAULT NULL,
    INOUT p_skipped bigint DEFAULT NULL,
    INOUT p_is_cancelled boolean DEFAULT NULL,
    p_limit integer DEFAULT 1000
)
LANGUAGE plpgsql
SECURITY INVOKER
AS $fire_schedule$
DECLARE
BEGIN
    PERFORM omd_dispatch._require_schedule(p_schedule_code);
    IF p_limit OPERATOR(pg_catalog.<) 1 IS NOT FALSE
        OR p_limit OPERATOR(pg_catalog.>) 1000
    THEN
        PERFORM omd.raise_error(
            'OM013',
            pg_catalog.jsonb_build_object(
                'argument', 'p_limit',
                'value', coalesce(p_limit::pg_catalog.text, 'NULL'),
                'expected', 'from 1 to 1000'
            )
        );
    END IF;
    CALL omd_dispatch._fire(p_schedule_code, p_limit, p_fired, p_skipped, p_is_cancelled);
END
$fire_schedule$;

COMMENT ON PROCEDURE omd_dispatch.fire_schedule IS
'For programs: '
'Fires the schedule p_schedule_code if it is due and no other session fires it: creates its tasks, '
'p_limit at most (1 to 1000), and moves it on; what is left of them comes in the next rounds. An '
'error of its source is kept in its problem, and the occurrence is tried again until the next one '
'is due. Returns p_fired and p_skipped, how many tasks were created, and how many not, since one '
'with their key was live, and p_is_cancelled, whether its source was cancelled. The setting '
'statement_timeout bounds it. Outside a transaction block it commits before it reads the source. '
'Errors: OM005: p_schedule_code is NULL; OM013: an argument is not allowed; OM014: the isolation '
'level is not read committed; OM074: the schedule is unknown. Locks: the schedule; the keys of the '
'tasks.';
GRANT EXECUTE ON PROCEDURE omd_dispatch.fire_schedule TO omd_runner, omd_admin;

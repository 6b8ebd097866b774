-- Runs of one Module end one after the other, so a walk back from the newest one ends soon after
-- the position. Who is far behind learns of an end among the newest thousand, which is later than
-- the oldest one: he is due anyway.

CREATE OR REPLACE FUNCTION omd.next_run(
    p_source_code text,
    p_pos timestamptz,
    p_id bigint
)
RETURNS timestamptz
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $next_run$
DECLARE
    v_module_id CONSTANT integer := substr(p_source_code, 6)::integer;
    v_run record;
    v_oldest timestamptz;
BEGIN
    FOR v_run IN
        SELECT
            mi.end_datetime,
            mi.execution_status_code = 'S' AS has_succeeded
        FROM omd.module_instance AS mi
        -- Not =, with which the planner could walk the primary key past other Modules.
        WHERE mi.module_id >= v_module_id AND mi.module_id <= v_module_id
        ORDER BY mi.module_id DESC, mi.module_instance_id DESC
        LIMIT 1000
    LOOP
        EXIT WHEN v_run.end_datetime <= p_pos;
        IF v_run.has_succeeded THEN
            v_oldest := v_run.end_datetime;
        END IF;
    END LOOP;
    RETURN v_oldest;
END
$next_run$;

COMMENT ON FUNCTION omd.next_run IS
'For rooms: Returns when the oldest succeeded run of the source p_source_code (runs.<module_id>) '
'ended after p_pos; NULL when none has. p_id counts nothing. Locks: none.';

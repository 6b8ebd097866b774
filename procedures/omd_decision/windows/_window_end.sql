-- What a run passes over is never decided, since the next one begins where it has ended. So a
-- window ends where no row can come behind it, whatever end was asked for. Where that is before its
-- start, it is empty.

CREATE OR REPLACE FUNCTION omd_decision._window_end(
    p_definition jsonb,
    p_start_value timestamptz,
    p_asked_value timestamptz,
    OUT p_end_value timestamptz,
    OUT p_detail text
)
RETURNS record
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $window_end$
DECLARE
    v_asked CONSTANT timestamptz := coalesce(
        p_asked_value, now() - (p_definition #>> '{window,delay}')::interval
    );
    v_source text;
    v_seen record;
    v_who text;
BEGIN
    p_end_value := v_asked;
    FOR v_source IN
        SELECT DISTINCT l.source
        FROM omd_decision._links(p_definition) AS l
        WHERE NOT l.is_buffer AND l.source IS NOT NULL
        ORDER BY l.source
    LOOP
        v_seen := omd.visible_until(v_source, p_definition #>> '{window,column}');
        IF v_seen.p_until < p_end_value THEN
            p_end_value := v_seen.p_until;
            v_who := coalesce(v_seen.p_who, 'it is now');
        END IF;
    END LOOP;
    -- An end that was asked for and lies before the start is an error, as everywhere.
    IF p_end_value < p_start_value AND (p_asked_value >= p_start_value) IS NOT FALSE THEN
        p_detail := format(
            'nothing is read: the window before has ended at %s, and rows are visible up to %s',
            p_start_value, p_end_value
        );
        p_end_value := p_start_value;
    ELSIF p_end_value < v_asked THEN
        p_detail := format('the window ends at %s', p_end_value);
    END IF;
    p_detail := p_detail || coalesce(': ' || v_who, '');
    -- A window has no end at -infinity.
    p_end_value := greatest(p_end_value, '0001-01-02 00:00:00+00');
END
$window_end$;

COMMENT ON FUNCTION omd_decision._window_end IS
'Returns p_end_value, where the window of a run of the stage document p_definition ends that '
'starts at p_start_value: at p_asked_value (NULL: now less the delay), or before it, up to where '
'all rows of all sources are visible. p_detail says why it is not what was asked for; NULL when '
'it is. Locks: none.';

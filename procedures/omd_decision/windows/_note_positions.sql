-- An end by the clock says nothing of a column that somebody fills as he likes: a row that comes
-- with an earlier time is never read, and one that is ahead of the clock is read later. It reads
-- with the rights of the caller.

CREATE OR REPLACE FUNCTION omd_decision._note_positions(
    p_module_instance_id bigint,
    p_definition jsonb,
    p_end_value timestamptz
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $note_positions$
DECLARE
    v_column CONSTANT text := p_definition #>> '{window,column}';
    v_source text;
    v_newest timestamptz;
    v_is_written boolean;
    v_text text;
BEGIN
    IF v_column IS NULL THEN
        RETURN;
    END IF;
    FOR v_source IN
        SELECT DISTINCT l.source
        FROM omd_decision._links(p_definition) AS l
        WHERE NOT l.is_buffer AND l.source IS NOT NULL
        ORDER BY l.source
    LOOP
        EXECUTE format('SELECT max(s.%I) FROM %s AS s', v_column, v_source) INTO v_newest;
        v_is_written := omd_decision._is_time_of_writing(v_source, v_column);
        v_text := CASE
            -- Rows of the last moments are read later as a matter of course.
            WHEN v_newest > p_end_value AND (NOT v_is_written OR v_newest > clock_timestamp())
                THEN format(
                    '%s has rows up to %s, and the window ends at %s', v_source, v_newest,
                    p_end_value
                )
            WHEN v_newest < p_end_value AND NOT v_is_written
                THEN format(
                    'the window ends at %s, behind the newest row of %s at %s: a row that comes'
                    ' with a time between them is never read',
                    p_end_value, v_source, v_newest
                )
        END;
        IF v_text IS NOT NULL THEN
            CALL omd.log_event(
                v_text,
                p_module_instance_id => p_module_instance_id,
                p_event_type_code => 6,
                p_event_return_code_details => 'WINDOW'
            );
        END IF;
    END LOOP;
END
$note_positions$;

COMMENT ON FUNCTION omd_decision._note_positions IS
'Writes an event of the run p_module_instance_id for each source of the stage document '
'p_definition that has rows behind p_end_value, where its window ends, or whose window ends '
'behind its newest row although the column is no time of writing. Locks: what reading takes.';
GRANT EXECUTE ON FUNCTION omd_decision._note_positions TO omd_runner;

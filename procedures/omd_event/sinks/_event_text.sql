-- A chat shows it to people who know no type of event.

CREATE OR REPLACE FUNCTION omd_event._event_text(
    p_event_type text,
    p_subject_id bigint,
    p_code text,
    p_detail jsonb
)
RETURNS text
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        CASE
            WHEN p_event_type LIKE 'RUN\_%' OR p_event_type LIKE 'BATCH\_%'
                THEN
                    format(
                        '%1$s %2$s %3$s: %1$s Instance %4$s%5$s.',
                        CASE split_part(p_event_type, '_', 1)
                            WHEN 'RUN' THEN 'Module' ELSE 'Batch'
                        END,
                        p_code,
                        CASE split_part(p_event_type, '_', 2)
                            WHEN 'BEGAN' THEN 'has begun'
                            WHEN 'SUCCEEDED' THEN 'has succeeded'
                            WHEN 'FAILED' THEN 'has failed'
                            WHEN 'ABORTED' THEN 'was aborted'
                            WHEN 'UNDONE' THEN 'was undone'
                        END,
                        p_subject_id,
                        ', ' || coalesce(p_detail ->> 'return_code', p_detail ->> 'reason')
                    )
            WHEN p_event_type LIKE 'DELIVERY\_%'
                THEN
                    format(
                        'Delivery %s of %s was %s.',
                        p_subject_id, p_code, lower(split_part(p_event_type, '_', 2))
                    )
            WHEN p_event_type = 'TASK_DEAD'
                THEN format('Task %s of %s is dead.', p_subject_id, p_code)
            WHEN p_event_type = 'SCHEDULE_FAILED' AND p_detail ->> 'reason' = 'RECOVERED'
                THEN
                    format(
                        'Schedule %s works again, after it has lost %s occurrences.', p_code,
                        p_detail ->> 'lost'
                    )
            WHEN p_event_type = 'SCHEDULE_FAILED' THEN format('Schedule %s has failed.', p_code)
            WHEN p_event_type = 'LAKE_COMMITTED' THEN format('Table %s has changed.', p_code)
            WHEN p_event_type = 'PROBLEM_BEGAN' THEN 'Problem: ' || p_code
            WHEN p_event_type = 'PROBLEM_ENDED' THEN 'No problem any more: ' || p_code
            ELSE concat_ws(' ', p_event_type, p_code)
        END;
END;

COMMENT ON FUNCTION omd_event._event_text IS
'Returns an event as a sentence for people. Locks: none.';

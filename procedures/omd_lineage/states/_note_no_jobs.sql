-- A base table may be quiet for long. Topics that depend on this one need not wait for its next
-- row, since nothing is on its way, so the offset moves on; quiet_start keeps the position from
-- which the next block is read.

CREATE OR REPLACE FUNCTION omd_lineage._note_no_jobs(
    p_topic_id integer,
    p_upto timestamptz,
    p_is_quiet boolean,
    p_detail text,
    p_is_whole boolean DEFAULT FALSE
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $note_no_jobs$
DECLARE
    v_topic text;
BEGIN
    UPDATE omd_lineage.offsets AS o SET
        quiet_start = coalesce(o.quiet_start, o.last),
        last = ROW(
            p_upto,
            CASE
                WHEN p_is_whole
                    THEN coalesce(
                        (
                            SELECT max(d.id) FROM omd_lineage.dependency_offsets AS d
                            WHERE d.topic_id = p_topic_id AND d.ordinal = 1 AND d.pos = p_upto
                        ),
                        (o.last).id
                    )
                ELSE 0
            END
        ),
        is_whole = p_is_whole,
        waiting_since = clock_timestamp(),
        processor = 'QUIET'
    FROM omd_lineage.topic AS t
    WHERE o.topic_id = p_topic_id
        AND t.topic_id = p_topic_id
        AND t.advance_when_quiet
        AND p_is_quiet
        AND (p_upto > (o.last).pos OR (p_is_whole AND p_upto = (o.last).pos))
    RETURNING o.topic INTO v_topic;
    IF v_topic IS NOT NULL THEN
        PERFORM omd_lineage._notify_topic(v_topic);
    ELSE
        PERFORM omd.note_look(t.module_id) FROM omd_lineage.topic AS t
        WHERE t.topic_id = p_topic_id;
    END IF;
    UPDATE omd_lineage.offsets AS o SET
        run = clock_timestamp(),
        is_full = FALSE,
        attempts = 0,
        hostid = '',
        module_instance_id = NULL,
        state = left('NOJOBS: ' || p_detail, 1000)
    WHERE o.topic_id = p_topic_id;
END
$note_no_jobs$;

COMMENT ON FUNCTION omd_lineage._note_no_jobs IS
'Records that the topic p_topic_id has no rows to take before p_upto, and why (p_detail), and '
'sets its attempts to 0. When p_is_quiet is true and the topic has advance_when_quiet, its offset '
'moves to p_upto, and with p_is_whole behind all rows of that instant; else the topic pauses '
'until there is news. Locks: the offset.';
GRANT EXECUTE ON FUNCTION omd_lineage._note_no_jobs TO omd_runner;

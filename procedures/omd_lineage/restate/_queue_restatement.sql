-- All ranges of a call are written at once, so that what is downstream waits for what is upstream
-- from the first moment, and a crash loses none of them.

CREATE OR REPLACE FUNCTION omd_lineage._queue_restatement(
    p_topic text,
    p_from timestamptz,
    p_to timestamptz,
    p_cascade boolean,
    p_including_from boolean
)
RETURNS bigint
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $queue_restatement$
DECLARE
    v_topic_id integer := omd_lineage._require_topic(p_topic);
    v_start omd_lineage.row_position;
    v_end omd_lineage.row_position := ROW(p_to, 9223372036854775807);
    v_call_id bigint;
BEGIN
    PERFORM omd.require_read_committed();
    p_from := omd.require_argument('p_from', p_from);
    p_to := omd.require_argument('p_to', p_to);
    p_cascade := omd.require_argument('p_cascade', p_cascade);
    p_including_from := omd.require_argument('p_including_from', p_including_from);
    IF p_from > p_to OR (p_from = p_to AND NOT p_including_from) THEN
        PERFORM omd.raise_error(
            'OM013',
            jsonb_build_object(
                'argument', 'p_to',
                'value', p_to::text,
                'expected', CASE
                    WHEN p_including_from THEN 'not before p_from'
                    ELSE 'later than p_from; or p_including_from, since p_from is not in the range'
                END
            )
        );
    ELSIF EXISTS (
        SELECT FROM omd_lineage.topic AS t WHERE t.topic_id = v_topic_id AND t.processor IS NULL
    ) AND NOT p_cascade THEN
        PERFORM omd.raise_error(
            'OM208',
            jsonb_build_object(
                'topic', p_topic, 'problem', 'it is a source and has no steps; use p_cascade'
            )
        );
    END IF;
    -- Rows at p_from itself are outside, but a first block starts at -infinity.
    v_start := ROW(
        CASE WHEN p_including_from THEN p_from - interval '1 microsecond' ELSE p_from END,
        CASE
            WHEN p_from = '-infinity' THEN -9223372036854775808 ELSE 9223372036854775807
        END
    );
    v_call_id := nextval(
        pg_get_serial_sequence('omd_lineage.restatement', 'restatement_id')
    );
    INSERT INTO omd_lineage.restatement (
        restatement_id, call_id, topic_id, start_position, end_position, requested_by, requested_at
    )
    OVERRIDING SYSTEM VALUE
    SELECT
        CASE
            WHEN f.distance = 0 THEN v_call_id
            ELSE nextval(pg_get_serial_sequence('omd_lineage.restatement', 'restatement_id'))
        END,
        v_call_id, f.topic_id, v_start, v_end, omd.editor(), clock_timestamp()
    FROM (
        SELECT v_topic_id AS topic_id, 0 AS distance
        UNION ALL
        SELECT d.topic_id, d.distance FROM omd_lineage._downstream(v_topic_id) AS d
        WHERE p_cascade
        ORDER BY distance, topic_id
    ) AS f
    INNER JOIN omd_lineage.topic AS t ON f.topic_id = t.topic_id
    WHERE t.processor IS NOT NULL;
    PERFORM omd.write_event(
        0, 0, 4, 'RESTATE',
        format(
            '%s from %s%s to %s%s was asked to be taken again by %s',
            p_topic, CASE WHEN p_including_from THEN 'and including ' ELSE '' END, p_from, p_to,
            CASE WHEN p_cascade THEN ', and what is downstream,' ELSE '' END,
            omd.editor()
        )
    );
    PERFORM omd_lineage._notify_topic(p_topic);
    RETURN v_call_id;
END
$queue_restatement$;

COMMENT ON FUNCTION omd_lineage._queue_restatement IS
'Writes down that the topic p_topic, and with p_cascade all topics downstream, take the blocks of '
'(p_from, p_to], with p_including_from of [p_from, p_to], again. Returns the id of this call. '
'Errors: OM005: an argument is NULL; OM013: p_to is not later than p_from, or before it; OM014: '
'the isolation level is not read committed; OM015: p_topic is not registered; OM208: it is a '
'source, without p_cascade. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_lineage._queue_restatement TO omd_runner;

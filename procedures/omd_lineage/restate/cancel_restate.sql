-- A range that was asked for by mistake, or whose transforms fail on old rows, would keep the topic
-- from new rows. In PostgreSQL the former rows are still there. On Spark a block that is undone
-- must be loaded again first.

CREATE OR REPLACE PROCEDURE omd_lineage.cancel_restate(
    p_topic text
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $cancel_restate$
DECLARE
    v_topic_id integer := omd_lineage._require_topic(p_topic);
    v_offset omd_lineage.offsets;
BEGIN
    SELECT o.* INTO v_offset FROM omd_lineage.offsets AS o
    WHERE o.topic_id = v_topic_id
    FOR NO KEY UPDATE;
    IF v_offset.undone_from IS NOT NULL
        OR v_offset.restatement_id IS NOT NULL
        AND omd_lineage._holder_lives(v_offset.hostid, v_offset.module_instance_id)
    THEN
        PERFORM omd.raise_error(
            'OM119',
            jsonb_build_object(
                'topic', p_topic,
                'problem', CASE
                    WHEN v_offset.undone_from IS NULL THEN 'a step takes a block of it now'
                    ELSE 'a block of it is undone and must be loaded first'
                END
            )
        );
    END IF;
    DELETE FROM omd_lineage.restatement AS r WHERE r.topic_id = v_topic_id;
    IF FOUND THEN
        UPDATE omd_lineage.offsets AS o SET attempts = 0, restatement_id = NULL
        WHERE o.topic_id = v_topic_id;
        -- What has failed may be the range.
        PERFORM omd.clear_failures(t.module_id) FROM omd_lineage.topic AS t
        WHERE t.topic_id = v_topic_id;
        PERFORM omd.write_event(
            0, 0, 4, 'RESTATE',
            format('%s is not taken again any more, says %s', p_topic, omd.editor())
        );
        PERFORM omd_lineage._notify_topic(p_topic);
    END IF;
END
$cancel_restate$;

COMMENT ON PROCEDURE omd_lineage.cancel_restate IS
'Removes what restate has asked the topic p_topic to take again and what is not done yet; the '
'topics downstream keep what they were asked. It forgets the failures of the topic in a row. '
'Errors: OM005: p_topic is NULL; OM015: it is not registered; OM119: a step takes a block of it, '
'or a block is undone and not loaded yet. Locks: the offset. See docs/explanation/lineage.md. Call '
'again when the answer was lost.';
GRANT EXECUTE ON PROCEDURE omd_lineage.cancel_restate TO omd_admin;

-- The procedure writes down what is to be taken again, and steps take it: those that it runs
-- itself, and those of a scheduler. So it may be killed at any moment, and nothing is left
-- half-way. A procedure that commits can't set a search_path, so every name is qualified.

CREATE OR REPLACE PROCEDURE omd_lineage.restate(
    p_topic text,
    p_from timestamptz,
    p_to timestamptz,
    p_cascade boolean DEFAULT FALSE,
    INOUT p_outcome text DEFAULT NULL,
    INOUT p_blocks bigint DEFAULT NULL,
    INOUT p_rows bigint DEFAULT NULL,
    INOUT p_detail text DEFAULT NULL,
    p_including_from boolean DEFAULT FALSE
)
LANGUAGE plpgsql
SECURITY INVOKER
AS $restate$
DECLARE
    v_call_id bigint;
    v_next pg_catalog.record;
    v_outcome pg_catalog.text;
    v_module_instance_id bigint;
    v_rows bigint;
    v_status pg_catalog.text;
    v_left pg_catalog.record;
BEGIN
    CALL omd.require_no_transaction_block('omd_lineage.restate');
    v_call_id := omd_lineage._queue_restatement(
        p_topic, p_from, p_to, p_cascade, p_including_from
    );
    COMMIT;
    p_blocks := 0;
    p_rows := 0;
    LOOP
        -- A topic that has no block in the range has nothing to do.
        PERFORM omd_lineage._end_restatement(l.topic_id)
        FROM omd_lineage.restatement_list AS l
        WHERE l.call_id OPERATOR(pg_catalog.=) v_call_id AND l.is_ready;
        COMMIT;
        SELECT l.topic, l.engine INTO v_next
        FROM omd_lineage.restatement_list AS l
        WHERE l.call_id OPERATOR(pg_catalog.=) v_call_id AND l.is_ready
        ORDER BY l.engine, l.restatement_id
        LIMIT 1;
        EXIT WHEN NOT FOUND OR v_next.engine OPERATOR(pg_catalog.<>) 'POSTGRES';
        v_module_instance_id := NULL;
        p_detail := NULL;
        CALL omd_lineage.step(
            v_next.topic, NULL, v_outcome, v_module_instance_id, v_rows, p_detail, v_status
        );
        COMMIT;
        IF v_outcome OPERATOR(pg_catalog.=) 'DONE' THEN
            p_blocks := p_blocks OPERATOR(pg_catalog.+) 1;
            p_rows := p_rows OPERATOR(pg_catalog.+) v_rows;
        ELSIF v_outcome OPERATOR(pg_catalog.<>) 'NOJOBS' OR EXISTS (
            SELECT FROM omd_lineage.restatement_list AS l
            WHERE l.call_id OPERATOR(pg_catalog.=) v_call_id
                AND l.topic OPERATOR(pg_catalog.=) v_next.topic
        ) THEN
            p_detail := pg_catalog.concat_ws(': ', v_next.topic, p_detail);
            EXIT;
        END IF;
    END LOOP;

    SELECT
        pg_catalog.count(*) AS topics, pg_catalog.min(l.topic) AS first
    INTO v_left
    FROM omd_lineage.restatement_list AS l
    WHERE l.call_id OPERATOR(pg_catalog.=) v_call_id;
    IF v_left.topics OPERATOR(pg_catalog.=) 0 THEN
        p_detail := NULL;
        p_outcome := CASE WHEN p_blocks OPERATOR(pg_catalog.>) 0 THEN 'DONE' ELSE 'NOJOBS' END;
    ELSE
        p_outcome := CASE
            WHEN v_outcome OPERATOR(pg_catalog.=) 'ERROR' THEN v_outcome ELSE 'QUEUED'
        END;
        p_detail := coalesce(
            p_detail,
            pg_catalog.format('%s topics wait for a step, first %s', v_left.topics, v_left.first)
        );
    END IF;
END
$restate$;

COMMENT ON PROCEDURE omd_lineage.restate IS
'Takes the blocks of a range of the topic p_topic again, in order (a backfill). Each is a step of '
'its own that first undoes the former one; in PostgreSQL both are one commit. The offset stays. '
'p_from: start of the range, exclusive: rows at p_from itself are not in it, unless '
'p_including_from says so. '
'p_to: end of the range, inclusive; a block that holds one position of the range is taken as a '
'whole. p_cascade: all topics downstream take the same range again, each after those that it '
'depends on; the topic may be a source then. A RELOAD reloads. A topic with p_merge_key or '
'p_recompute_key goes back to the start of the range and takes all blocks from there on. The call '
'writes down what is to be taken again and runs the steps in the database itself; steps on Spark, '
'and what is left after an error or a crash, are taken by the next steps of the topics. Returns '
'p_outcome: DONE, p_blocks blocks with p_rows rows were taken again; NOJOBS, there is no block in '
'the range; QUEUED, the rest waits for steps; ERROR, a step failed and its block waits for the '
'retry. p_detail says why. It commits, so call it outside a transaction block. Errors: OM005: an '
'argument is NULL; OM013: p_to is not later than p_from, or with p_including_from before it; '
'OM014: the isolation level is not read committed; OM015: p_topic is not registered; OM018: it is '
'called in a transaction block; OM100; OM208: it is a source, without p_cascade; 57014: it was '
'cancelled, and the rest waits for steps. Locks: those of step. See docs/explanation/lineage.md. '
'May be NULL: p_detail. It may take long.';
GRANT EXECUTE ON PROCEDURE omd_lineage.restate TO omd_runner;

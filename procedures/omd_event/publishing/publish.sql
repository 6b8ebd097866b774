-- A run writes nothing for its events: they are read from the instances, by one statement with one
-- snapshot, so that nothing is seen that has a cause which is not seen. What was not there when its
-- neighbours were is looked for again, until no transaction can bring it any more.
--
-- The bound of a gap is the transaction of a later round than the one that noticed it: a begin has
-- its transaction before it draws its id, so it is older than that. It must not be a transaction
-- that had written before it called, as that may be older than the begin. The newest transaction of
-- a snapshot would not do: one at work may lie above it.
--
-- The row of the publisher is read backwards, its newest version first, as omd.heartbeat says.
--
-- The lateral joins with OFFSET 0 keep the planner from reading the instances whole.

CREATE OR REPLACE PROCEDURE omd_event.publish(
    p_limit integer DEFAULT 10000,
    INOUT p_published bigint DEFAULT NULL,
    INOUT p_event_number bigint DEFAULT NULL
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $publish$
DECLARE
    v_is_fresh CONSTANT boolean := pg_current_xact_id_if_assigned() IS NULL;
    v_setting omd_event.setting;
    v_now timestamptz;
    v_xid xid8;
    v_round record;
BEGIN
    p_limit := omd.require_argument('p_limit', p_limit);
    IF p_limit < 1 THEN
        PERFORM omd.raise_error(
            'OM013',
            jsonb_build_object('argument', 'p_limit', 'value', p_limit, 'expected', '1 or more')
        );
    END IF;
    PERFORM omd.require_read_committed();
    SELECT
        CASE WHEN i.p_is_idle THEN 0::bigint END,
        i.p_event_number
    INTO p_published, p_event_number
    FROM omd_event._is_idle() AS i;
    IF p_published = 0 THEN
        RETURN;
    END IF;
    IF EXISTS (SELECT FROM omd.unready_for_id()) THEN
        PERFORM omd.get_ready_for_id();
    END IF;
    SELECT s.* INTO v_setting
    FROM omd_event.setting AS s
    WHERE s.is_only BETWEEN TRUE AND TRUE
    ORDER BY s.is_only DESC
    LIMIT 1
    FOR UPDATE SKIP LOCKED;
    IF NOT FOUND THEN
        SELECT s.event_number INTO p_event_number FROM omd_event.setting AS s;
        RETURN;
    END IF;
    v_now := clock_timestamp();
    v_xid := CASE WHEN v_is_fresh THEN pg_current_xact_id() END;
    LOOP
        WITH RECURSIVE
        new_module AS MATERIALIZED (
            SELECT mi.*
            FROM omd.followed_module_instance AS mi
            WHERE mi.module_instance_id > v_setting.module_instance_id
            ORDER BY mi.module_instance_id
            LIMIT p_limit::bigint + 100
        ),

        new_batch AS MATERIALIZED (
            SELECT bi.*
            FROM omd.followed_batch_instance AS bi
            WHERE bi.batch_instance_id > v_setting.batch_instance_id
            ORDER BY bi.batch_instance_id
            LIMIT p_limit::bigint + 100
        ),

        -- Those of one kind are taken in the order of their ids.
        candidate AS MATERIALIZED (
            SELECT
                c.subject_type,
                c.instance_id,
                c.start_datetime,
                row_number() OVER (ORDER BY c.reached, c.subject_type, c.instance_id) AS place
            FROM (
                SELECT
                    'BATCH' AS subject_type,
                    nb.batch_instance_id AS instance_id,
                    nb.start_datetime,
                    max(nb.start_datetime) OVER (ORDER BY nb.batch_instance_id) AS reached
                FROM new_batch AS nb
                UNION ALL
                SELECT
                    'MODULE' AS subject_type,
                    nm.module_instance_id,
                    nm.start_datetime,
                    max(nm.start_datetime) OVER (ORDER BY nm.module_instance_id) AS reached
                FROM new_module AS nm
            ) AS c
        ),

        cut AS MATERIALIZED (
            SELECT
                min(c.start_datetime) FILTER (WHERE c.place > p_limit) AS upto,
                coalesce(
                    max(c.instance_id) FILTER (
                        WHERE c.place <= p_limit AND c.subject_type = 'MODULE'
                    ),
                    v_setting.module_instance_id
                ) AS module_mark,
                coalesce(
                    max(c.instance_id) FILTER (
                        WHERE c.place <= p_limit AND c.subject_type = 'BATCH'
                    ),
                    v_setting.batch_instance_id
                ) AS batch_mark
            FROM candidate AS c
        ),

        gap AS MATERIALIZED (
            SELECT
                g.gap_id,
                g.subject_type,
                g.first_id,
                g.last_id,
                g.bound,
                coalesce(
                    pg_snapshot_xmin(pg_current_snapshot()) >= coalesce(g.bound, v_xid), FALSE
                ) AS is_settled
            FROM omd_event.gap AS g
        ),

        -- Both kinds in one form, for look-ups by ids; what is new is read of each kind itself, in
        -- the order of its key.
        followed AS NOT MATERIALIZED (
            SELECT
                'MODULE' AS subject_type,
                mi.module_instance_id AS instance_id,
                mi.module_id AS definition_id,
                mi.batch_instance_id,
                mi.start_datetime,
                mi.proceeded_datetime,
                mi.end_datetime,
                mi.execution_status_code,
                mi.reason_code,
                mi.has_proceeded
            FROM omd.followed_module_instance AS mi
            UNION ALL
            SELECT
                'BATCH' AS subject_type,
                bi.batch_instance_id,
                bi.batch_id,
                bi.parent_batch_instance_id,
                bi.start_datetime,
                bi.proceeded_datetime,
                bi.end_datetime,
                bi.execution_status_code,
                bi.reason_code,
                bi.has_proceeded
            FROM omd.followed_batch_instance AS bi
        ),

        met AS MATERIALIZED (
            SELECT
                'MODULE' AS subject_type,
                nm.module_instance_id AS instance_id,
                nm.module_id AS definition_id,
                nm.batch_instance_id,
                nm.start_datetime,
                nm.proceeded_datetime,
                nm.end_datetime,
                nm.execution_status_code,
                nm.reason_code,
                nm.has_proceeded,
                FALSE AS is_open,
                FALSE AS has_begun,
                NULL::bigint AS gap_id
            FROM new_module AS nm
            CROSS JOIN cut AS c
            WHERE nm.module_instance_id <= c.module_mark
            UNION ALL
            SELECT
                'BATCH' AS subject_type,
                nb.batch_instance_id,
                nb.batch_id,
                nb.parent_batch_instance_id,
                nb.start_datetime,
                nb.proceeded_datetime,
                nb.end_datetime,
                nb.execution_status_code,
                nb.reason_code,
                nb.has_proceeded,
                FALSE AS is_open,
                FALSE AS has_begun,
                NULL::bigint AS gap_id
            FROM new_batch AS nb
            CROSS JOIN cut AS c
            WHERE nb.batch_instance_id <= c.batch_mark
            UNION ALL
            SELECT
                x.*,
                FALSE AS is_open,
                FALSE AS has_begun,
                g.gap_id
            FROM gap AS g
            CROSS JOIN LATERAL (
                SELECT f.*
                FROM followed AS f
                WHERE f.subject_type = g.subject_type
                    AND f.instance_id BETWEEN g.first_id AND g.last_id
                OFFSET 0
            ) AS x
            UNION ALL
            -- What somebody has deleted by hand has no columns here.
            SELECT
                o.subject_type,
                o.instance_id,
                x.definition_id,
                x.batch_instance_id,
                x.start_datetime,
                x.proceeded_datetime,
                x.end_datetime,
                x.execution_status_code,
                x.reason_code,
                x.has_proceeded,
                TRUE AS is_open,
                o.has_begun,
                NULL::bigint AS gap_id
            FROM omd_event.open_run AS o
            LEFT JOIN LATERAL (
                SELECT f.*
                FROM followed AS f
                WHERE f.subject_type = o.subject_type AND f.instance_id = o.instance_id
                OFFSET 0
            ) AS x ON TRUE
            -- Of the others there is nothing new.
            WHERE x.start_datetime IS NULL
                OR x.end_datetime IS NOT NULL
                OR (x.has_proceeded AND NOT o.has_begun)
        ),

        -- A failure before the evaluation is a run that began.
        seen AS MATERIALIZED (
            SELECT
                m.*,
                coalesce(m.proceeded_datetime, m.start_datetime) AS began_datetime,
                m.has_begun OR m.has_proceeded OR m.execution_status_code = 'F' AS has_run
            FROM met AS m
        ),

        -- A Batch does not begin before the Batch that called it.
        called AS (
            SELECT
                s.instance_id,
                s.batch_instance_id,
                s.began_datetime
            FROM seen AS s
            WHERE s.subject_type = 'BATCH' AND s.has_run AND NOT s.has_begun
            UNION ALL
            SELECT
                c.instance_id,
                s.batch_instance_id,
                s.began_datetime
            FROM called AS c
            INNER JOIN seen AS s ON c.batch_instance_id = s.instance_id
            WHERE s.subject_type = 'BATCH' AND s.has_run AND NOT s.has_begun
        ),

        batch_begin AS MATERIALIZED (
            SELECT
                c.instance_id,
                max(c.began_datetime) AS began_datetime
            FROM called AS c
            GROUP BY c.instance_id
        ),

        -- Causes stand before effects, whatever the clock did.
        dated AS (
            SELECT
                s.*,
                greatest(s.began_datetime, b.began_datetime) AS begin_order,
                greatest(s.began_datetime, b.began_datetime, s.end_datetime) AS end_order
            FROM seen AS s
            LEFT JOIN batch_begin AS b
                ON b.instance_id = CASE s.subject_type
                    WHEN 'BATCH' THEN s.instance_id ELSE s.batch_instance_id
                END
        ),

        placed AS (
            SELECT
                d.*,
                d.has_run
                AND NOT d.has_begun
                AND (c.upto IS NULL OR d.begin_order <= c.upto)
                AND (d.subject_type = 'BATCH' OR d.batch_instance_id <= c.batch_mark) AS is_begin,
                d.has_run
                AND d.end_datetime IS NOT NULL
                AND (c.upto IS NULL OR d.end_order <= c.upto)
                AND (
                    d.has_begun
                    OR d.subject_type = 'BATCH'
                    OR d.batch_instance_id <= c.batch_mark
                ) AS is_end
            FROM dated AS d
            CROSS JOIN cut AS c
        ),

        judged AS MATERIALIZED (
            SELECT
                t.*,
                t.start_datetime IS NULL
                OR t.is_end
                OR (t.end_datetime IS NOT NULL AND NOT t.has_run) AS is_done
            FROM placed AS t
        ),

        waiting AS MATERIALIZED (
            SELECT
                o.*,
                greatest(o.event_datetime, j.end_order) AS happened_order
            FROM omd_event.outbox AS o
            CROSS JOIN cut AS c
            LEFT JOIN judged AS j
                ON
                    o.event_type = 'RUN_UNDONE'
                    AND j.subject_type = 'MODULE'
                    AND o.subject_id = j.instance_id
            WHERE (c.upto IS NULL OR greatest(o.event_datetime, j.end_order) <= c.upto)
                AND (
                    o.event_type <> 'RUN_UNDONE'
                    OR (o.subject_id <= c.module_mark AND coalesce(j.is_done, TRUE))
                )
        ),

        happened AS (
            SELECT
                CASE j.subject_type WHEN 'BATCH' THEN 'BATCH_BEGAN' ELSE 'RUN_BEGAN' END
                AS event_type,
                j.subject_type,
                j.instance_id AS subject_id,
                CASE j.subject_type WHEN 'BATCH' THEN b.batch_code ELSE m.module_code END AS code,
                j.start_datetime AS started_datetime,
                j.began_datetime AS event_datetime,
                NULL::uuid AS event_uuid,
                CASE
                    WHEN j.batch_instance_id = 0 THEN '{}'
                    ELSE jsonb_build_object('batch_instance_id', j.batch_instance_id)
                END AS detail,
                j.begin_order AS happened_order,
                CASE j.subject_type WHEN 'BATCH' THEN 1 ELSE 2 END AS rank
            FROM judged AS j
            LEFT JOIN omd.ledger_batch AS b ON j.subject_type = 'BATCH' AND j.definition_id = b.batch_id
            LEFT JOIN omd.ledger_module AS m
                ON j.subject_type = 'MODULE' AND j.definition_id = m.module_id
            WHERE j.is_begin
            UNION ALL
            SELECT
                CASE j.subject_type WHEN 'BATCH' THEN 'BATCH_' ELSE 'RUN_' END
                || CASE j.execution_status_code
                    WHEN 'S' THEN 'SUCCEEDED' WHEN 'F' THEN 'FAILED' ELSE 'ABORTED'
                END,
                j.subject_type,
                j.instance_id,
                CASE j.subject_type WHEN 'BATCH' THEN b.batch_code ELSE m.module_code END,
                j.start_datetime,
                j.end_datetime,
                NULL::uuid AS event_uuid,
                CASE
                    WHEN j.execution_status_code = 'S' AND j.batch_instance_id = 0 THEN '{}'
                    WHEN j.execution_status_code = 'S'
                        THEN jsonb_build_object('batch_instance_id', j.batch_instance_id)
                    ELSE jsonb_strip_nulls(
                        jsonb_build_object(
                            'batch_instance_id', nullif(j.batch_instance_id, 0),
                            'status',
                            CASE
                                WHEN j.execution_status_code <> 'F' THEN j.execution_status_code
                            END,
                            'reason', j.reason_code,
                            'return_code',
                            CASE
                                WHEN j.execution_status_code = 'F'
                                    THEN omd.return_code_of(j.subject_type, j.instance_id)
                            END
                        )
                    )
                END,
                j.end_order,
                CASE j.subject_type WHEN 'BATCH' THEN 5 ELSE 3 END
            FROM judged AS j
            LEFT JOIN omd.ledger_batch AS b ON j.subject_type = 'BATCH' AND j.definition_id = b.batch_id
            LEFT JOIN omd.ledger_module AS m
                ON j.subject_type = 'MODULE' AND j.definition_id = m.module_id
            WHERE j.is_end
            UNION ALL
            SELECT
                w.event_type,
                w.subject_type,
                w.subject_id,
                w.code,
                w.started_datetime,
                w.event_datetime,
                w.event_uuid,
                w.detail,
                w.happened_order,
                4 AS rank
            FROM waiting AS w
        ),

        published AS (
            INSERT INTO omd_event.event (
                event_number, event_type, subject_type, subject_id, code, started_datetime,
                event_datetime, published_datetime, event_uuid, detail
            )
            SELECT
                v_setting.event_number
                + row_number() OVER (ORDER BY h.happened_order, h.rank, h.subject_id) AS event_number,
                h.event_type,
                h.subject_type,
                h.subject_id,
                h.code,
                h.started_datetime,
                h.event_datetime,
                v_now AS published_datetime,
                h.event_uuid,
                h.detail
            FROM happened AS h
            RETURNING event_number
        ),

        counted AS (
            SELECT count(*) AS published FROM published
        ),

        left_outbox AS (
            DELETE FROM omd_event.outbox AS o
            WHERE o.outbox_id IN (SELECT w.outbox_id FROM waiting AS w)
        ),

        closed AS (
            DELETE FROM omd_event.open_run AS o
            USING judged AS j
            WHERE j.is_open
                AND j.is_done
                AND o.subject_type = j.subject_type
                AND o.instance_id = j.instance_id
        ),

        begun AS (
            UPDATE omd_event.open_run AS o SET has_begun = TRUE
            FROM judged AS j
            WHERE j.is_open
                AND j.is_begin
                AND NOT j.is_done
                AND o.subject_type = j.subject_type
                AND o.instance_id = j.instance_id
        ),

        opened AS (
            INSERT INTO omd_event.open_run (subject_type, instance_id, has_begun)
            SELECT
                j.subject_type,
                j.instance_id,
                j.is_begin
            FROM judged AS j
            WHERE NOT j.is_open AND NOT j.is_done
        ),

        hit AS MATERIALIZED (
            SELECT DISTINCT m.gap_id FROM met AS m WHERE m.gap_id IS NOT NULL
        ),

        dropped AS (
            DELETE FROM omd_event.gap AS g
            USING gap AS x
            WHERE g.gap_id = x.gap_id
                AND (x.is_settled OR x.gap_id IN (SELECT h.gap_id FROM hit AS h))
        ),

        bounded AS (
            UPDATE omd_event.gap AS g SET bound = v_xid
            FROM gap AS x
            WHERE g.gap_id = x.gap_id
                AND x.bound IS NULL
                AND v_xid IS NOT NULL
                AND NOT x.is_settled
                AND x.gap_id NOT IN (SELECT h.gap_id FROM hit AS h)
        ),

        noted AS (
            INSERT INTO omd_event.gap (subject_type, first_id, last_id, bound)
            SELECT
                p.subject_type,
                p.first_id,
                p.last_id,
                p.bound
            FROM (
                -- What is left of a gap in which some came.
                SELECT
                    r.subject_type,
                    lag(r.instance_id, 1, r.first_id - 1) OVER (
                        PARTITION BY r.gap_id ORDER BY r.instance_id
                    ) + 1 AS first_id,
                    r.instance_id - 1 AS last_id,
                    r.bound
                FROM (
                    SELECT
                        x.gap_id,
                        x.subject_type,
                        x.first_id,
                        coalesce(x.bound, v_xid) AS bound,
                        e.instance_id
                    FROM gap AS x
                    INNER JOIN hit AS h ON x.gap_id = h.gap_id
                    CROSS JOIN LATERAL (
                        SELECT m.instance_id FROM met AS m WHERE m.gap_id = x.gap_id
                        UNION ALL
                        SELECT x.last_id + 1
                    ) AS e
                    WHERE NOT x.is_settled
                ) AS r
                UNION ALL
                SELECT
                    c.subject_type,
                    lag(
                        c.instance_id,
                        1,
                        CASE c.subject_type
                            WHEN 'BATCH' THEN v_setting.batch_instance_id
                            ELSE v_setting.module_instance_id
                        END
                    ) OVER (PARTITION BY c.subject_type ORDER BY c.instance_id) + 1 AS first_id,
                    c.instance_id - 1 AS last_id,
                    NULL AS bound
                FROM candidate AS c
                WHERE c.place <= p_limit
            ) AS p
            WHERE p.first_id <= p.last_id
        ),

        moved AS (
            UPDATE omd_event.setting AS s SET
                event_number = s.event_number + n.published,
                module_instance_id = c.module_mark,
                batch_instance_id = c.batch_mark,
                published_datetime = v_now
            FROM cut AS c
            CROSS JOIN counted AS n
            WHERE s.ctid = (
                    SELECT e.ctid FROM omd_event.setting AS e
                    WHERE e.is_only BETWEEN TRUE AND TRUE
                    ORDER BY e.is_only DESC
                    LIMIT 1
                )
                AND (
                    n.published > 0
                    OR c.module_mark > s.module_instance_id
                    OR c.batch_mark > s.batch_instance_id
                    OR coalesce(s.published_datetime < v_now - interval '10 s', TRUE)
                )
        )

        SELECT
            n.published,
            c.upto IS NOT NULL AS is_cut,
            c.module_mark,
            c.batch_mark
        INTO STRICT v_round
        FROM counted AS n
        CROSS JOIN cut AS c;

        p_published := v_round.published;
        p_event_number := v_setting.event_number + v_round.published;
        -- What was cut before it could say anything goes on, since 0 says that nothing is left.
        EXIT WHEN v_round.published > 0 OR NOT v_round.is_cut;
        v_setting.module_instance_id := v_round.module_mark;
        v_xid := NULL; -- it is older than what was noticed here
        v_setting.batch_instance_id := v_round.batch_mark;
    END LOOP;
    IF p_published > 0 THEN
        IF p_event_number - v_setting.counted_number >= 256 THEN
            PERFORM omd_event._count_published();
        END IF;
        PERFORM omd.notify('omd_published', p_event_number::text);
    END IF;
END
$publish$;

COMMENT ON PROCEDURE omd_event.publish IS
'Gives numbers to what has happened since the last round, in the order of time, and writes it to '
'omd_event.event; p_published says how much, p_event_number which number is the newest. 0: '
'nothing is left. NULL: another session publishes. p_limit: at most so many instances that were '
'not met before; what is later than the first one left out waits for the next round. It counts '
'what it publishes, and notifies omd_published. Errors: OM005, OM013, OM014. Locks: the row of '
'omd_event.setting. Call again when the answer was lost. May be NULL: p_published.';
GRANT EXECUTE ON PROCEDURE omd_event.publish TO omd_runner;

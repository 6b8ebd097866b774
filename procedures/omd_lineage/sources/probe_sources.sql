-- Each source is a transaction of its own, unless the caller has opened one: what a source has
-- gained stays when a later one is cancelled, and no lock is held for longer than its probe takes.
-- Nothing is lost when such a commit is, so that it does not wait for the disk. A procedure that
-- commits can't set a search_path, so every name is qualified. Sources that no look moves would
-- hold up what waits for those that it does: 2,000 of them took four times as long as a row took
-- through ten topics. So they take a hundredth of the time, or 20 ms of a call.

CREATE OR REPLACE PROCEDURE omd_lineage.probe_sources(
    INOUT p_moved integer DEFAULT NULL
)
LANGUAGE plpgsql
SECURITY INVOKER
AS $probe_sources$
DECLARE
    c_at_once CONSTANT pg_catalog.int4 := 100;
    v_began CONSTANT pg_catalog.timestamptz := pg_catalog.clock_timestamp();
    v_can_commit boolean;
    v_time pg_catalog.interval;
    v_until pg_catalog.timestamptz; -- NULL: those that a look can move
    v_sources omd_lineage.source_list[];
    v_source omd_lineage.source_list;
    v_first pg_catalog.text := '';
    v_probe pg_catalog.record;
BEGIN
    CALL omd.ask_whether_to_commit(v_can_commit);
    p_moved := 0;
    SELECT
        least(
            v_began OPERATOR(pg_catalog.-) pg_catalog.max(p.probed_at),
            '10 seconds'::pg_catalog.interval
        ) OPERATOR(pg_catalog./) 100
    INTO v_time
    FROM omd_lineage.source_probe AS p;
    v_sources := ARRAY(SELECT s FROM omd_lineage._sources_to_probe() AS s);
    <<rounds>>
    LOOP
        FOREACH v_source IN ARRAY v_sources LOOP
            EXIT rounds WHEN pg_catalog.clock_timestamp() OPERATOR(pg_catalog.>) v_until
                AND EXISTS (
                    SELECT FROM omd_lineage.source_probe AS p
                    WHERE p.source OPERATOR(pg_catalog.=) v_source.source
                );
            IF v_can_commit THEN
                PERFORM pg_catalog.set_config('synchronous_commit', 'off', TRUE);
            END IF;
            v_probe := omd_lineage._try_probe(
                v_source.source, v_source.topic_id, v_source.table_code, v_source.pos_column,
                v_source.id_column, v_source.is_read, 'POLL'
            );
            p_moved := p_moved OPERATOR(pg_catalog.+) v_probe.p_is_moved::integer;
            IF v_can_commit THEN
                COMMIT;
            END IF;
            IF v_probe.p_is_cancelled THEN
                RAISE EXCEPTION USING
                    ERRCODE = 'query_canceled',
                    MESSAGE = pg_catalog.format('the probe of %s was cancelled', v_source.source);
            END IF;
        END LOOP;
        -- Who could not save what it has seen would be the first again.
        EXIT WHEN v_until IS NOT NULL
            AND (
                pg_catalog.cardinality(v_sources) OPERATOR(pg_catalog.<) c_at_once
                OR (v_sources[1]).source OPERATOR(pg_catalog.=) v_first
            );
        v_first := coalesce((v_sources[1]).source, '');
        v_sources := ARRAY(SELECT s FROM omd_lineage._sources_to_watch(v_began, c_at_once) AS s);
        v_until := coalesce(
            v_until,
            pg_catalog.clock_timestamp()
            OPERATOR(pg_catalog.+) greatest(v_time, '20 milliseconds'::pg_catalog.interval)
        );
    END LOOP;
END
$probe_sources$;

COMMENT ON PROCEDURE omd_lineage.probe_sources IS
'Probes every active source: moves the offsets of those with PROBE or CLOCK as far as their tables'
' have come, and finds what is wrong with a source, which omd_report.sources shows. Returns '
'p_moved, the number of offsets that moved. A locked or broken source does not stop the others. '
'Tables that nothing but their owners moves (HAND, without a greatest age, or no topic) are looked '
'at in turn, those first whose look was longest ago, for a hundredth of the time or 20 ms. '
'Outside a transaction block it commits after each source. Errors: 57014: it was cancelled; what '
'it has done before stays, where it commits. Locks: each table in turn, ACCESS SHARE, for which it'
' waits 100 ms at most; the offsets that move. Call again when the answer was lost.';
GRANT EXECUTE ON PROCEDURE omd_lineage.probe_sources TO omd_runner;

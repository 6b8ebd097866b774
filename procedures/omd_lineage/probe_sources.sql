-- Each source is a transaction of its own, unless the caller has opened one: what a source has
-- gained stays when a later one is cancelled, and no lock is held for longer than its probe takes.
-- Nothing is lost when such a commit is, so that it does not wait for the disk. A procedure that
-- commits can't set a search_path, so every name is qualified.

CREATE OR REPLACE PROCEDURE omd_lineage.probe_sources(
    INOUT p_moved integer DEFAULT NULL
)
LANGUAGE plpgsql
SECURITY INVOKER
AS $probe_sources$
DECLARE
    v_can_commit boolean;
    v_source omd_lineage.source_list;
    v_probe pg_catalog.record;
BEGIN
    CALL omd.ask_whether_to_commit(v_can_commit);
    p_moved := 0;
    FOR v_source IN SELECT s.* FROM omd_lineage._sources_to_probe() AS s LOOP
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
END
$probe_sources$;

COMMENT ON PROCEDURE omd_lineage.probe_sources IS
'Probes every active source: moves the offsets of those with PROBE or CLOCK as far as their tables'
' have come, and finds what is wrong with a source, which omd_report.sources shows. Returns '
'p_moved, the number of offsets that moved. A locked or broken source does not stop the others. '
'Outside a transaction block it commits after each source. Errors: 57014: it was cancelled; what '
'it has done before stays, where it commits. Locks: each table in turn, ACCESS SHARE, for which it'
' waits 100 ms at most; the offsets that move. Call again when the answer was lost.';
REVOKE ALL ON PROCEDURE omd_lineage.probe_sources FROM PUBLIC;
GRANT EXECUTE ON PROCEDURE omd_lineage.probe_sources TO omd_runner;

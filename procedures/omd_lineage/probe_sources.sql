-- An error in one source does not stop the others. All schedulers take the sources in the same
-- order, so that they can't deadlock.

CREATE OR REPLACE PROCEDURE omd_lineage.probe_sources(
    INOUT p_moved integer DEFAULT NULL
)
LANGUAGE plpgsql
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $probe_sources$
DECLARE
    v_source record;
BEGIN
    p_moved := 0;
    FOR v_source IN
        SELECT t.topic_id, o.last
        FROM omd_lineage.topic AS t
        INNER JOIN omd_lineage.offsets AS o USING (topic_id)
        WHERE t.processor IS NULL
            AND (
                t.source_offset IN ('PROBE', 'CLOCK')
                OR (
                    t.source_offset = 'TRIGGER'
                    AND EXISTS (
                        SELECT FROM omd_lineage.note AS n WHERE n.topic_id = t.topic_id
                    )
                )
            )
            AND t.inactive_indicator = 'N'
        ORDER BY t.topic_id
    LOOP
        BEGIN
            PERFORM omd_lineage._probe_source(v_source.topic_id);
            PERFORM FROM omd_lineage.offsets AS o
            WHERE o.topic_id = v_source.topic_id AND o.last IS DISTINCT FROM v_source.last;
            p_moved := p_moved + FOUND::integer;
        EXCEPTION
            WHEN OTHERS THEN
                PERFORM omd_lineage._write_state(v_source.topic_id, sqlerrm);
        END;
    END LOOP;
END
$probe_sources$;

COMMENT ON PROCEDURE omd_lineage.probe_sources IS
'Probes how far every source with PROBE or CLOCK has come, and each source with TRIGGER that left '
'a note, and moves its offset. Returns p_moved, the number of offsets that moved. An error in a '
'source is recorded in its state. Locks: the offsets that move. Call again when the answer was '
'lost.';
REVOKE ALL ON PROCEDURE omd_lineage.probe_sources FROM PUBLIC;
GRANT EXECUTE ON PROCEDURE omd_lineage.probe_sources TO omd_runner;

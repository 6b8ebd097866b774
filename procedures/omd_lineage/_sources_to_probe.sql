-- All schedulers take the sources in the same order, so that they can't deadlock where their
-- transactions hold several of them. What was slow comes last: when the statement is cancelled
-- there, the others are done.

CREATE OR REPLACE FUNCTION omd_lineage._sources_to_probe()
RETURNS SETOF omd_lineage.source_list
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        s.source,
        s.topic_id,
        s.table_code,
        s.pos_column,
        s.id_column,
        s.source_offset,
        s.max_age,
        s.inactive_indicator,
        s.is_read
    FROM omd_lineage.source_list AS s
    LEFT JOIN omd_lineage.source_probe AS p ON s.source = p.source
    WHERE s.inactive_indicator = 'N' AND coalesce(s.source_offset NOT IN ('FACTS', 'RUNS'), TRUE)
    ORDER BY
        coalesce(p.probe_duration > interval '1 second', FALSE),
        s.topic_id ASC NULLS LAST,
        s.source ASC;
END;

COMMENT ON FUNCTION omd_lineage._sources_to_probe IS
'Returns every active source that does not say itself how far it has come, in the order in which '
'they are probed. Locks: none.';
REVOKE ALL ON FUNCTION omd_lineage._sources_to_probe FROM PUBLIC;
GRANT EXECUTE ON FUNCTION omd_lineage._sources_to_probe TO omd_runner;

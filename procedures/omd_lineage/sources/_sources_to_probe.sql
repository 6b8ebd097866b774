-- All schedulers take the sources in the same order, so that they can't deadlock where their
-- transactions hold several of them. What was slow comes last: when the statement is cancelled
-- there, the others are done. A platform has few sources whose offset a look can move, beside
-- thousands of tables that others say how far they have come (_sources_to_watch).

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
    WHERE
        s.topic_id IS NOT NULL
        AND s.inactive_indicator = 'N'
        AND (
            s.source_offset IN ('PROBE', 'TRIGGER', 'CLOCK', 'LAKE')
            OR s.source_offset = 'HAND' AND s.max_age IS NOT NULL
        )
    ORDER BY
        coalesce(p.probe_duration > interval '1 second', FALSE),
        s.topic_id ASC,
        s.source ASC;
END;

COMMENT ON FUNCTION omd_lineage._sources_to_probe IS
'Returns every active source that a look can move, or that has a greatest age, in the order in '
'which they are probed. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_lineage._sources_to_probe TO omd_runner;

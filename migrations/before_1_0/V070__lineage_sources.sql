-- V070: a dependency may be read by the positions of a source that nobody probes. Applied once. A
-- call of a routine that gets other parameters, or another answer, goes on under another name,
-- until sql/cleanup/drop_retired.sql drops it.

DO $do$
DECLARE
    v_name text;
BEGIN
    FOREACH v_name IN ARRAY ARRAY['_require_block_views', 'topic_definition'] LOOP
        IF to_regproc(format('omd_lineage.%I', v_name)) IS NOT NULL THEN
            EXECUTE format('COMMENT ON ROUTINE omd_lineage.%I IS %L', v_name, 'Retired.');
            EXECUTE format(
                'ALTER ROUTINE omd_lineage.%I RENAME TO %I',
                v_name, '_former_' || ltrim(v_name, '_')
            );
        END IF;
    END LOOP;
END
$do$;

-- An upgrade finds these there already, from sql/prepare/lineage_columns.sql, which says why.
ALTER TABLE omd_lineage.dependency ADD COLUMN IF NOT EXISTS source_kind_code text;
COMMENT ON COLUMN omd_lineage.dependency.source_kind_code IS
'FACTS, LAKE or RUNS: it is read by the positions that omd.source has of its table; NULL: by the '
'offset of the topic that makes it.';

DO $do$
BEGIN
    IF NOT EXISTS (
        SELECT FROM pg_constraint AS c
        WHERE c.conrelid = 'omd_lineage.topic'::regclass
            AND c.conname = 'ck_topic_source_offset'
            AND pg_get_constraintdef(c.oid) LIKE '%RUNS%'
    ) THEN
        ALTER TABLE omd_lineage.topic
        DROP CONSTRAINT ck_topic_source_offset,
        ADD CONSTRAINT ck_topic_source_offset CHECK (
            source_offset IN ('PROBE', 'CLOCK', 'TRIGGER', 'HAND', 'LAKE', 'FACTS', 'RUNS')
        );
    END IF;
END
$do$;

COMMENT ON COLUMN omd_lineage.topic.source_offset IS
'Where the offset of a source comes from. PROBE: a look at its newest row. CLOCK: the time, where '
'the server stamps rows when they are written. TRIGGER: omd_lineage.note_rows. HAND: '
'omd_lineage.set_offset. LAKE: the commits of a lake table. FACTS: the changes of an interface. '
'RUNS: the runs of the Modules that write it.';

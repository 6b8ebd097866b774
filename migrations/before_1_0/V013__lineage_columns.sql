-- V013: new columns of the tables that a running step reads. An upgrade finds them there already,
-- from sql/prepare/lineage_columns.sql, which says why. Applied once.

DO $do$
BEGIN
    IF NOT EXISTS (
        SELECT FROM pg_attribute AS a
        WHERE a.attrelid = 'omd_lineage.topic'::regclass AND a.attname = 'merge_key'
    ) THEN
        ALTER TABLE omd_lineage.topic
        ADD COLUMN merge_key text[],
        ADD COLUMN recompute_key text[],
        ADD COLUMN max_age interval,
        ADD CONSTRAINT ck_topic_max_age CHECK (max_age > interval '0'),
        DROP CONSTRAINT ck_topic_reload_method,
        ADD CONSTRAINT ck_topic_reload_method CHECK (
            reload_method IN ('DELETE', 'TRUNCATE', 'SWAP')
        );
        ALTER TABLE omd_lineage.offsets
        ADD COLUMN restatement_id bigint,
        ADD COLUMN undone_from timestamptz;
        ALTER TABLE omd_lineage.log
        ADD COLUMN query_id text,
        ADD COLUMN reload_method text;
    END IF;
END
$do$;

COMMENT ON COLUMN omd_lineage.topic.merge_key IS
'Rows of a block replace rows of the destination that have the same values in these columns. NULL: '
'rows are inserted.';
COMMENT ON COLUMN omd_lineage.topic.recompute_key IS
'A block names values of these columns, and the rows of the destination that have them are '
'computed anew from the whole base table. NULL: rows are inserted.';
COMMENT ON COLUMN omd_lineage.topic.max_age IS
'How old the newest row of the source may be. NULL: nothing is promised.';

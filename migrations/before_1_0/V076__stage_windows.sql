-- V076: decision: a stage says when it starts, and its window may be changes of facts. What work
-- reads of a document is in columns, so that a look at all stages opens none. Applied once. A call
-- that executes a routine that has other parameters now goes on, under another name, until
-- sql/cleanup/drop_retired.sql drops it.

DO $do$
DECLARE
    v_name text;
BEGIN
    FOREACH v_name IN ARRAY ARRAY['_pin_run', 'begin_stage', 'run_stage'] LOOP
        IF to_regproc(format('omd_decision.%I', v_name)) IS NOT NULL THEN
            EXECUTE format('COMMENT ON ROUTINE omd_decision.%I IS %L', v_name, 'Retired.');
            EXECUTE format(
                'ALTER ROUTINE omd_decision.%I RENAME TO %I',
                v_name, '_former_' || ltrim(v_name, '_')
            );
        END IF;
    END LOOP;
END
$do$;

ALTER TABLE omd_decision.stage
ADD COLUMN start_code text,
ADD COLUMN start_every interval,
ADD COLUMN window_code text,
ADD COLUMN window_delay interval;
COMMENT ON COLUMN omd_decision.stage.start_code IS
'When it starts by itself: NEWS or EVERY; NULL: a person, a Batch or a schedule starts it.';
COMMENT ON COLUMN omd_decision.stage.start_every IS
'The time between two starts; NULL: it starts otherwise.';
COMMENT ON COLUMN omd_decision.stage.window_code IS
'What its window is made of: CHANGES or COLUMN; NULL: it has none.';
COMMENT ON COLUMN omd_decision.stage.window_delay IS
'How far the window stays behind the clock; NULL: it has none, or goes by changes.';

CREATE TABLE omd_decision.stage_source (
    stage_id integer NOT NULL,
    table_code text NOT NULL,
    CONSTRAINT pk_stage_source PRIMARY KEY (stage_id, table_code),
    CONSTRAINT fk_stage_source_stage FOREIGN KEY (stage_id)
    REFERENCES omd_decision.stage (stage_id) ON DELETE CASCADE
);
COMMENT ON TABLE omd_decision.stage_source IS
'The tables and views that the window of a stage cuts: the sources of its links that are no buffer '
'links. A stage without a window has none.';
COMMENT ON COLUMN omd_decision.stage_source.stage_id IS 'The stage.';
COMMENT ON COLUMN omd_decision.stage_source.table_code IS 'The table or view, schema.name.';

-- V088: process control: load windows of topics and stages that a recall took back are kept until
-- they are taken again; and how far a reader has come without a window. Applied once.

CREATE TABLE omd.window_return (
    window_return_id bigint GENERATED ALWAYS AS IDENTITY,
    module_id integer NOT NULL,
    recall_id bigint NOT NULL,
    start_value timestamptz,
    start_id bigint,
    end_value timestamptz,
    end_id bigint,
    source_code text,
    former_instances bigint[] NOT NULL,
    module_instance_id bigint,
    noted_datetime timestamptz NOT NULL DEFAULT clock_timestamp(),
    ended_datetime timestamptz,
    CONSTRAINT pk_window_return PRIMARY KEY (window_return_id),
    CONSTRAINT fk_window_return_module FOREIGN KEY (module_id)
    REFERENCES omd.module (module_id) ON DELETE CASCADE
);
CREATE INDEX ix_window_return_module ON omd.window_return (module_id, start_value, start_id);
CREATE INDEX ix_window_return_open ON omd.window_return (module_id)
WHERE ended_datetime IS NULL;
CREATE INDEX ix_window_return_instance ON omd.window_return (module_instance_id)
WHERE module_instance_id IS NOT NULL;
COMMENT ON TABLE omd.window_return IS
'Load windows of topics and stages that a recall took back and that are to be taken again, each by '
'a run of its own. A row is open until ended_datetime.';
COMMENT ON COLUMN omd.window_return.window_return_id IS 'Surrogate key, in order.';
COMMENT ON COLUMN omd.window_return.module_id IS 'The Module.';
COMMENT ON COLUMN omd.window_return.recall_id IS 'The recall.';
COMMENT ON COLUMN omd.window_return.start_value IS
'Start of the window, exclusive; NULL: it has none, or begins at the beginning.';
COMMENT ON COLUMN omd.window_return.start_id IS 'The id of its start.';
COMMENT ON COLUMN omd.window_return.end_value IS
'End of the window, inclusive; NULL with end_id: the run had no window, and reads all there is.';
COMMENT ON COLUMN omd.window_return.end_id IS 'The id of its end.';
COMMENT ON COLUMN omd.window_return.source_code IS
'The source whose positions it has (omd.source); NULL: another one.';
COMMENT ON COLUMN omd.window_return.former_instances IS
'The runs whose window it was: the one that was taken back, and those that it had superseded.';
COMMENT ON COLUMN omd.window_return.module_instance_id IS
'The run that takes it again, or has tried; NULL: none has begun.';
COMMENT ON COLUMN omd.window_return.noted_datetime IS 'When it was taken back.';
COMMENT ON COLUMN omd.window_return.ended_datetime IS
'When it was taken again, or was read by another run; NULL: it is open.';

CREATE TABLE omd.pending_recall (
    module_instance_id bigint NOT NULL,
    recall_id bigint NOT NULL,
    noted_datetime timestamptz NOT NULL DEFAULT clock_timestamp(),
    CONSTRAINT pk_pending_recall PRIMARY KEY (module_instance_id),
    CONSTRAINT fk_pending_recall_instance FOREIGN KEY (module_instance_id)
    REFERENCES omd.module_instance (module_instance_id) ON DELETE CASCADE
);
COMMENT ON TABLE omd.pending_recall IS
'Runs that a recall takes back whose rows the session could not undo: they go with the next begin '
'of their Module, and until then nobody reads its tables.';
COMMENT ON COLUMN omd.pending_recall.module_instance_id IS 'The run.';
COMMENT ON COLUMN omd.pending_recall.recall_id IS 'The recall.';
COMMENT ON COLUMN omd.pending_recall.noted_datetime IS 'When.';

ALTER TABLE omd.source_reader ADD COLUMN passed_id bigint;
COMMENT ON COLUMN omd.source_reader.passed_id IS
'The position up to which it has passed without a window, since there was nothing for it; NULL: '
'its newest window says how far it has come.';

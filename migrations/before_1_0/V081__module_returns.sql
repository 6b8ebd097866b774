-- V081: process control: what a recall took back and must come again by a person, a job or a new
-- delivery, until it has come. Applied once.

CREATE TABLE omd.module_return (
    recall_id bigint NOT NULL,
    position integer NOT NULL,
    module_id integer NOT NULL,
    is_by_hand boolean NOT NULL,
    former_instances bigint[] NOT NULL DEFAULT '{}',
    former_delivery_id bigint,
    snapshot_datetime timestamptz,
    start_value timestamptz,
    start_id bigint,
    module_instance_id bigint,
    delivery_id bigint,
    ended_datetime timestamptz,
    drop_reason text,
    problem text,
    CONSTRAINT pk_module_return PRIMARY KEY (recall_id, position),
    CONSTRAINT fk_module_return_module FOREIGN KEY (module_id)
    REFERENCES omd.module (module_id)
);
CREATE INDEX ix_module_return_open ON omd.module_return (module_id, snapshot_datetime)
WHERE ended_datetime IS NULL;
COMMENT ON TABLE omd.module_return IS
'Runs and deliveries that a recall took back and that must come again from outside: deliveries, '
'and runs of kind SQL and SPARK. An entry is open until ended_datetime.';
COMMENT ON COLUMN omd.module_return.recall_id IS 'The recall.';
COMMENT ON COLUMN omd.module_return.position IS 'The place in it, in the order of coming.';
COMMENT ON COLUMN omd.module_return.module_id IS
'The Module that is to run again; of a delivery that of its agreement.';
COMMENT ON COLUMN omd.module_return.is_by_hand IS
'A person must bring it; else a worker does when it is due.';
COMMENT ON COLUMN omd.module_return.former_instances IS 'The runs that were taken back.';
COMMENT ON COLUMN omd.module_return.former_delivery_id IS
'The delivery that was taken back; NULL: it is no delivery.';
COMMENT ON COLUMN omd.module_return.snapshot_datetime IS
'The snapshot of that delivery; NULL: it is no delivery.';
COMMENT ON COLUMN omd.module_return.start_value IS
'Where the first load window of the runs began; NULL: they had none.';
COMMENT ON COLUMN omd.module_return.start_id IS 'The id of that position.';
COMMENT ON COLUMN omd.module_return.module_instance_id IS
'The run that fills the entry; NULL: none yet.';
COMMENT ON COLUMN omd.module_return.delivery_id IS
'The delivery that fills the entry, or is to; NULL: none yet.';
COMMENT ON COLUMN omd.module_return.ended_datetime IS
'When it was filled or dropped; NULL: it is open.';
COMMENT ON COLUMN omd.module_return.drop_reason IS
'Why it will not come; NULL: it was not dropped.';
COMMENT ON COLUMN omd.module_return.problem IS 'Why it can''t come by itself; NULL: nothing.';

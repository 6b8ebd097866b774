-- phase: expand
-- V161: the runs of a room's own Modules are undone by the room. Applied once.

CREATE TABLE IF NOT EXISTS omd.room_rollback (
    module_kind_code text NOT NULL,
    routine text NOT NULL,
    CONSTRAINT pk_room_rollback PRIMARY KEY (module_kind_code)
);
COMMENT ON TABLE omd.room_rollback IS
'How rooms undo runs of their own Modules whose target is in this database: no template does. A '
'room enters its kinds when it is installed.';
COMMENT ON COLUMN omd.room_rollback.module_kind_code IS 'The kind of the Modules.';
COMMENT ON COLUMN omd.room_rollback.routine IS
'A function (p_module_id integer, p_instance_array bigint[]) returns bigint, which is the rollback '
'of such a Module.';

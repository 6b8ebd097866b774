-- phase: expand
-- V202: omd.retry asks the room of a Module to forget what it has counted. Applied once.

CREATE TABLE omd.room_retry (
    module_kind_code text NOT NULL,
    routine text NOT NULL,
    CONSTRAINT pk_room_retry PRIMARY KEY (module_kind_code)
);
COMMENT ON TABLE omd.room_retry IS
'How rooms forget what they count of their own Modules beside the failures of these. A room enters '
'its kinds when it is installed.';
COMMENT ON COLUMN omd.room_retry.module_kind_code IS 'The kind of the Modules.';
COMMENT ON COLUMN omd.room_retry.routine IS
'A function (p_module_id integer, p_name text, OUT p_its_module_id integer, OUT p_was boolean). '
'p_module_id: a Module of this kind; NULL: the one that the room names p_name. p_its_module_id: '
'NULL where there is none. p_was: whether there was anything to forget.';

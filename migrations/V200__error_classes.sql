-- phase: expand
-- V200: dispatch: the classes of errors that drivers have reported. Applied once.

CREATE TABLE omd_dispatch.error_class (
    class_name text NOT NULL,
    CONSTRAINT pk_error_class PRIMARY KEY (class_name),
    CONSTRAINT ck_error_class_class_name CHECK (class_name ~ '^[A-Za-z0-9_.]{1,200}$')
);

COMMENT ON TABLE omd_dispatch.error_class IS
'The classes of the errors of tasks, as drivers reported them beside the text of an error. The '
'first word of a text is shown to everybody only when it is one of these.';
COMMENT ON COLUMN omd_dispatch.error_class.class_name IS
'The class of an exception, or an SQLSTATE.';

-- V116: the page: the kinds of objects, and the actions on them. Applied once.

CREATE TABLE omd_web.object_kind (
    object_kind text NOT NULL,
    title text NOT NULL,
    view_name text NOT NULL,
    key_column text NOT NULL,
    path text NOT NULL,
    is_data boolean NOT NULL DEFAULT FALSE,
    CONSTRAINT pk_object_kind PRIMARY KEY (object_kind)
);
COMMENT ON TABLE omd_web.object_kind IS
'The kinds of objects that a person acts on. The installation fills it.';
COMMENT ON COLUMN omd_web.object_kind.object_kind IS 'The kind.';
COMMENT ON COLUMN omd_web.object_kind.title IS 'What people call it.';
COMMENT ON COLUMN omd_web.object_kind.view_name IS
'The view with one row per object, or a function that returns the row of the key.';
COMMENT ON COLUMN omd_web.object_kind.key_column IS 'Its column that is the key.';
COMMENT ON COLUMN omd_web.object_kind.path IS
'Where the page shows the object: {key} stands for its key.';
COMMENT ON COLUMN omd_web.object_kind.is_data IS
'Its row holds values of business rows: who reads it needs omd_data_reader.';

CREATE TABLE omd_web.action (
    action_code text NOT NULL,
    position integer NOT NULL,
    object_kind text NOT NULL,
    title text NOT NULL,
    routine text NOT NULL,
    arguments jsonb NOT NULL,
    offered_when text NOT NULL DEFAULT 'TRUE',
    preview text NOT NULL DEFAULT 'ROLLBACK',
    plan_query text,
    bulk_routine text,
    is_careful boolean NOT NULL DEFAULT FALSE,
    runs_user_sql boolean NOT NULL DEFAULT FALSE,
    needs_reason boolean NOT NULL DEFAULT FALSE,
    CONSTRAINT pk_action PRIMARY KEY (action_code),
    CONSTRAINT fk_action_object_kind FOREIGN KEY (object_kind)
    REFERENCES omd_web.object_kind (object_kind),
    CONSTRAINT ck_action_arguments CHECK (jsonb_typeof(arguments) = 'object'),
    CONSTRAINT ck_action_preview CHECK (preview IN ('ROLLBACK', 'PLAN', 'NONE')),
    CONSTRAINT ck_action_plan_query CHECK (preview <> 'PLAN' OR plan_query IS NOT NULL),
    -- What SQL of users does may outlast a rollback: an advisory lock, a file, another database.
    CONSTRAINT ck_action_runs_user_sql CHECK (preview = 'NONE' OR NOT runs_user_sql)
);
COMMENT ON TABLE omd_web.action IS
'What a person can do with an object of a kind, as a call. The installation fills it.';
COMMENT ON COLUMN omd_web.action.action_code IS 'The action.';
COMMENT ON COLUMN omd_web.action.position IS 'Its place among the actions of its kind.';
COMMENT ON COLUMN omd_web.action.object_kind IS 'The kind of its objects.';
COMMENT ON COLUMN omd_web.action.title IS 'What people call it.';
COMMENT ON COLUMN omd_web.action.routine IS 'The procedure that performs it.';
COMMENT ON COLUMN omd_web.action.arguments IS
'Its arguments: parameter → {"sql": an expression over the row o} or {"ask": a label, "required": '
'whether it must be given}. Any other parameter keeps its default.';
COMMENT ON COLUMN omd_web.action.offered_when IS
'When it is offered: a condition on the row o. It errs on the wide side, since the procedure '
'decides.';
COMMENT ON COLUMN omd_web.action.preview IS
'How it is tried: ROLLBACK: it is performed and undone. PLAN: plan_query says what it would do. '
'NONE: it can''t be tried, since it commits, may run for long or runs SQL of users.';
COMMENT ON COLUMN omd_web.action.plan_query IS
'A query over the row o that says what it would do, or will; NULL: there is none.';
COMMENT ON COLUMN omd_web.action.bulk_routine IS
'The procedure that does it to all that match a filter; NULL: there is none.';
COMMENT ON COLUMN omd_web.action.is_careful IS 'Whoever does it must type the key.';
COMMENT ON COLUMN omd_web.action.runs_user_sql IS
'SQL that users have registered runs in it, with the rights of who calls.';
COMMENT ON COLUMN omd_web.action.needs_reason IS
'Programs call its procedure too, which writes its event only while omd.reason is set.';

-- V064: what a Module does after a failure, and after a look that found nothing. Applied once. Few
-- Modules have a row in the state at a time: those that have failed since their last success, or
-- that were looked at in vain.

-- An upgrade has added the columns before (sql/prepare/module_columns.sql).
DO $do$
BEGIN
    IF NOT EXISTS (
        SELECT FROM pg_attribute AS a
        WHERE a.attrelid = 'omd.module'::regclass AND a.attname = 'backoff'
    ) THEN
        ALTER TABLE omd.module
        ADD COLUMN backoff interval NOT NULL DEFAULT interval '10 seconds',
        ADD COLUMN backoff_limit interval NOT NULL DEFAULT interval '1 hour',
        ADD COLUMN max_failures integer NOT NULL DEFAULT 10,
        ADD CONSTRAINT ck_module_backoff CHECK (
            backoff >= interval '0' AND backoff_limit >= interval '0'
        ),
        ADD CONSTRAINT ck_module_max_failures CHECK (max_failures >= 0);
    END IF;
END
$do$;
COMMENT ON COLUMN omd.module.backoff IS
'How long work waits after the first failure; it doubles with each further one in a row.';
COMMENT ON COLUMN omd.module.backoff_limit IS 'The longest such wait.';
COMMENT ON COLUMN omd.module.max_failures IS
'After so many failures in a row work waits for omd.retry; 0: never.';

CREATE TABLE omd.module_state (
    module_id integer NOT NULL,
    failures bigint NOT NULL,
    looks bigint NOT NULL,
    not_before timestamptz,
    failed_since timestamptz,
    last_problem text,
    last_code text,
    last_module_instance_id bigint,
    looked_datetime timestamptz,
    CONSTRAINT pk_module_state PRIMARY KEY (module_id),
    CONSTRAINT fk_module_state_module FOREIGN KEY (module_id) REFERENCES omd.module (
        module_id
    ) ON DELETE CASCADE,
    CONSTRAINT ck_module_state_counts CHECK (failures >= 0 AND looks >= 0)
) WITH (fillfactor = 50);
COMMENT ON TABLE omd.module_state IS
'Modules that have failed since their last success, or had nothing to do when they were ready. A '
'success removes the row.';
COMMENT ON COLUMN omd.module_state.module_id IS 'The Module.';
COMMENT ON COLUMN omd.module_state.failures IS 'How often it has failed since its last success.';
COMMENT ON COLUMN omd.module_state.looks IS
'How often in a row it was ready and had nothing to do.';
COMMENT ON COLUMN omd.module_state.not_before IS
'Until when its work waits; NULL: it does not wait.';
COMMENT ON COLUMN omd.module_state.failed_since IS
'When the first of these failures was; NULL: none was.';
COMMENT ON COLUMN omd.module_state.last_problem IS
'The last failure in one line, without values of rows.';
COMMENT ON COLUMN omd.module_state.last_code IS
'Its code, such as an SQLSTATE; GIVEN UP: the run was declared dead. NULL: there is none.';
COMMENT ON COLUMN omd.module_state.last_module_instance_id IS
'The last Module Instance that was counted; NULL: it failed before it had one.';
COMMENT ON COLUMN omd.module_state.looked_datetime IS
'The last look that found nothing, while not_before is its pause; NULL otherwise.';

ALTER TABLE omd.module_kind
ADD COLUMN is_batch boolean NOT NULL DEFAULT FALSE;
COMMENT ON COLUMN omd.module_kind.is_batch IS
'A run of such a Module is a run of the Batch of the same code, so its failures count for the '
'Module.';

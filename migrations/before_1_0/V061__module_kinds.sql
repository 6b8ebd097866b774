-- V061: every Module has a kind, which says what a run of it is and who performs it. Applied once.

-- Their parameters or answers change: their files create them again. A call that executes one of
-- them goes on, under another name, until sql/cleanup/drop_retired.sql drops it.
DO $do$
DECLARE
    v_routine text;
BEGIN
    FOREACH v_routine IN ARRAY ARRAY[
        'register_module', 'module_definition', 'batch_members', 'run_module'
    ] LOOP
        IF to_regproc('omd.' || v_routine) IS NOT NULL THEN
            EXECUTE format(
                'COMMENT ON ROUTINE omd.%1$I IS %3$L; ALTER ROUTINE omd.%1$I RENAME TO %2$I',
                v_routine, '_former_' || v_routine, 'Retired.'
            );
        END IF;
    END LOOP;
END
$do$;

CREATE TABLE omd.module_kind (
    module_kind_code text NOT NULL,
    begin_routine text,
    end_routine text,
    keeps_settings boolean NOT NULL DEFAULT FALSE,
    CONSTRAINT pk_module_kind PRIMARY KEY (module_kind_code),
    CONSTRAINT ck_module_kind_routines CHECK ((begin_routine IS NULL) = (end_routine IS NULL))
);
COMMENT ON TABLE omd.module_kind IS
'What one run of a Module can be. A room enters its kinds when it is installed.';
COMMENT ON COLUMN omd.module_kind.module_kind_code IS
'SQL, SPARK, PART (never on its own), or a kind of another room.';
COMMENT ON COLUMN omd.module_kind.begin_routine IS
'A procedure that begins a run and does not commit: (p_module_code text, p_batch_instance_id '
'bigint, p_execution_context jsonb, INOUT p_outcome text, INOUT p_module_instance_id bigint, INOUT '
'p_executable text, INOUT p_detail text). p_outcome: RUN (execute p_executable), NOTHING, BUSY '
'(another works at it), SKIPPED or FAILED (recorded; nothing began). NULL: the database performs '
'no run of this kind.';
COMMENT ON COLUMN omd.module_kind.end_routine IS
'A procedure that is called when such a run has ended, and does not commit: (p_module_instance_id '
'bigint, p_execution_status_code text, INOUT p_is_more boolean). p_is_more: more is left of what '
'was there at the moment that the setting omd.first_begin names.';
COMMENT ON COLUMN omd.module_kind.keeps_settings IS
'What a run executes changes no setting of the session, so nothing has to be set back.';
INSERT INTO omd.module_kind (module_kind_code) VALUES ('SQL'), ('SPARK');

-- An upgrade has added them before (sql/prepare/module_columns.sql).
DO $do$
BEGIN
    IF NOT EXISTS (
        SELECT FROM pg_attribute AS a
        WHERE a.attrelid = 'omd.module'::regclass AND a.attname = 'module_kind_code'
    ) THEN
        ALTER TABLE omd.module
        ADD COLUMN module_kind_code text NOT NULL DEFAULT 'SPARK',
        ADD COLUMN engine_code text DEFAULT 'SPARK',
        ADD COLUMN job text,
        ADD CONSTRAINT ck_module_engine CHECK (engine_code IN ('POSTGRES', 'SPARK')),
        ADD CONSTRAINT ck_module_part CHECK (
            (engine_code IS NULL) = (module_kind_code = 'PART')
        );
    END IF;
END
$do$;
ALTER TABLE omd.module
ADD CONSTRAINT fk_module_kind FOREIGN KEY (module_kind_code)
REFERENCES omd.module_kind (module_kind_code);
COMMENT ON COLUMN omd.module.module_kind_code IS 'What one run of the Module is.';
COMMENT ON COLUMN omd.module.engine_code IS
'Who performs a run: POSTGRES (the database) or SPARK (a worker process); NULL for PART.';
COMMENT ON COLUMN omd.module.job IS
'The function that is a run of a Module of kind SPARK, as module:function; NULL when the code that '
'runs it calls by itself.';

-- OM214 says it now, since a Module without SQL may have a worker that performs it.
DELETE FROM omd.error_catalogue WHERE sqlstate_code = 'OM203';

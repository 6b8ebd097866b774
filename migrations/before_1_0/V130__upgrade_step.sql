-- V130: what an upgrade has done before and after its installation. Applied once.

CREATE TABLE omd.upgrade_step (
    version text NOT NULL,
    step_code text NOT NULL,
    phase text NOT NULL,
    started_at timestamptz NOT NULL,
    ended_at timestamptz,
    rows_done bigint NOT NULL DEFAULT 0,
    last_key text,
    error text,
    CONSTRAINT pk_upgrade_step PRIMARY KEY (step_code),
    CONSTRAINT ck_upgrade_step_phase CHECK (
        phase IN ('expand', 'backfill', 'concurrent', 'install', 'contract')
    )
);
COMMENT ON TABLE omd.upgrade_step IS
'The steps of upgrades that have transactions of their own, and the last installation that was '
'an upgrade. A killed upgrade goes on where it was.';
COMMENT ON COLUMN omd.upgrade_step.version IS 'The version of OMD that began the step.';
COMMENT ON COLUMN omd.upgrade_step.step_code IS 'The name of the migration, or install.';
COMMENT ON COLUMN omd.upgrade_step.phase IS
'expand: it waits a moment only for each lock. backfill: one statement, repeated in transactions '
'of its own. concurrent: one statement outside a transaction. install: routines, views, reference '
'rows and grants in one transaction. contract: it comes after the installation.';
COMMENT ON COLUMN omd.upgrade_step.started_at IS 'When it was begun first.';
COMMENT ON COLUMN omd.upgrade_step.ended_at IS 'When it was done; NULL while it is not.';
COMMENT ON COLUMN omd.upgrade_step.rows_done IS 'How many rows a backfill has filled so far.';
COMMENT ON COLUMN omd.upgrade_step.last_key IS
'The highest key that a backfill has looked at; it goes on after it.';
COMMENT ON COLUMN omd.upgrade_step.error IS
'Why it has not ended: its error, or the processes for which it waits.';

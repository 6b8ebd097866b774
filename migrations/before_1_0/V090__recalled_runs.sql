-- V090: process control: a Module whose runs must come again says so in its own row, which the end
-- of a run reads anyway; and what a recalled run waits for. Applied once.

-- An upgrade has added the column before (sql/prepare/module_columns.sql).
DO $do$
BEGIN
    IF NOT EXISTS (
        SELECT FROM pg_attribute AS a
        WHERE a.attrelid = 'omd.module'::regclass AND a.attname = 'awaits_return'
    ) THEN
        ALTER TABLE omd.module ADD COLUMN awaits_return boolean NOT NULL DEFAULT FALSE;
    END IF;
END
$do$;
COMMENT ON COLUMN omd.module.awaits_return IS
'TRUE: a recall took runs of it back that must come again, so the next run that succeeds ends the '
'open entries of omd.module_return.';

ALTER TABLE omd.module_return
ADD COLUMN upstream integer[] NOT NULL DEFAULT '{}',
ADD COLUMN noted_datetime timestamptz NOT NULL DEFAULT clock_timestamp();
COMMENT ON COLUMN omd.module_return.upstream IS
'The Modules whose runs went in the same recall and which these runs had read, directly or not: '
'the entry is due when they have come again.';
COMMENT ON COLUMN omd.module_return.noted_datetime IS 'When the entry was made.';

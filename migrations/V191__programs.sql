-- phase: expand
-- V191: a Module without SQL is a program, of the kind JOB: a worker begins it where it has a job,
-- somebody outside where it has none, and then it has no engine. Applied once.

ALTER TABLE omd.module DROP CONSTRAINT ck_module_part;
ALTER TABLE omd.module ADD CONSTRAINT ck_module_kind_engine CHECK (
    CASE module_kind_code
        WHEN 'PART' THEN engine_code IS NULL
        WHEN 'JOB' THEN (engine_code IS NULL) = (job IS NULL)
        ELSE engine_code IS NOT NULL
    END
) NOT VALID;
ALTER TABLE omd.module ALTER COLUMN module_kind_code SET DEFAULT 'JOB';
ALTER TABLE omd.module ALTER COLUMN engine_code DROP DEFAULT;

COMMENT ON COLUMN omd.module.engine_code IS
'Who performs a run: POSTGRES (the database) or SPARK (a worker process); NULL for PART, and for a '
'JOB that a program outside begins.';
COMMENT ON COLUMN omd.module.job IS
'The function that is a run of a Module of kind JOB, as module:function; NULL when a program '
'outside begins it.';
COMMENT ON COLUMN omd.module_kind.module_kind_code IS
'SQL, JOB (a program), PART (never on its own), or a kind of another room.';
COMMENT ON TABLE omd.module_return IS
'Runs and deliveries that a recall took back and that must come again from outside: deliveries, '
'and runs of kind SQL and JOB. An entry is open until ended_datetime.';

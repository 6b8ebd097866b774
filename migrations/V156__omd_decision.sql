-- The tables of omd_decision in 1.0, with which a new database begins. tools/baseline.py has
-- written them from the catalogue that the migrations of before_1_0 lead to. Applied once.

CREATE SCHEMA omd_decision;
COMMENT ON SCHEMA omd_decision IS
'Decision: which records form one execution of a rule, and what it says.';

CREATE TYPE omd_decision.link_record AS (
    wave text,
    wave_key text,
    sort_key text,
    key jsonb,
    arrival bigint,
    record jsonb
);
COMMENT ON TYPE omd_decision.link_record IS
'A record of a link: its wave as text and as what waves are ordered by, its sort key, key and '
'arrival, and all of it. Behind the last record of a link all of this is NULL; only there the '
'sort key of the wave is.';

CREATE TABLE omd_decision.ruleset (
    ruleset_id integer NOT NULL GENERATED ALWAYS AS IDENTITY,
    ruleset_code text NOT NULL,
    kind text NOT NULL,
    CONSTRAINT ck_ruleset_kind CHECK (kind IN ('FUNCTION', 'JDM', 'PYTHON')),
    CONSTRAINT pk_ruleset PRIMARY KEY (ruleset_id),
    CONSTRAINT uq_ruleset_code UNIQUE (ruleset_code)
);
COMMENT ON TABLE omd_decision.ruleset IS 'The rulesets.';
COMMENT ON COLUMN omd_decision.ruleset.ruleset_id IS 'Surrogate key.';
COMMENT ON COLUMN omd_decision.ruleset.ruleset_code IS 'The ruleset.';
COMMENT ON COLUMN omd_decision.ruleset.kind IS
'FUNCTION: a function of the database. JDM: a JSON decision model. PYTHON: module:function.';

CREATE TABLE omd_decision.ruleset_version (
    ruleset_id integer NOT NULL,
    version integer NOT NULL,
    content jsonb NOT NULL,
    content_hash text NOT NULL,
    state text NOT NULL,
    effective_from timestamptz,
    effective_to timestamptz,
    defined_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    defined_by text NOT NULL,
    CONSTRAINT ck_ruleset_version_state CHECK (state IN ('DRAFT', 'ACTIVE', 'INACTIVE')),
    CONSTRAINT ck_ruleset_version_effective CHECK (
        effective_from < effective_to OR effective_to IS NULL
    ),
    CONSTRAINT ck_ruleset_version_active CHECK (
        state = 'DRAFT'::text OR effective_from IS NOT NULL
    ),
    CONSTRAINT pk_ruleset_version PRIMARY KEY (ruleset_id, version),
    CONSTRAINT fk_ruleset_version_ruleset FOREIGN KEY (
        ruleset_id
    ) REFERENCES omd_decision.ruleset (ruleset_id)
);
COMMENT ON TABLE omd_decision.ruleset_version IS 'The contents that rulesets have had.';
COMMENT ON COLUMN omd_decision.ruleset_version.ruleset_id IS 'The ruleset.';
COMMENT ON COLUMN omd_decision.ruleset_version.version IS 'Its version, from 1.';
COMMENT ON COLUMN omd_decision.ruleset_version.content IS
'FUNCTION and PYTHON: the name of the function, as a JSON text. JDM: the model.';
COMMENT ON COLUMN omd_decision.ruleset_version.content_hash IS
'SHA-256 of the content in hex; of a FUNCTION that of its definition.';
COMMENT ON COLUMN omd_decision.ruleset_version.state IS 'DRAFT, ACTIVE or INACTIVE.';
COMMENT ON COLUMN omd_decision.ruleset_version.effective_from IS
'From when on runs may take it; NULL: it has never been active.';
COMMENT ON COLUMN omd_decision.ruleset_version.effective_to IS
'Until when (exclusive); NULL: for ever.';
COMMENT ON COLUMN omd_decision.ruleset_version.defined_at IS 'When it was defined.';
COMMENT ON COLUMN omd_decision.ruleset_version.defined_by IS 'By whom.';

CREATE TABLE omd_decision.ruleset_test (
    ruleset_id integer NOT NULL,
    test_name text NOT NULL,
    input jsonb NOT NULL,
    expected jsonb NOT NULL,
    CONSTRAINT pk_ruleset_test PRIMARY KEY (ruleset_id, test_name),
    CONSTRAINT fk_ruleset_test_ruleset FOREIGN KEY (ruleset_id) REFERENCES omd_decision.ruleset (
        ruleset_id
    )
);
COMMENT ON TABLE omd_decision.ruleset_test IS
'The test cases of rulesets. A version is activated when it has passed every one.';
COMMENT ON COLUMN omd_decision.ruleset_test.ruleset_id IS 'The ruleset.';
COMMENT ON COLUMN omd_decision.ruleset_test.test_name IS 'The test case.';
COMMENT ON COLUMN omd_decision.ruleset_test.input IS 'What the ruleset is called with.';
COMMENT ON COLUMN omd_decision.ruleset_test.expected IS 'What it has to answer.';

CREATE TABLE omd_decision.ruleset_test_result (
    ruleset_id integer NOT NULL,
    version integer NOT NULL,
    test_name text NOT NULL,
    passed boolean NOT NULL,
    actual jsonb,
    error text,
    tested_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    CONSTRAINT pk_ruleset_test_result PRIMARY KEY (ruleset_id, version, test_name),
    CONSTRAINT fk_ruleset_test_result_version FOREIGN KEY (
        ruleset_id, version
    ) REFERENCES omd_decision.ruleset_version (ruleset_id, version),
    CONSTRAINT fk_ruleset_test_result_test FOREIGN KEY (
        ruleset_id, test_name
    ) REFERENCES omd_decision.ruleset_test (ruleset_id, test_name) ON DELETE CASCADE
);
COMMENT ON TABLE omd_decision.ruleset_test_result IS
'The newest result of each present test case and version.';
COMMENT ON COLUMN omd_decision.ruleset_test_result.ruleset_id IS 'The ruleset.';
COMMENT ON COLUMN omd_decision.ruleset_test_result.version IS 'The version.';
COMMENT ON COLUMN omd_decision.ruleset_test_result.test_name IS 'The test case.';
COMMENT ON COLUMN omd_decision.ruleset_test_result.passed IS
'Whether the answer was the expected one.';
COMMENT ON COLUMN omd_decision.ruleset_test_result.actual IS 'The answer; NULL after an error.';
COMMENT ON COLUMN omd_decision.ruleset_test_result.error IS 'The error; NULL when there was none.';
COMMENT ON COLUMN omd_decision.ruleset_test_result.tested_at IS 'When.';

CREATE TABLE omd_decision.stage (
    stage_id integer NOT NULL GENERATED ALWAYS AS IDENTITY,
    stage_code text NOT NULL,
    module_id integer,
    version integer NOT NULL,
    start_code text,
    start_every interval,
    window_code text,
    window_delay interval,
    CONSTRAINT pk_stage PRIMARY KEY (stage_id),
    CONSTRAINT uq_stage_code UNIQUE (stage_code),
    CONSTRAINT uq_stage_module UNIQUE (module_id)
);
COMMENT ON TABLE omd_decision.stage IS 'The stages.';
COMMENT ON COLUMN omd_decision.stage.stage_id IS 'Surrogate key.';
COMMENT ON COLUMN omd_decision.stage.stage_code IS 'The stage.';
COMMENT ON COLUMN omd_decision.stage.module_id IS
'The Module whose instances are the runs of the stage.';
COMMENT ON COLUMN omd_decision.stage.version IS 'Its present version.';
COMMENT ON COLUMN omd_decision.stage.start_code IS
'When it starts by itself: NEWS or EVERY; NULL: a person, a Batch or a schedule starts it.';
COMMENT ON COLUMN omd_decision.stage.start_every IS
'The time between two starts; NULL: it starts otherwise.';
COMMENT ON COLUMN omd_decision.stage.window_code IS
'What its window is made of: CHANGES or COLUMN; NULL: it has none.';
COMMENT ON COLUMN omd_decision.stage.window_delay IS
'How far the window stays behind the clock; NULL: it has none, or goes by changes.';

CREATE TABLE omd_decision.stage_version (
    stage_id integer NOT NULL,
    version integer NOT NULL,
    definition jsonb NOT NULL,
    defined_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    defined_by text NOT NULL,
    CONSTRAINT pk_stage_version PRIMARY KEY (stage_id, version),
    CONSTRAINT fk_stage_version_stage FOREIGN KEY (stage_id) REFERENCES omd_decision.stage (
        stage_id
    )
);
COMMENT ON TABLE omd_decision.stage_version IS 'The documents that stages have had.';
COMMENT ON COLUMN omd_decision.stage_version.stage_id IS 'The stage.';
COMMENT ON COLUMN omd_decision.stage_version.version IS 'Its version, from 1.';
COMMENT ON COLUMN omd_decision.stage_version.definition IS
'The document, with the defaults filled in.';
COMMENT ON COLUMN omd_decision.stage_version.defined_at IS 'When it was defined.';
COMMENT ON COLUMN omd_decision.stage_version.defined_by IS 'By whom.';

CREATE TABLE omd_decision.run (
    module_instance_id bigint NOT NULL,
    stage_id integer NOT NULL,
    stage_version integer NOT NULL,
    ruleset_id integer NOT NULL,
    ruleset_version integer NOT NULL,
    content_hash text NOT NULL,
    engine text NOT NULL,
    batch_size bigint NOT NULL,
    effective_at timestamptz NOT NULL,
    begun_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    waves bigint,
    attempts bigint,
    cycles bigint,
    invocations bigint,
    supersedes bigint[],
    recall_id bigint,
    CONSTRAINT ck_run_engine CHECK (engine IN ('POSTGRES', 'SPARK')),
    CONSTRAINT pk_run PRIMARY KEY (module_instance_id),
    CONSTRAINT fk_run_stage FOREIGN KEY (
        stage_id, stage_version
    ) REFERENCES omd_decision.stage_version (stage_id, version),
    CONSTRAINT fk_run_ruleset FOREIGN KEY (
        ruleset_id, ruleset_version
    ) REFERENCES omd_decision.ruleset_version (ruleset_id, version)
);
CREATE INDEX ix_run_stage ON omd_decision.run (stage_id, module_instance_id);
CREATE INDEX ix_run_begun_at ON omd_decision.run (begun_at);
CREATE INDEX ix_run_recalled ON omd_decision.run (recall_id, stage_id) WHERE (
    recall_id IS NOT NULL
);
CREATE INDEX ix_run_supersedes ON omd_decision.run (stage_id) WHERE (supersedes IS NOT NULL);
COMMENT ON TABLE omd_decision.run IS 'The runs of stages: what each has pinned, and its counts.';
COMMENT ON COLUMN omd_decision.run.module_instance_id IS 'The Module Instance.';
COMMENT ON COLUMN omd_decision.run.stage_id IS 'The stage.';
COMMENT ON COLUMN omd_decision.run.stage_version IS 'The version of the stage that it runs.';
COMMENT ON COLUMN omd_decision.run.ruleset_id IS 'The ruleset.';
COMMENT ON COLUMN omd_decision.run.ruleset_version IS 'The version of the ruleset that it calls.';
COMMENT ON COLUMN omd_decision.run.content_hash IS 'The hash of that version.';
COMMENT ON COLUMN omd_decision.run.engine IS 'POSTGRES or SPARK.';
COMMENT ON COLUMN omd_decision.run.batch_size IS 'The batch size that is used; 0: unlimited.';
COMMENT ON COLUMN omd_decision.run.effective_at IS
'The moment for which the version of the ruleset was chosen.';
COMMENT ON COLUMN omd_decision.run.begun_at IS 'When it began.';
COMMENT ON COLUMN omd_decision.run.waves IS 'How many waves it had; NULL: it has not succeeded.';
COMMENT ON COLUMN omd_decision.run.attempts IS
'How many attempts, rejected ones too; NULL: it has not succeeded.';
COMMENT ON COLUMN omd_decision.run.cycles IS
'How many attempts succeeded; NULL: it has not succeeded.';
COMMENT ON COLUMN omd_decision.run.invocations IS
'How often the ruleset was called; NULL: it has not succeeded.';
COMMENT ON COLUMN omd_decision.run.supersedes IS
'The runs whose windows it took again after a recall; NULL: it took a new one.';
COMMENT ON COLUMN omd_decision.run.recall_id IS
'The recall that took it back, so it does not count; NULL: none did.';

CREATE TABLE omd_decision.cycle (
    module_instance_id bigint NOT NULL,
    wave text,
    key jsonb,
    cycle_no bigint NOT NULL,
    invocation_no bigint NOT NULL,
    inputs jsonb NOT NULL,
    outputs jsonb NOT NULL,
    params jsonb,
    result jsonb,
    trace jsonb
);
CREATE INDEX ix_cycle_instance ON omd_decision.cycle (module_instance_id, jsonb_hash(key));
COMMENT ON TABLE omd_decision.cycle IS
'The calls of rulesets that runs have kept: one row per invocation.';
COMMENT ON COLUMN omd_decision.cycle.module_instance_id IS 'The run.';
COMMENT ON COLUMN omd_decision.cycle.wave IS 'The wave; NULL: the stage has none, or it is NULL.';
COMMENT ON COLUMN omd_decision.cycle.key IS
'The key columns of the first primary record; NULL in BATCH.';
COMMENT ON COLUMN omd_decision.cycle.cycle_no IS
'The number of the attempt: within wave and key in KEY with batch size 0 or 1, else within the '
'wave.';
COMMENT ON COLUMN omd_decision.cycle.invocation_no IS 'The number of the call within the cycle.';
COMMENT ON COLUMN omd_decision.cycle.inputs IS
'By parameter, the arrival numbers of the records: a number, or a list of an array.';
COMMENT ON COLUMN omd_decision.cycle.outputs IS 'By output, the number of its records.';
COMMENT ON COLUMN omd_decision.cycle.params IS
'What the ruleset was called with; NULL: the stage does not keep TRACE.';
COMMENT ON COLUMN omd_decision.cycle.result IS
'What it answered; NULL: the stage does not keep TRACE.';
COMMENT ON COLUMN omd_decision.cycle.trace IS
'Which rules were hit; NULL: the ruleset tells none, or the stage does not keep TRACE.';

CREATE TABLE omd_decision.reject (
    module_instance_id bigint NOT NULL,
    wave text,
    link text NOT NULL,
    arrival bigint NOT NULL,
    code text NOT NULL,
    text text NOT NULL,
    key jsonb,
    cycle_no bigint,
    cause_link text,
    record jsonb NOT NULL,
    CONSTRAINT ck_reject_code CHECK (code IN ('LEFTOVER', 'KEY_MISMATCH'))
);
CREATE INDEX ix_reject_instance ON omd_decision.reject (module_instance_id, jsonb_hash(key));
COMMENT ON TABLE omd_decision.reject IS 'The records that runs have rejected.';
COMMENT ON COLUMN omd_decision.reject.module_instance_id IS 'The run.';
COMMENT ON COLUMN omd_decision.reject.wave IS 'The wave; NULL: the stage has none, or it is NULL.';
COMMENT ON COLUMN omd_decision.reject.link IS 'The link that the record came from.';
COMMENT ON COLUMN omd_decision.reject.arrival IS 'Its arrival number.';
COMMENT ON COLUMN omd_decision.reject.code IS 'ERRORCODE: LEFTOVER or KEY_MISMATCH.';
COMMENT ON COLUMN omd_decision.reject.text IS 'ERRORTEXT: why, in words.';
COMMENT ON COLUMN omd_decision.reject.key IS
'The key columns of the record; NULL in BATCH and on a buffer link.';
COMMENT ON COLUMN omd_decision.reject.cycle_no IS
'The attempt that failed; NULL: the record was in none.';
COMMENT ON COLUMN omd_decision.reject.cause_link IS
'The first link that had no record for that attempt; NULL: the record was in none.';
COMMENT ON COLUMN omd_decision.reject.record IS 'The record.';

CREATE TABLE omd_decision.stage_source (
    stage_id integer NOT NULL,
    table_code text NOT NULL,
    CONSTRAINT pk_stage_source PRIMARY KEY (stage_id, table_code),
    CONSTRAINT fk_stage_source_stage FOREIGN KEY (stage_id) REFERENCES omd_decision.stage (
        stage_id
    ) ON DELETE CASCADE
);
COMMENT ON TABLE omd_decision.stage_source IS
'The tables and views that the window of a stage cuts: the sources of its links that are no '
'buffer links. A stage without a window has none.';
COMMENT ON COLUMN omd_decision.stage_source.stage_id IS 'The stage.';
COMMENT ON COLUMN omd_decision.stage_source.table_code IS 'The table or view, schema.name.';

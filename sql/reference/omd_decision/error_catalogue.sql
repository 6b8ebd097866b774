-- The errors of decision. omd.error_catalogue says how the templates are filled.

INSERT INTO omd.error_catalogue (sqlstate_code, error_name, message_template, hint_template)
VALUES
(
    -- No stage has this code. For example: a run names a stage that was defined in another database
    -- only.
    'OM080', 'UnknownStage', 'stage "{stage_code}" is not defined',
    'SELECT * FROM omd_report.decision_stage_list; or CALL omd_decision.define_stage(…);'
),
(
    -- No ruleset has this code, or it has no such version. For example: version 3 of a ruleset is
    -- activated, and the newest is 2.
    'OM081', 'UnknownRuleset', 'there is no {version_of}ruleset "{ruleset_code}"',
    'SELECT * FROM omd_report.decision_ruleset_list; or CALL omd_decision.define_ruleset(…);'
),
(
    -- The document of a stage or a ruleset is wrong; its DETAIL lists all problems. For example: a
    -- link of a stage names a source that there is not.
    'OM082', 'InvalidDefinition',
    'the {document} "{code}" has {problem_count} problem(s); {path}: {problem}',
    'The DETAIL lists all problems. {way_out}'
),
(
    -- The version has not passed every test case. For example: a version is activated before its
    -- test cases are run.
    'OM180', 'RulesetUntested',
    'version {version} of ruleset "{ruleset_code}" has not passed: {tests}',
    'SELECT * FROM omd_decision.test_ruleset({ruleset_code_literal}, {version}); or omd test.'
),
(
    -- The Module Instance is no executing run of a stage. For example: rows are written to a stage
    -- after its run has ended.
    'OM181', 'NotAStageRun', 'Module Instance {module_instance_id} is no executing run of a stage',
    'CALL omd_decision.run_stage(…); or begin_stage; the rows of a run are written while it '
    'executes.'
),
(
    -- A link rejects records with LEFTOVER, and its reject link does not list it. For example:
    -- bookings are left behind the last flight.
    'OM280', 'LeftoverNotAllowed',
    'link "{link}" has records without a match (LEFTOVER), and no reject link for them; the first '
    'has the arrival {arrival}',
    'SELECT * FROM omd_decision.cycles({stage_code_literal}) WHERE code IS NOT NULL; or give the '
    'link "reject": {"on": ["LEFTOVER"]}.'
),
(
    -- A link rejects records with KEY_MISMATCH, and its reject link does not list it. For example:
    -- a booking comes without its flight.
    'OM281', 'KeyMismatchNotAllowed',
    'link "{link}" has records without a match (KEY_MISMATCH), and no reject link for them; the '
    'first has the arrival {arrival}',
    'SELECT * FROM omd_decision.cycles({stage_code_literal}) WHERE code IS NOT NULL; or give the '
    'link "reject": {"on": ["KEY_MISMATCH"]}.'
),
(
    -- A link rejects more records than its abort_after. For example: a supplier has delivered the
    -- keys of another system.
    'OM282', 'RejectLimitExceeded',
    '{rejected} records of link "{link}" are rejected, more than {abort_after}',
    'SELECT * FROM omd_decision.cycles({stage_code_literal}) WHERE code IS NOT NULL;'
),
(
    -- A call of the ruleset failed. For example: a function divides by zero.
    'OM283', 'RulesetFailed',
    'ruleset "{ruleset_code}" failed in cycle {cycle_no}, invocation {invocation_no}, of wave '
    '{wave} and key {key}: {error}',
    'SELECT params FROM omd_decision.cycles({stage_code_literal}, {wave_literal}) WHERE cycle_no = '
    '{cycle_no} AND invocation_no = {invocation_no};'
),
(
    -- What the ruleset answered does not fit an output. For example: a ruleset answers a text for a
    -- column that is a number.
    'OM284', 'OutputUnfit',
    'what ruleset "{ruleset_code}" answered in cycle {cycle_no}, invocation {invocation_no}, of '
    'wave {wave} and key {key} does not fit: {problem}',
    'It answers an object; under the parameter of an output null, an object, or a list of objects '
    'whose fields fit the columns.'
),
(
    -- A buffer link that is no array has no record for a wave. For example: a wave has bookings,
    -- and the prices are empty.
    'OM285', 'EmptyBufferLink', 'the buffer link "{link}" is no array, and has no record for wave '
    '{wave}',
    'Fill its source, or make it an array.'
),
(
    -- No version of the ruleset is active and effective. For example: the newest version becomes
    -- effective tomorrow.
    'OM286', 'NoRulesetVersion',
    'no version of ruleset "{ruleset_code}" is active and effective at {effective_at}',
    'SELECT * FROM omd_report.decision_ruleset_list; CALL omd_decision.activate_ruleset('
    '{ruleset_code_literal}, …);'
),
(
    -- The function of the ruleset is not as it was when it was defined. For example: somebody has
    -- replaced the function without defining the ruleset again.
    'OM287', 'RulesetChanged',
    'function {content} is not as it was when version {version} of ruleset "{ruleset_code}" was '
    'defined',
    'Define the ruleset again: the function as it is now becomes a new version.'
),
(
    -- The ruleset does not run in this engine. For example: a ruleset of kind PYTHON is run with
    -- the engine POSTGRES.
    'OM288', 'WrongEngine', 'ruleset "{ruleset_code}" of kind {kind} does not run in {engine}',
    'Only a FUNCTION runs in the database; omd run and omd test evaluate each kind.'
),
(
    -- A source or DataFrame lacks something, or a record has no arrival. For example: a DataFrame
    -- lacks the column that the link is keyed by.
    'OM289', 'LinkUnfit', 'link "{link}" can''t be read: {problem}',
    'Mend its source, or define the stage again.'
),
(
    -- Two records of a link have the same arrival. For example: a source has the same row twice.
    'OM290', 'DuplicateArrival',
    'two records of link "{link}" have the arrival {arrival}, in wave {wave} and key {key}',
    'The arrival tells the records of one wave (in KEY: of one wave and key) apart.'
),
(
    -- An array has more records than max_array_rows. For example: a customer has 100,000 bookings
    -- in one wave.
    'OM291', 'ArrayTooLarge',
    'an array of {rows} records in wave {wave} and key {key} is longer than {max_array_rows}',
    'Raise max_array_rows of the stage, or make the link one that is no array.'
)
ON CONFLICT (sqlstate_code) DO UPDATE SET
    error_name = excluded.error_name,
    message_template = excluded.message_template,
    hint_template = excluded.hint_template;

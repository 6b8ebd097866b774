-- The error catalogue. {key} stands for a value of the DETAIL, {key_literal} for the same value as
-- an SQL literal.

INSERT INTO omd.error_catalogue (sqlstate_code, error_name, message_template, hint_template)
VALUES
(
    -- No Batch has this code. For example: a program begins b_fligths, and the Batch is b_flights.
    'OM001', 'UnknownBatch', 'Batch "{batch_code}" is not registered',
    'SELECT batch_code FROM omd_report.batch_list; or CALL '
    'omd.register_batch({batch_code_literal});'
),
(
    -- No Module has this code. For example: the program was deployed before the script that
    -- registers its Module.
    'OM002', 'UnknownModule', 'Module "{module_code}" is not registered',
    'SELECT module_code FROM omd_report.module_list; or CALL '
    'omd.register_module({module_code_literal}, ''STG'', ''schema.table'');'
),
(
    -- No Batch Instance has this id. For example: the id is one of another database, or the history
    -- was purged.
    'OM003', 'UnknownBatchInstance', 'Batch Instance {batch_instance_id} does not exist',
    'SELECT * FROM omd_report.batch_execution_log ORDER BY batch_instance_id DESC LIMIT 20;'
),
(
    -- No Module Instance has this id. For example: the id is one of another database, or the
    -- history was purged.
    'OM004', 'UnknownModuleInstance', 'Module Instance {module_instance_id} does not exist',
    'SELECT * FROM omd_report.module_execution_log ORDER BY module_instance_id DESC LIMIT 20;'
),
(
    -- A value that the call can't do without is NULL. For example: a variable of the calling
    -- program was never set.
    'OM005', 'MissingArgument', '{argument} must be given',
    'Call again with {argument}; \df+ in psql shows what each parameter takes.'
),
(
    -- The reference table does not have this code. For example: a frequency is given as Sometimes.
    'OM006', 'InvalidCode', '"{code}" is not a known {kind}',
    'Known codes: {codes}.'
),
(
    -- A row count is below zero. For example: a job subtracts what it has rejected from what it has
    -- read, and counts both wrongly.
    'OM007', 'NegativeRowCount', 'a row count of Module Instance {module_instance_id} is negative',
    'CALL omd.module_success({module_instance_id}, …); with counts of 0 or more.'
),
(
    -- A Batch would contain itself. For example: b_night is placed under b_day, and b_day is in
    -- b_night already.
    'OM008',
    'CyclicHierarchy',
    'Batch "{batch_code}" can''t be placed under "{parent_batch_code}", which it contains',
    'SELECT * FROM omd_report.batch_module_list WHERE child_batch_code IS NOT NULL;'
),
(
    -- A table code is not of the form ``schema.table``. For example: a table is given as
    -- dwh..flight, or without its schema.
    'OM009',
    'InvalidTableCode',
    '"{table_code}" is not a table name that the platform {platform_code} takes',
    'Give schema.table, with double quotes where a name needs them: "My schema"."My table".'
),
(
    -- A load window has no end, ends before it starts, or ends beyond all dates. For example: the
    -- clock of the source is behind, so that its newest time is before the end of the last window.
    'OM010', 'InvalidLoadWindow',
    'Module Instance {module_instance_id} asked for a load window that {problem}',
    'The window starts at {start}; give an end that is not before it.'
),
(
    -- A lease is not longer than zero, or is longer than 100 years. For example: a lease of 0
    -- seconds is computed from an empty setting.
    'OM011', 'InvalidLease', 'a lease of {lease} is not longer than zero and at most 100 years',
    'Give an interval, such as interval ''5 minutes'', or NULL for no lease.'
),
(
    -- No parameter has this code. For example: a job asks for a parameter that was set in another
    -- database only.
    'OM012', 'UnknownParameter', 'parameter "{parameter_code}" is not registered',
    'CALL omd.set_parameter({parameter_code_literal}, ''value'', p_batch_code => ''…'');'
),
(
    -- The argument does not allow this value. For example: a Next Run Indicator is given as X.
    'OM013', 'InvalidArgument', '{argument} is "{value}", but must be {expected}',
    'Call again; \df+ in psql shows what each parameter takes.'
),
(
    -- A decision was requested in a transaction that is not READ COMMITTED. For example: a tool
    -- begins its transactions with REPEATABLE READ, and calls begin_module in one.
    'OM014', 'WrongIsolationLevel',
    'process control can''t decide in a transaction with isolation level {isolation_level}',
    'SET default_transaction_isolation = ''read committed''; or BEGIN ISOLATION LEVEL READ '
    'COMMITTED;'
),
(
    -- A procedure that commits was called in a transaction block or from a function. For example: a
    -- tool switches autocommit off, so its first statement has opened a transaction.
    'OM018', 'TransactionBlock',
    '{routine} commits while it runs, so it can''t be called in a transaction block or from a '
    'function',
    'End the transaction first, or switch autocommit on; then CALL it on its own.'
),
(
    -- A load window has another kind of position than the earlier windows of the Module. For
    -- example: a job has read by times so far, and now asks for a window that ends by an id.
    'OM019', 'LoadWindowKind',
    'Module Instance {module_instance_id} asked for a load window that ends by {kind}, but the '
    'windows of Module "{module_code}" go by {expected}',
    'Give the end by {expected}. To read the source in another way, register a Module with a code '
    'of its own.'
),
(
    -- The page knows no such action, kind of object, or object. For example: a link to the page is
    -- older than the action that it names.
    'OM098', 'UnknownAction', 'there is no {what}',
    'SELECT object_kind, action_code FROM omd_web.action ORDER BY 1, 2; lists them.'
),
(
    -- A filter of a bulk action names what it may not, or leaves out what is required. For example:
    -- tasks are to be cancelled by an empty filter.
    'OM099', 'FilterNotAllowed', 'the filter {problem}',
    'Name only these, and those that are required: {allowed}.'
),
(
    -- A rollback waits for a lock of a session of the run that it undoes, and may not end it. For
    -- example: a session of a dead run still holds its lock, and it is that of another role.
    'OM100', 'RollbackBlocked',
    'the rollback by Module Instance {module_instance_id} waits for a lock of a session of the '
    'run that it undoes, which the caller may not end: {pids}',
    'Let a member of its role or of pg_signal_backend end it: SELECT pg_terminate_backend({pid}); '
    'then start the Module again.'
),
(
    -- The instance has ended already, or was declared dead. For example: a job ended after its
    -- lease, and a later begin had declared it dead.
    'OM101', 'InstanceNotExecuting',
    '{instance_type} {instance_id} of "{code}" can''t {action}: it has ended with status '
    '{outcome}',
    'Start a new run: {next_command}'
),
(
    -- Rows of the block that a run was to read are taken back: it ends with A. For example: a
    -- recall takes a delivery back while a stage reads its rows.
    'OM114', 'BlockUndone',
    'the block of {source_code} can''t be read: {problem}',
    'Nothing of this run is committed. The next run plans its block anew.'
),
(
    -- The instance may not proceed. For example: a program goes on although its begin has answered
    -- A or C.
    'OM102', 'NotProceeding',
    '{instance_type} {instance_id} of "{code}" can''t {action}: its Processing Indicator is '
    '{processing_indicator}, not P',
    'Run first: {next_command}'
),
(
    -- There is no rollback to do or to confirm. For example: a program confirms a rollback that
    -- another one has confirmed already.
    'OM103', 'NoRollbackPending',
    'Module Instance {module_instance_id} of "{module_code}" has no rollback to do: its '
    'Processing Indicator is {processing_indicator}, not R',
    'SELECT * FROM omd.previous_module_instance({module_code_literal});'
),
(
    -- A Batch can't succeed while one of its Modules failed or still runs. For example: a Batch is
    -- ended with success while one of its Modules still runs.
    'OM104', 'BatchNotComplete',
    'Batch Instance {batch_instance_id} can''t succeed: instances in it execute or have failed: '
    '{members}',
    'End those that execute and repeat those that failed, or CALL '
    'omd.batch_failure({batch_instance_id});'
),
(
    -- The instance has its load window already. For example: a job asks for its window once more,
    -- with another end.
    'OM105',
    'LoadWindowExists',
    'Module Instance {module_instance_id} has a load window with another end',
    'SELECT * FROM omd.source_control WHERE module_instance_id = {module_instance_id};'
),
(
    -- A direct UPDATE wanted to change a column that only OMD writes. For example: somebody sets
    -- execution_status_code by an UPDATE.
    'OM106', 'DirectEditRefused',
    '{instance_type} {instance_id} can''t be edited like this: {problem}',
    'An administrator may set next_run_indicator and nothing else: R only where something ran, P '
    'only where no rollback is pending.'
),
(
    -- The lease has expired; the instance will be declared dead. For example: a machine was asleep
    -- for longer than the lease.
    'OM107', 'LeaseExpired', 'the lease of {instance_type} {instance_id} has expired',
    'Stop the work of this run: the next begin declares it dead and rolls it back.'
),
(
    -- The database stands on another server, or under another OID, than it is known on. For
    -- example: the disk was copied to a new machine, or a backup was restored there.
    'OM109', 'ServerNotConfirmed', 'nobody has confirmed the server of this installation',
    'omd call confirm_server --as MOVED --reason ''why''; or, if the other one goes on, COPY; in '
    'SQL: CALL omd.confirm_server(''MOVED'', ''why'')'
),
(
    -- After the database was confirmed as a copy, its lake is still that of the original. For
    -- example: a copy of the database is used for tests, and would write into the files of
    -- production.
    'OM110', 'NamespaceClosed',
    'the files of {table_code} belong to the installation that this one is a copy of',
    'Give the namespace another location: CALL omd_lake.register_namespace({namespace_literal}, '
    '''…''); a table that it had goes on in a copy of its files: omd_lake.register_table.'
),
(
    -- A Module was to get another target or way of undoing while a run waits for its rollback. For
    -- example: a Module gets another table while the rows of its failed run are in the former one.
    'OM111', 'TargetInUse',
    'Module "{module_code}" can''t be given another {what}: rows of its Module Instances '
    '{module_instance_ids} may be in {table_code}, and a rollback would {because}',
    'End the runs that execute and let a begin roll back first: CALL omd.begin_module('
    '{module_code_literal}); then register the Module again.'
),
(
    -- Rows of the runs to undo are still there, or rows of other runs refer to them. For example: a
    -- rule or trigger keeps rows from being deleted, or a foreign key refers to them.
    'OM112', 'RollbackIncomplete',
    'the rollback of Module "{module_code}" does not undo Module Instances {module_instance_ids} '
    'in {table_code}: {problem}',
    '{way_out}'
),
(
    -- A Batch or Module was to retire while it executes or waits for a rollback. For example: a
    -- Module is retired while it runs.
    'OM113', 'NotAtRest', '{object_type} "{code}" can''t be retired: {because}',
    'Do this first: {next_command}'
),
(
    -- A text has ended a transaction of `run.connect()` by itself, so that no fence went with it.
    -- For example: a driver sends COMMIT as a text, over a connection of run.connect().
    'OM140', 'UnfencedCommit',
    'a text has ended a transaction of {subject} without the fence',
    'Call commit(), or use transaction(); the next begin rolls back what was written.'
),
(
    -- A block would succeed while a connection of `run.connect()` has written and not committed.
    -- For example: a job leaves its block without a commit.
    'OM141', 'UncommittedWork',
    '{subject} leaves a transaction open {problem}',
    'Call commit() or rollback() before the end of the block.'
),
(
    -- Members of a Batch failed, and the Batch with them; each is a line of the message. For
    -- example: a Module of the Batch fails, and others go on.
    'OM142', 'MembersFailed', '{failed}',
    'SELECT * FROM omd_report.problems; then run the Batch again: what has succeeded is skipped.'
),
(
    -- The snapshot from which a DataFrame is to be read is not held any more. For example: a
    -- DataFrame of one run is written in the next one.
    'OM143', 'SnapshotGone',
    'the snapshot of this DataFrame is not held any more: the run that read it has ended, or the '
    'connection that held it was lost',
    'Read again inside a run, and write there what must outlive it.'
),
(
    -- The rows of a partition ended early, so that nothing of it is committed. For example: Spark
    -- ends a task while it sends its rows.
    'OM144', 'InputIncomplete', '{table_code}: {problem}',
    'The next begin rolls the run back; run it again.'
),
(
    -- A table was rewritten after a snapshot, and its rows as of that snapshot are lost. For
    -- example: a table is truncated while Spark reads it.
    'OM145', 'TableRewritten',
    '{table_code} was emptied or rewritten after the snapshot of this read was taken: its rows of '
    'that moment are lost',
    'Start the run again.'
),
(
    -- A rollback is pending, and no rollback template says how to do it. For example: the Module
    -- writes to a data lake, and nothing says how to remove rows there.
    'OM201', 'NoRollbackTemplate',
    'Module "{module_code}" has instances {pending} to roll back, but no template for area '
    '{area_code}, table type {table_type_code}, platform {platform_code}{and_format}',
    'CALL omd.register_rollback({module_code_literal});'
),
(
    -- The target table of the Module does not exist. For example: the table was dropped or renamed
    -- after a run had failed.
    'OM202',
    'TargetNotFound',
    'the target {table_code} of Module "{module_code}" does not exist, so nothing can be '
    'rolled back in it',
    'Create the table, or CALL omd.register_module({module_code_literal}, p_table_code => '
    '''schema.table'');'
),
(
    -- The call is for a target on another platform. For example: rollback_module is called for a
    -- Module that writes with Spark.
    'OM204',
    'WrongPlatform',
    'the target of Module "{module_code}" lives on {platform_code}, not on {expected}',
    'Run its statements there; then {next_command}'
),
(
    -- A rollback needs a column that the target table does not have. For example: the rollback goes
    -- by a business key, and the column was renamed.
    'OM205',
    'TargetColumnNotFound',
    'the rollback of Module "{module_code}" needs a column that {table_code} does not have: '
    '{argument} is {column_name}',
    'CALL omd.register_module({module_code_literal}, {argument} => …); with the column''s name, or '
    'give the Module a rollback of its own: CALL omd.register_rollback({module_code_literal}, …);'
),
(
    -- A rollback template names an unknown placeholder, or its count is not a plain SELECT. For
    -- example: a template has {tabel} instead of {table}.
    'OM209', 'InvalidRollbackTemplate',
    'the rollback template for step {step} of Module "{module_code}" can''t be used: {problem}',
    'CALL omd.register_rollback({module_code_literal}, …, p_step => {step}); the comment of '
    'omd.rollback_template.statement_template lists the placeholders.'
),
(
    -- The target is in a schema of OMD or of PostgreSQL itself. For example: a Module is registered
    -- for omd.event_log.
    'OM210', 'ProtectedTarget',
    '{table_code} can''t be the target of a Module: the schema {schema_name} belongs to OMD or to '
    'PostgreSQL itself',
    'Give a table in a schema of your own.'
),
(
    -- A worker process performs the Module, or members of the Batch; nothing has begun. For
    -- example: a Module of kind STAGE for Spark is run in psql.
    'OM214', 'NeedsWorker', '{subject} does not run in the database: {problem}', '{next_command}'
),
(
    -- The Module belongs to a room, whose rules say what a run of it is. For example: a statement
    -- is registered for a Module that is a part of a delivery.
    'OM219', 'KindOfRoom',
    'Module "{module_code}" is of kind {module_kind_code}: {problem}',
    '{next_command}'
),
(
    -- The call needs a session, and a pooler in transaction mode gives none; nothing was sent. For
    -- example: a DataFrame or a delivery of facts is used behind PgBouncer in transaction mode.
    'OM240', 'NeedsSession',
    '{subject} needs a session of its own, and a pooler in transaction mode gives none',
    'Name the server itself, by its host and port; or, if the pooler is in session mode, say so: '
    'OMD_POOLER=session.'
),
(
    -- A rollback on Spark is pending, and the run has no session that could execute it. For
    -- example: the last run on Spark failed, and this one was begun without a session.
    'OM241', 'NoRollbackExecutor',
    'module {subject} must roll back {module_instance_ids} on Spark and has no session',
    'Pass spark=… or rollback_executor=… to batch.module() or omd.connect().'
),
(
    -- The type of a column has no counterpart on the other side. For example: a column has the type
    -- INTERVAL, which Spark can't read.
    'OM242', 'UnsupportedType', 'column {column_name}: {problem}',
    'Cast the column, or leave it out.'
),
(
    -- The embedded server can't do what was asked. For example: the binaries of PostgreSQL are
    -- missing, or the server belongs to another user.
    'OM243', 'EmbeddedError', '{problem}',
    'omd embedded status says what there is.'
),
(
    -- A table that a Module is declared to read is not there. For example: a Module is declared to
    -- read a table before that is made.
    'OM293', 'InputsUnfit', 'the inputs of Module "{module_code}" can''t be declared: {problem}',
    'CALL omd.declare_inputs({module_code_literal}, ARRAY[…]); with tables or views that exist.'
),
(
    -- A released migration was edited. For example: a file of migrations/ was changed to mend a
    -- typing error.
    'OM901', 'MigrationChanged', 'migration {path} was changed after it was applied',
    'Restore the released file, then run the installer again.'
),
(
    -- An invariant of OMD itself is broken. For example: a row was changed by a superuser who went
    -- around the procedures.
    'OM902', 'InternalError', '{problem}',
    'Run omd doctor, and report what it says.'
),
(
    -- The database has a newer version of OMD than the one that would be installed, or that calls.
    -- For example: the server was upgraded, and this machine has the former package.
    'OM903', 'NewerInstalled', 'this database has omd {installed}, and this is omd {version}',
    'Install the newer version.'
),
(
    -- Another session holds the lock of the first installation. For example: two pipelines install
    -- into the same database.
    'OM904', 'InstallationHeld',
    'the process {pid} of {user} ({application}) holds the lock of the first installation',
    'Install again when it has ended, or end it: SELECT pg_terminate_backend({pid});'
),
(
    -- The schema omd belongs to somebody else. For example: another product has a schema of this
    -- name.
    'OM905', 'ForeignSchema', 'the schema omd belongs to {owner}, not to omd_owner',
    'See what is in it. If it is not OMD: ALTER SCHEMA omd RENAME TO …; then install again.'
),
(
    -- Whoever installs or removes OMD is no superuser, and lacks a right that it takes. For
    -- example: the installer may not create roles.
    'OM906', 'InstallerLacksRight', 'the installer {installer} lacks {lacks}',
    'Ask for it, then install again.'
),
(
    -- A script of the installer was made for another state of OMD than the database has. For
    -- example: the database was upgraded between omd install --script and its execution.
    'OM907', 'StateDiffers', 'this script was made for another state of OMD than this database has',
    'Make it again here: omd install --script'
),
(
    -- The database has OMD from before 1.0, which is not upgraded. For example: the database has
    -- version 0.9.
    'OM908', 'OlderInstalled',
    'this database has OMD from before 1.0, which omd {version} does not upgrade',
    'Nothing was changed: dump the data and load it into a new installation.'
),
(
    -- The installer can't continue. For example: a file of the package is missing, or a statement
    -- of it failed.
    'OM909', 'InstallError', '{problem}',
    'Nothing of the step that failed stays: mend the cause, and install again.'
)
ON CONFLICT (sqlstate_code) DO UPDATE SET
    error_name = excluded.error_name,
    message_template = excluded.message_template,
    hint_template = excluded.hint_template;

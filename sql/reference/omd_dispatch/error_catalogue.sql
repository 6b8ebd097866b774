-- The errors of dispatch. omd.error_catalogue says how the templates are filled.

INSERT INTO omd.error_catalogue (sqlstate_code, error_name, message_template, hint_template)
VALUES
(
    -- No family has this code. For example: a task is created for a family that is registered in
    -- another database only.
    'OM070', 'UnknownFamily', 'family "{family_code}" is not registered',
    'SELECT family_code FROM omd_dispatch.task_conf_family_desc; or CALL '
    'omd_dispatch.register_family({family_code_literal}, …);'
),
(
    -- The family has no type of tasks with this name. For example: the name of a type was mistyped,
    -- or the type was removed.
    'OM071', 'UnknownTaskType', 'family "{family_code}" has no type of tasks "{task_type}"',
    'SELECT task_type FROM omd_dispatch.task_conf_type_desc WHERE family_code = '
    '{family_code_literal}; or CALL omd_dispatch.register_task_type({family_code_literal}, '
    '{task_type_literal}, …);'
),
(
    -- No task has this id; a finished one goes when its partition is purged. For example: the task
    -- ended weeks ago, and its partition was purged.
    'OM072', 'UnknownTask', 'there is no task {task_id}',
    'A finished task goes when its partition is purged: SELECT * FROM omd_dispatch.search_tasks(…);'
),
(
    -- No suspension has this id, or it was resumed. For example: two persons resume the same
    -- suspension.
    'OM073', 'UnknownSuspension', 'there is no suspension {suspension_id}',
    'SELECT * FROM omd_report.dispatch_suspensions;'
),
(
    -- No schedule has this code. For example: the code of a schedule was mistyped.
    'OM074', 'UnknownSchedule', 'schedule "{schedule_code}" is not registered',
    'SELECT * FROM omd_report.dispatch_schedules;'
),
(
    -- The model of the family has no such criterion. For example: a task is created with region,
    -- and the family has country.
    'OM075', 'CriterionUnknown', 'family "{family_code}" has no criterion "{criterion}"',
    'Its criteria: {criteria}.'
),
(
    -- A criterion that the type needs was not given. For example: a task that loads one day is
    -- created without the day.
    'OM076', 'CriterionMissing', 'a task of type "{task_type}" needs the criterion {criterion}',
    'CALL omd_dispatch.set_custom({family_code_literal}, {task_type_literal}, '
    '{criterion_literal}, ''O''); makes it optional.'
),
(
    -- A criterion was given that the type must not have. For example: a task of a type that takes
    -- no file names one.
    'OM077', 'CriterionForbidden',
    'a task of type "{task_type}" must not have the criterion {criterion}',
    'Its criteria: {criteria}.'
),
(
    -- The value of a criterion is not of its type. For example: the value of a date is 31.2.2026.
    'OM078', 'CriterionInvalid', 'the value of the criterion {criterion} is refused: {problem}',
    'SELECT criterion, data_type FROM omd_dispatch.task_conf_family_model WHERE family_code = '
    '{family_code_literal};'
),
(
    -- No declared index serves the search. For example: tasks are searched by a criterion alone
    -- that no index begins with.
    'OM079', 'SearchNotAllowed',
    'no index of family "{family_code}" serves a search by {criteria}',
    'SELECT * FROM omd_dispatch.task_conf_search_allowed WHERE family_code = '
    '{family_code_literal}; an administrator may CALL omd_dispatch.allow_search(…);'
),
(
    -- A live task has the same key. For example: a program creates the task of the day twice.
    'OM170', 'DuplicateTask', 'task {task_id} has the same key {key} and is live',
    'SELECT * FROM omd_dispatch.explain_task({task_id}); or create it with p_on_duplicate => '
    '''EXISTING''.'
),
(
    -- The state of the task does not allow the call. For example: a task that has ended is
    -- cancelled.
    'OM171', 'WrongTaskState', 'task {task_id} is {status} and can''t {action}',
    'SELECT * FROM omd_dispatch.explain_task({task_id});'
),
(
    -- The backend is not registered, or was declared dead. For example: a worker was not heard for
    -- longer than its lease.
    'OM172', 'BackendGone', 'backend "{backend_id}" is not registered, or was declared dead',
    'CALL omd_dispatch.register_backend(…); its tasks go to other backends.'
),
(
    -- The migration status of the family does not allow the call. For example: a migration jumps
    -- over a step.
    'OM173', 'WrongMigrationStep',
    'family "{family_code}" has migration status {status}: {problem}',
    'CALL omd_dispatch.set_migration_status({family_code_literal}, …); one step up or down.'
),
(
    -- The two models differ. For example: a task of the former model is not in the new one.
    'OM174', 'MigrationNotClean', 'the models of family "{family_code}" differ: {problem}',
    'SELECT * FROM omd_dispatch.compare_models({family_code_literal});'
),
(
    -- A purge has failed in some rooms; it has gone on in the others. For example: a lock in one
    -- room is not free, so its history stays.
    'OM175', 'PurgeIncomplete', 'the purge has failed in some rooms: {failed}',
    'Remove what is in the way, and call omd.purge again; it goes on with what is left.'
),
(
    -- The spare partition is not like the partition that it replaces. For example: a column was
    -- added to the table by hand.
    'OM270', 'TwinDiffers', 'the spare partition of {table_name} differs: {problem}',
    'Make {twin_name} as the partitions are: columns, types, constraints and indexes.'
)
ON CONFLICT (sqlstate_code) DO UPDATE SET
    error_name = excluded.error_name,
    message_template = excluded.message_template,
    hint_template = excluded.hint_template;

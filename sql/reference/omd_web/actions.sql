-- What a person can do with each kind of object. An expression or a condition reads the row o of
-- the view. A condition errs on the wide side: whatever it leaves out, the procedure refuses, or
-- has nothing to do. An action that is not in the list any more goes.

WITH listed AS (
    INSERT INTO omd_web.action (
        position, action_code, object_kind, title,
        routine,
        arguments,
        offered_when,
        preview,
        plan_query,
        bulk_routine, is_careful, runs_user_sql, needs_reason
    )
    VALUES
    (
        1, 'RUN', 'MODULE', 'Run',
        'omd_dispatch.create_task',
        '{"p_family_code": {"sql": "''WORK''"}, '
        '"p_task_type": {"sql": "coalesce(nullif(o.engine_code, ''POSTGRES''), ''DATABASE'')"}, '
        '"p_criteria": {"sql": "jsonb_build_object(''CODE'', o.module_code, ''KIND'', '
        'o.module_kind_code)"}, '
        '"p_execution_time": {"ask": "When it is due", "required": false}, '
        '"p_priority": {"ask": "Priority, 0 (first) to 9", "required": false}}',
        'o.engine_code IS NOT NULL',
        'ROLLBACK',
        NULL,
        NULL, FALSE, FALSE, TRUE
    ),
    (
        2, 'RETRY', 'MODULE', 'Forget its failures',
        'omd.retry',
        '{"p_module_code": {"sql": "o.module_code"}}',
        'TRUE',
        'ROLLBACK',
        NULL,
        NULL, FALSE, FALSE, FALSE
    ),
    (
        3, 'ACTIVATE', 'MODULE', 'Activate',
        'omd.register_module',
        '{"p_module_code": {"sql": "o.module_code"}, '
        '"p_inactive_indicator": {"sql": "''N''"}}',
        'o.inactive_indicator = ''Y''',
        'ROLLBACK',
        NULL,
        NULL, FALSE, FALSE, FALSE
    ),
    (
        4, 'DEACTIVATE', 'MODULE', 'Deactivate',
        'omd.register_module',
        '{"p_module_code": {"sql": "o.module_code"}, '
        '"p_inactive_indicator": {"sql": "''Y''"}}',
        'o.inactive_indicator = ''N''',
        'ROLLBACK',
        NULL,
        NULL, FALSE, FALSE, FALSE
    ),
    (
        5, 'SET_PARAMETER', 'MODULE', 'Set a parameter',
        'omd.set_parameter',
        '{"p_parameter_code": {"ask": "Parameter", "required": true}, '
        '"p_parameter_value": {"ask": "Value", "required": true}, '
        '"p_module_code": {"sql": "o.module_code"}}',
        'TRUE',
        'ROLLBACK',
        NULL,
        NULL, FALSE, FALSE, FALSE
    ),
    (
        6, 'BATCH_RUN', 'BATCH', 'Run',
        'omd_dispatch.create_task',
        '{"p_family_code": {"sql": "''RUN''"}, '
        '"p_task_type": {"sql": "''BATCH''"}, '
        '"p_criteria": {"sql": "jsonb_build_object(''CODE'', o.batch_code)"}, '
        '"p_execution_time": {"ask": "When it is due", "required": false}, '
        '"p_priority": {"ask": "Priority, 0 (first) to 9", "required": false}}',
        'TRUE',
        'ROLLBACK',
        NULL,
        NULL, FALSE, FALSE, TRUE
    ),
    (
        7, 'BATCH_ACTIVATE', 'BATCH', 'Activate',
        'omd.register_batch',
        '{"p_batch_code": {"sql": "o.batch_code"}, '
        '"p_inactive_indicator": {"sql": "''N''"}}',
        'o.inactive_indicator = ''Y''',
        'ROLLBACK',
        NULL,
        NULL, FALSE, FALSE, FALSE
    ),
    (
        8, 'BATCH_DEACTIVATE', 'BATCH', 'Deactivate',
        'omd.register_batch',
        '{"p_batch_code": {"sql": "o.batch_code"}, '
        '"p_inactive_indicator": {"sql": "''Y''"}}',
        'o.inactive_indicator = ''N''',
        'ROLLBACK',
        NULL,
        NULL, FALSE, FALSE, FALSE
    ),
    (
        9, 'BATCH_SET_PARAMETER', 'BATCH', 'Set a parameter',
        'omd.set_parameter',
        '{"p_parameter_code": {"ask": "Parameter", "required": true}, '
        '"p_parameter_value": {"ask": "Value", "required": true}, '
        '"p_batch_code": {"sql": "o.batch_code"}}',
        'TRUE',
        'ROLLBACK',
        NULL,
        NULL, FALSE, FALSE, FALSE
    ),
    (
        10, 'ROLL_BACK_NEXT', 'MODULE_INSTANCE', 'Roll back at the next run',
        'omd.set_next_run_indicator',
        '{"p_next_run_indicator": {"sql": "''R''"}, '
        '"p_module_instance_id": {"sql": "o.module_instance_id"}}',
        '(o.next_run_indicator <> ''R'' OR o.rolled_back_by_module_instance_id IS NOT NULL) '
        'AND (o.execution_status_code = ''F'' OR o.rolled_back_by_module_instance_id IS NULL) '
        'AND NOT coalesce(o.execution_status_code IN (''A'', ''C'') '
        'AND o.reason_code IS NOT NULL, FALSE)',
        'PLAN',
        'SELECT r.module_instance_id, r.module_code, m.table_code, r.rows_inserted, '
        'r.rows_updated, r.rows_deleted, '
        '''SELECT * FROM omd.preview_rollback('' || o.module_instance_id || '')'' AS counts_now '
        'FROM omd._rollback_plan(o.module_instance_id, TRUE) AS p '
        'INNER JOIN omd_report.module_execution_log AS r '
        'ON r.module_instance_id = ANY(p.instance_array) '
        'INNER JOIN omd.module AS m ON m.module_id = p.module_id '
        'ORDER BY p.place, r.module_instance_id',
        'omd.set_next_run_indicators', FALSE, FALSE, FALSE
    ),
    (
        11, 'SKIP_NEXT', 'MODULE_INSTANCE', 'Skip the next run',
        'omd.set_next_run_indicator',
        '{"p_next_run_indicator": {"sql": "''C''"}, '
        '"p_module_instance_id": {"sql": "o.module_instance_id"}}',
        'o.next_run_indicator <> ''C''',
        'ROLLBACK',
        NULL,
        'omd.set_next_run_indicators', FALSE, FALSE, FALSE
    ),
    (
        12, 'CLEAR_DIRECTIVE', 'MODULE_INSTANCE', 'Clear the directive',
        'omd.set_next_run_indicator',
        '{"p_next_run_indicator": {"sql": "''P''"}, '
        '"p_module_instance_id": {"sql": "o.module_instance_id"}}',
        'o.next_run_indicator <> ''P'' AND NOT (o.execution_status_code = ''F'' AND '
        'o.rolled_back_by_module_instance_id IS NULL)',
        'ROLLBACK',
        NULL,
        'omd.set_next_run_indicators', FALSE, FALSE, FALSE
    ),
    (
        13, 'END', 'MODULE_INSTANCE', 'End as failed',
        'omd.end_module_instance',
        '{"p_module_instance_id": {"sql": "o.module_instance_id"}, '
        '"p_event_detail": {"ask": "Why", "required": false}}',
        'o.execution_status_code = ''E''',
        'ROLLBACK',
        NULL,
        'omd.end_instances', FALSE, FALSE, FALSE
    ),
    (
        14, 'ABORT', 'MODULE_INSTANCE', 'Abort (it has written nothing)',
        'omd.module_abort',
        '{"p_module_instance_id": {"sql": "o.module_instance_id"}, '
        '"p_event_detail": {"ask": "Why", "required": false}}',
        'o.execution_status_code = ''E''',
        'ROLLBACK',
        NULL,
        NULL, FALSE, FALSE, FALSE
    ),
    (
        15, 'PLAN_RECALL', 'MODULE_INSTANCE', 'Plan to take it back',
        'omd_provenance.plan_recall',
        '{"p_module_instance_id": {"sql": "o.module_instance_id"}, '
        '"p_reason": {"ask": "Why", "required": true}, '
        '"p_awaits_correction": {"ask": "It is to come again, by hand", "required": false}}',
        'o.execution_status_code NOT IN (''A'', ''C'')',
        'NONE',
        NULL,
        NULL, FALSE, TRUE, FALSE
    ),
    (
        16, 'BATCH_ROLL_BACK_NEXT', 'BATCH_INSTANCE', 'Roll back at the next run, with its Modules',
        'omd.set_next_run_indicator',
        '{"p_next_run_indicator": {"sql": "''R''"}, '
        '"p_batch_instance_id": {"sql": "o.batch_instance_id"}}',
        'o.next_run_indicator <> ''R'' AND NOT coalesce(o.execution_status_code IN (''A'', ''C'') '
        'AND o.reason_code IS NOT NULL, FALSE)',
        'ROLLBACK',
        NULL,
        'omd.set_next_run_indicators', FALSE, FALSE, FALSE
    ),
    (
        17, 'BATCH_SKIP_NEXT', 'BATCH_INSTANCE', 'Skip the next run',
        'omd.set_next_run_indicator',
        '{"p_next_run_indicator": {"sql": "''C''"}, '
        '"p_batch_instance_id": {"sql": "o.batch_instance_id"}}',
        'o.next_run_indicator <> ''C''',
        'ROLLBACK',
        NULL,
        'omd.set_next_run_indicators', FALSE, FALSE, FALSE
    ),
    (
        18, 'BATCH_CLEAR_DIRECTIVE', 'BATCH_INSTANCE', 'Clear the directive',
        'omd.set_next_run_indicator',
        '{"p_next_run_indicator": {"sql": "''P''"}, '
        '"p_batch_instance_id": {"sql": "o.batch_instance_id"}}',
        'o.next_run_indicator <> ''P''',
        'ROLLBACK',
        NULL,
        'omd.set_next_run_indicators', FALSE, FALSE, FALSE
    ),
    (
        19, 'BATCH_END', 'BATCH_INSTANCE', 'End as failed',
        'omd.end_batch_instance',
        '{"p_batch_instance_id": {"sql": "o.batch_instance_id"}, '
        '"p_event_detail": {"ask": "Why", "required": false}}',
        'o.execution_status_code = ''E''',
        'ROLLBACK',
        NULL,
        'omd.end_instances', FALSE, FALSE, FALSE
    ),
    (
        20, 'BATCH_ABORT', 'BATCH_INSTANCE', 'Abort (it has written nothing)',
        'omd.batch_abort',
        '{"p_batch_instance_id": {"sql": "o.batch_instance_id"}, '
        '"p_event_detail": {"ask": "Why", "required": false}}',
        'o.execution_status_code = ''E''',
        'ROLLBACK',
        NULL,
        NULL, FALSE, FALSE, FALSE
    ),
    (
        21, 'BATCH_PLAN_RECALL', 'BATCH_INSTANCE', 'Plan to take it back',
        'omd_provenance.plan_recall',
        '{"p_batch_instance_id": {"sql": "o.batch_instance_id"}, '
        '"p_reason": {"ask": "Why", "required": true}, '
        '"p_awaits_correction": {"ask": "It is to come again, by hand", "required": false}}',
        'o.execution_status_code NOT IN (''A'', ''C'')',
        'NONE',
        NULL,
        NULL, FALSE, TRUE, FALSE
    ),
    (
        22, 'REVIVE_TASK', 'TASK', 'Revive',
        'omd_dispatch.revive_task',
        '{"p_task_id": {"sql": "o.task_id"}, '
        '"p_execution_time": {"ask": "When it is due", "required": false}}',
        'o.status IN (''DEAD'', ''CANCELLED'')',
        'ROLLBACK',
        NULL,
        'omd_dispatch.revive_tasks', FALSE, FALSE, FALSE
    ),
    (
        23, 'CANCEL_TASK', 'TASK', 'Cancel',
        'omd_dispatch.cancel_task',
        '{"p_task_id": {"sql": "o.task_id"}}',
        'o.status = ''PENDING''',
        'ROLLBACK',
        NULL,
        'omd_dispatch.cancel_tasks', FALSE, FALSE, TRUE
    ),
    (
        24, 'CANCEL_RUNNING_TASK', 'TASK', 'Cancel, even while it runs',
        'omd_dispatch.cancel_task',
        '{"p_task_id": {"sql": "o.task_id"}, '
        '"p_running": {"sql": "TRUE"}}',
        'o.status = ''PENDING'' OR (o.status = ''CLAIMED'' AND NOT o.cancel_requested)',
        'ROLLBACK',
        NULL,
        'omd_dispatch.cancel_tasks', FALSE, FALSE, TRUE
    ),
    (
        25, 'RESCHEDULE_TASK', 'TASK', 'Reschedule',
        'omd_dispatch.reschedule_task',
        '{"p_task_id": {"sql": "o.task_id"}, '
        '"p_execution_time": {"ask": "When it is due", "required": false}, '
        '"p_priority": {"ask": "Priority, 0 (first) to 9", "required": false}}',
        'o.status = ''PENDING''',
        'ROLLBACK',
        NULL,
        'omd_dispatch.reschedule_tasks', FALSE, FALSE, TRUE
    ),
    (
        26, 'RESUME', 'SUSPENSION', 'Resume',
        'omd_dispatch.resume',
        '{"p_suspension_id": {"sql": "o.suspension_id"}}',
        'o.resumed_at IS NULL',
        'ROLLBACK',
        NULL,
        NULL, FALSE, FALSE, FALSE
    ),
    (
        27, 'PAUSE_SCHEDULE', 'SCHEDULE', 'Pause',
        'omd_dispatch.register_schedule',
        '{"p_schedule_code": {"sql": "o.schedule_code"}, '
        '"p_inactive_indicator": {"sql": "''Y''"}}',
        'o.inactive_indicator = ''N''',
        'ROLLBACK',
        NULL,
        NULL, FALSE, FALSE, FALSE
    ),
    (
        28, 'RESUME_SCHEDULE', 'SCHEDULE', 'Resume',
        'omd_dispatch.register_schedule',
        '{"p_schedule_code": {"sql": "o.schedule_code"}, '
        '"p_inactive_indicator": {"sql": "''N''"}}',
        'o.inactive_indicator = ''Y''',
        'ROLLBACK',
        NULL,
        NULL, FALSE, FALSE, FALSE
    ),
    (
        29, 'FIRE_SCHEDULE', 'SCHEDULE', 'Fire, if it is due',
        'omd_dispatch.fire_schedule',
        '{"p_schedule_code": {"sql": "o.schedule_code"}}',
        'o.inactive_indicator = ''N'' AND o.next_time <= statement_timestamp()',
        'NONE',
        NULL,
        NULL, FALSE, TRUE, TRUE
    ),
    (
        30, 'REMOVE_SCHEDULE', 'SCHEDULE', 'Remove',
        'omd_dispatch.remove_schedule',
        '{"p_schedule_code": {"sql": "o.schedule_code"}}',
        'TRUE',
        'ROLLBACK',
        NULL,
        NULL, TRUE, FALSE, FALSE
    ),
    (
        31, 'SUSPEND', 'TASK_TYPE', 'Suspend',
        'omd_dispatch.suspend',
        '{"p_family_code": {"sql": "o.family_code"}, '
        '"p_task_types": {"sql": "ARRAY[o.task_type]"}, '
        '"p_criteria": {"ask": "Only these, as {\"CODE\": [\"b_x\"]}", "required": false}, '
        '"p_reason": {"ask": "Why", "required": false}}',
        'TRUE',
        'ROLLBACK',
        NULL,
        NULL, FALSE, FALSE, FALSE
    ),
    (
        32, 'SET_LIMIT', 'TASK_TYPE', 'Set how many run at once',
        'omd_dispatch.register_task_type',
        '{"p_family_code": {"sql": "o.family_code"}, '
        '"p_task_type": {"sql": "o.task_type"}, '
        '"p_max_running": {"ask": "How many at most, 0 for no limit", "required": true}, '
        '"p_limit_criterion": {"ask": "For each value of this criterion", "required": false}}',
        'TRUE',
        'ROLLBACK',
        NULL,
        NULL, FALSE, FALSE, FALSE
    ),
    (
        33, 'RESTATE', 'TOPIC', 'Take a range again',
        'omd_lineage.restate',
        '{"p_topic": {"sql": "o.topic"}, '
        '"p_from": {"ask": "From, exclusive", "required": true}, '
        '"p_to": {"ask": "To, inclusive", "required": true}, '
        '"p_cascade": {"ask": "With all topics downstream", "required": false}, '
        '"p_including_from": {"ask": "Including the start", "required": false}}',
        'TRUE',
        'NONE',
        NULL,
        NULL, TRUE, TRUE, FALSE
    ),
    (
        34, 'CANCEL_RESTATE', 'TOPIC', 'Take no range again',
        'omd_lineage.cancel_restate',
        '{"p_topic": {"sql": "o.topic"}}',
        'o.restatements > 0',
        'ROLLBACK',
        NULL,
        NULL, FALSE, FALSE, FALSE
    ),
    (
        35, 'RELEASE', 'TOPIC', 'Release from its holder',
        'omd_lineage.release',
        '{"p_topic": {"sql": "o.topic"}}',
        'o.hostid IS NOT NULL',
        'ROLLBACK',
        NULL,
        NULL, FALSE, FALSE, FALSE
    ),
    (
        36, 'REJECT', 'DELIVERY', 'Reject',
        'omd_delivery.reject_delivery',
        '{"p_delivery_id": {"sql": "o.delivery_id"}, '
        '"p_reason": {"ask": "Why", "required": true}}',
        'o.delivery_status IN (''RECEIVED'', ''LOADED'')',
        'ROLLBACK',
        NULL,
        NULL, FALSE, FALSE, TRUE
    ),
    (
        37, 'CANCEL_DELIVERY', 'DELIVERY', 'Cancel',
        'omd_delivery.cancel_delivery',
        '{"p_delivery_id": {"sql": "o.delivery_id"}, '
        '"p_reason": {"ask": "Why", "required": true}}',
        'o.delivery_status IN (''RECEIVED'', ''LOADED'', ''VALIDATED'')',
        'ROLLBACK',
        NULL,
        NULL, FALSE, FALSE, TRUE
    ),
    (
        38, 'REVERT', 'DELIVERY', 'Revert',
        'omd_delivery.revert_delivery',
        '{"p_delivery_id": {"sql": "o.delivery_id"}, '
        '"p_reason": {"ask": "Why", "required": true}}',
        'o.delivery_status = ''ACCEPTED''',
        'ROLLBACK',
        NULL,
        NULL, TRUE, FALSE, FALSE
    ),
    (
        39, 'PLAN_RECALL_DELIVERY', 'DELIVERY', 'Plan to take it back',
        'omd_provenance.plan_recall',
        '{"p_delivery_id": {"sql": "o.delivery_id"}, '
        '"p_reason": {"ask": "Why", "required": true}, '
        '"p_awaits_correction": {"ask": "It is to come again, by hand", "required": false}}',
        'TRUE',
        'NONE',
        NULL,
        NULL, FALSE, TRUE, FALSE
    ),
    (
        40, 'FORGET_ARRIVAL', 'ARRIVAL', 'Forget',
        'omd_delivery.forget_arrival',
        '{"p_arrival_id": {"sql": "o.arrival_id"}, '
        '"p_reason": {"ask": "Why", "required": true}}',
        'o.arrival_status <> ''TAKEN'' AND NOT coalesce(o.arrival_status = ''CHANGED'' AND '
        'o.delivery_status IN (''RECEIVED'', ''LOADED'', ''VALIDATED''), FALSE)',
        'ROLLBACK',
        NULL,
        NULL, FALSE, FALSE, FALSE
    ),
    (
        41, 'UNDO_LOAD', 'INTERFACE', 'Undo a load and all later ones',
        'omd_facts.undo',
        '{"p_interface_code": {"sql": "o.interface_code"}, '
        '"p_module_instance_id": {"ask": "The run that loaded", "required": true}, '
        '"p_revert_reason": {"ask": "Revert its delivery too, because", "required": false}}',
        'TRUE',
        'NONE',
        NULL,
        NULL, TRUE, FALSE, FALSE
    ),
    (
        42, 'RESYNC', 'INTERFACE', 'Make the facts what LVL has',
        'omd_facts.resync',
        '{"p_interface_code": {"sql": "o.interface_code"}, '
        '"p_entity_code": {"ask": "Only this entity", "required": false}, '
        '"p_dry_run": {"ask": "Count only", "required": false}}',
        'TRUE',
        'NONE',
        NULL,
        NULL, TRUE, FALSE, FALSE
    ),
    (
        43, 'CANCEL_EXPORT', 'EXPORT', 'Cancel',
        'omd_facts.cancel_export',
        '{"p_delivery_id": {"sql": "o.delivery_id"}, '
        '"p_reason": {"ask": "Why", "required": true}}',
        'o.delivery_status = ''RECEIVED''',
        'ROLLBACK',
        NULL,
        NULL, FALSE, FALSE, TRUE
    ),
    (
        44, 'ACTIVATE_RULESET', 'RULESET', 'Activate',
        'omd_decision.activate_ruleset',
        '{"p_ruleset_code": {"sql": "o.ruleset_code"}, '
        '"p_version": {"ask": "Version", "required": true}, '
        '"p_effective_from": {"ask": "From when on", "required": false}, '
        '"p_effective_to": {"ask": "Until when, exclusive", "required": false}}',
        'TRUE',
        'NONE',
        NULL,
        NULL, FALSE, TRUE, FALSE
    ),
    (
        45, 'DEACTIVATE_RULESET', 'RULESET', 'Deactivate',
        'omd_decision.deactivate_ruleset',
        '{"p_ruleset_code": {"sql": "o.ruleset_code"}, '
        '"p_version": {"ask": "Version", "required": true}}',
        'TRUE',
        'ROLLBACK',
        NULL,
        NULL, FALSE, FALSE, FALSE
    ),
    (
        46, 'RECALL', 'RECALL', 'Take back',
        'omd_provenance.recall',
        '{"p_recall_id": {"sql": "o.recall_id"}, '
        '"p_accept": {"ask": "Consent to these actions", "required": false}, '
        '"p_wait": {"ask": "Wait for runs at most", "required": false}}',
        'o.recall_status = ''PLANNED''',
        'NONE',
        'SELECT i.* FROM omd_report.recall_items AS i WHERE i.recall_id = o.recall_id ORDER BY '
        'i.position',
        NULL, TRUE, TRUE, FALSE
    ),
    (
        47, 'DROP_RETURN', 'RECALL', 'Say that an entry will not come',
        'omd_provenance.drop_return',
        '{"p_recall_id": {"sql": "o.recall_id"}, '
        '"p_position": {"ask": "Its position", "required": true}, '
        '"p_reason": {"ask": "Why", "required": true}}',
        'o.recall_status = ''EXECUTED''',
        'ROLLBACK',
        NULL,
        NULL, FALSE, FALSE, FALSE
    ),
    (
        48, 'UNDO', 'MODULE', 'Undo what it left',
        'omd.undo_left',
        '{"p_module_code": {"sql": "o.module_code"}}',
        'cardinality(o.pending_rollback) > 0',
        'NONE',
        'SELECT r.module_instance_id, r.module_code, o.table_code, r.rows_inserted, '
        'r.rows_updated, r.rows_deleted FROM omd_report.module_execution_log AS r '
        'WHERE r.module_instance_id = ANY(o.pending_rollback) ORDER BY r.module_instance_id',
        NULL, FALSE, TRUE, FALSE
    )
    ON CONFLICT (action_code) DO UPDATE
        SET
            position = excluded.position,
            object_kind = excluded.object_kind,
            title = excluded.title,
            routine = excluded.routine,
            arguments = excluded.arguments,
            offered_when = excluded.offered_when,
            preview = excluded.preview,
            plan_query = excluded.plan_query,
            bulk_routine = excluded.bulk_routine,
            is_careful = excluded.is_careful,
            runs_user_sql = excluded.runs_user_sql,
            needs_reason = excluded.needs_reason
    RETURNING action_code
)

DELETE FROM omd_web.action AS a
WHERE a.action_code NOT IN (SELECT l.action_code FROM listed AS l);

-- Who may do what. Nothing is granted to PUBLIC; omd_owner owns all of it.

GRANT USAGE ON SCHEMA omd, omd_report TO omd_reader;

-- omd_reader: look at everything.
GRANT SELECT ON ALL TABLES IN SCHEMA omd, omd_report TO omd_reader;
GRANT EXECUTE ON FUNCTION
omd.previous_batch_instance,
omd.previous_module_instance,
omd.batch_active_instance_control,
omd.module_active_instance_control,
omd.build_rollback_sql,
omd.plan_rollback,
omd.preview_rollback,
omd.pending_rollback,
omd.with_later_windows,
omd.companion_instances,
omd.module_definition,
omd.batch_members,
omd.parameter_value,
omd.last_real_batch_run,
omd.last_real_module_run,
omd.audit_column_values,
omd.quote_table,
omd.target_exists,
omd.raise_error
TO omd_reader;

-- omd_runner: run, and nothing else. The routines after the empty line are steps of those before
-- it, which run with the rights of the caller so that a rollback does.
GRANT EXECUTE ON PROCEDURE
omd.create_batch_instance,
omd.evaluate_batch,
omd.begin_batch,
omd.batch_success,
omd.batch_failure,
omd.batch_skip,
omd.batch_abort,
omd.create_module_instance,
omd.evaluate_module,
omd.begin_module,
omd.module_success,
omd.module_failure,
omd.module_skip,
omd.module_abort,
omd.create_load_window,
omd.rollback_module,
omd.confirm_rollback,
omd.heartbeat,
omd.heartbeat_batch,
omd.fence,
omd.record_write,
omd.reap_expired_instances,
omd.log_event,
omd.run_module,
omd.run_batch,

omd.settle_rollback,
omd.begin_in_database_run,
omd.execute_module,
omd.execute_batch
TO omd_runner;
GRANT EXECUTE ON FUNCTION
omd.recorded_write,
omd.next_write_number,
omd.insert_batch_instance,
omd.decide_batch,
omd.open_module_instance,
omd.answer_module,
omd.require_rollback,
omd.claim_companions,
omd.resume_begin,
omd.bind_session,
omd.release_session,
omd.raise_error
TO omd_runner;

-- omd_admin: register, and direct what runs.
GRANT EXECUTE ON PROCEDURE
omd.register_batch,
omd.register_module,
omd.add_module_to_batch,
omd.add_batch_to_parent_batch,
omd.set_parameter,
omd.set_next_run_indicator,
omd.reap_expired_instances,
omd.log_event,
omd.purge_history
TO omd_admin;
GRANT EXECUTE ON FUNCTION
omd.require_code,
omd.raise_error,
omd.purge_cutoff,
omd.purge_module_instances,
omd.purge_batch_instances,
omd.purge_events
TO omd_admin;
GRANT UPDATE (next_run_indicator) ON omd.batch_instance, omd.module_instance TO omd_admin;
GRANT UPDATE (inactive_indicator) ON omd.batch,
omd.module,
omd.batch_module,
omd.batch_hierarchy TO omd_admin;
GRANT UPDATE (continue_on_failure) ON omd.batch TO omd_admin;
GRANT INSERT,
UPDATE,
DELETE ON omd.parameter,
omd.batch_parameter,
omd.module_parameter TO omd_admin;
GRANT INSERT, UPDATE, DELETE ON omd.rollback_template TO omd_admin;

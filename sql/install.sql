-- The one list of what is installed, in order: psql -f sql/install.sql, omd install, the tests and
-- the wheel use it. A migration is applied once; the checksum before it is the SHA-256 of the
-- released file. The rest is applied whenever it changes. Run it as a superuser, or as a role with
-- CREATEROLE that may create schemas. One transaction.

\set ON_ERROR_STOP on
BEGIN;
\ir install/lock.sql
\ir roles.sql
\ir install/begin.sql

\set checksum '020c5b97d28d7d8210525b8accaf6851924dbdf477bd6472e17d8b32768160ed'
\set migration 'V001__process_control'
\ir install/claim.psql
\if :pending
\ir ../migrations/V001__process_control.sql
\endif

\set checksum '7d4901cc6a13d90449d14c0ff024dc60d97c3aec8a9e32d626386007b54f4072'
\set migration 'V002__recovery'
\ir install/claim.psql
\if :pending
\ir ../migrations/V002__recovery.sql
\endif

\set checksum 'a9e61cfd589ca8653713725a76555cad57361fb5ff15d1fff34ef3407a3befab'
\set migration 'V003__write_ledger'
\ir install/claim.psql
\if :pending
\ir ../migrations/V003__write_ledger.sql
\endif

\set checksum 'a2c6bd2968ccc9ad904f158bc2a4c36c67ce6f9fbbbacee83db098e52b0cb5ba'
\set migration 'V004__lineage'
\ir install/claim.psql
\if :pending
\ir ../migrations/V004__lineage.sql
\endif

-- Reference rows
\ir reference/codes.sql
\ir reference/rollback_templates.sql
\ir reference/error_catalogue.sql

-- Helpers
\ir ../procedures/omd/fill_template.sql
\ir ../procedures/omd/raise_error.sql
\ir ../procedures/omd/session_lock_key.sql
\ir ../procedures/omd/bind_session.sql
\ir ../procedures/omd/release_session.sql
\ir ../procedures/omd/session_lives.sql
\ir ../procedures/omd/quote_table.sql
\ir ../procedures/omd/quote_column.sql
\ir ../procedures/omd/quote_value.sql
\ir ../procedures/omd/target_exists.sql
\ir ../procedures/omd/target_column_type.sql
\ir ../procedures/omd/write_event.sql
\ir ../procedures/omd/notify_event.sql
\ir ../procedures/omd/require_code.sql
\ir ../procedures/omd/require_name.sql
\ir ../procedures/omd/require_batch.sql
\ir ../procedures/omd/require_module.sql
\ir ../procedures/omd/require_lease.sql
\ir ../procedures/omd/require_read_committed.sql
\ir ../procedures/omd/require_batch_instance.sql
\ir ../procedures/omd/why_failed.sql
\ir ../procedures/omd/raise_batch_instance_state.sql
\ir ../procedures/omd/raise_module_instance_state.sql
\ir ../procedures/omd/module_has_newer_failure.sql
\ir ../procedures/omd/failed_chains.sql
\ir ../procedures/omd/last_real_batch_run.sql
\ir ../procedures/omd/last_real_module_run.sql
\ir ../procedures/omd/with_later_windows.sql
\ir ../procedures/omd/pending_rollback.sql
\ir ../procedures/omd/companion_instances.sql
\ir ../procedures/omd/batch_rollback_is_pending.sql

-- Registration and parameters
\ir ../procedures/omd/register_batch.sql
\ir ../procedures/omd/register_module.sql
\ir ../procedures/omd/add_module_to_batch.sql
\ir ../procedures/omd/add_batch_to_parent_batch.sql
\ir ../procedures/omd/set_parameter.sql
\ir ../procedures/omd/parameter_value.sql
\ir ../procedures/omd/module_definition.sql
\ir ../procedures/omd/batch_members.sql

-- Batches
\ir ../procedures/omd/close_batch_instance.sql
\ir ../procedures/omd/fail_members.sql
\ir ../procedures/omd/fail_batch_instance.sql
\ir ../procedures/omd/give_up_batch_instances.sql
\ir ../procedures/omd/insert_batch_instance.sql
\ir ../procedures/omd/direct_modules_of_batch.sql
\ir ../procedures/omd/decide_batch.sql
\ir ../procedures/omd/create_batch_instance.sql
\ir ../procedures/omd/evaluate_batch.sql
\ir ../procedures/omd/begin_batch.sql
\ir ../procedures/omd/batch_success.sql
\ir ../procedures/omd/batch_failure.sql
\ir ../procedures/omd/batch_skip.sql
\ir ../procedures/omd/batch_abort.sql
\ir ../procedures/omd/batch_active_instance_control.sql
\ir ../procedures/omd/previous_batch_instance.sql
\ir ../procedures/omd/heartbeat_batch.sql
\ir ../procedures/omd/hold_batch_instance.sql

-- Modules
\ir ../procedures/omd/close_module_instance.sql
\ir ../procedures/omd/fail_module_instance.sql
\ir ../procedures/omd/give_up_module_instances.sql
\ir ../procedures/omd/decide_module.sql
\ir ../procedures/omd/open_module_instance.sql
\ir ../procedures/omd/answer_module.sql
\ir ../procedures/omd/rollback_statements.sql
\ir ../procedures/omd/plan_rollback.sql
\ir ../procedures/omd/build_rollback_sql.sql
\ir ../procedures/omd/preview_rollback.sql
\ir ../procedures/omd/claim_companions.sql
\ir ../procedures/omd/require_rollback.sql
\ir ../procedures/omd/confirm_rollback.sql
\ir ../procedures/omd/rollback_module.sql
\ir ../procedures/omd/resume_begin.sql
\ir ../procedures/omd/settle_rollback.sql
\ir ../procedures/omd/create_module_instance.sql
\ir ../procedures/omd/evaluate_module.sql
\ir ../procedures/omd/begin_module.sql
\ir ../procedures/omd/module_success.sql
\ir ../procedures/omd/module_failure.sql
\ir ../procedures/omd/module_skip.sql
\ir ../procedures/omd/module_abort.sql
\ir ../procedures/omd/module_active_instance_control.sql
\ir ../procedures/omd/previous_module_instance.sql
\ir ../procedures/omd/record_load_window.sql
\ir ../procedures/omd/create_load_window.sql
\ir ../procedures/omd/heartbeat.sql
\ir ../procedures/omd/fence.sql
\ir ../procedures/omd/recorded_write.sql
\ir ../procedures/omd/record_write.sql
\ir ../procedures/omd/next_write_number.sql
\ir ../procedures/omd/reap_expired_instances.sql
\ir ../procedures/omd/log_event.sql
\ir ../procedures/omd/audit_column_values.sql
\ir ../procedures/omd/set_next_run_indicator.sql

-- Retention
\ir ../procedures/omd/oldest_needed_module_instance.sql
\ir ../procedures/omd/oldest_needed_batch_instance.sql
\ir ../procedures/omd/purge_cutoff.sql
\ir ../procedures/omd/purge_module_instances.sql
\ir ../procedures/omd/purge_batch_instances.sql
\ir ../procedures/omd/purge_events.sql
\ir ../procedures/omd/purge_history.sql

-- In-database runs
\ir ../procedures/omd/begin_in_database_run.sql
\ir ../procedures/omd/tell_row_counts.sql
\ir ../procedures/omd/execute_module.sql
\ir ../procedures/omd/run_module.sql
\ir ../procedures/omd/execute_batch.sql
\ir ../procedures/omd/run_batch.sql
\ir ../procedures/omd/editor.sql
\ir ../procedures/omd/guard_instance_edit.sql
\ir ../procedures/omd/log_definition_edit.sql
\ir ../procedures/omd/guard_module_delete.sql

-- Lineage
\ir ../procedures/omd_lineage/topic_parts.sql
\ir ../procedures/omd_lineage/require_topic.sql
\ir ../procedures/omd_lineage/in_run_window.sql
\ir ../procedures/omd_lineage/horizon.sql
\ir ../procedures/omd_lineage/notify_topic.sql
\ir ../procedures/omd_lineage/block_start.sql
\ir ../procedures/omd_lineage/block_end.sql
\ir ../procedures/omd_lineage/in_block.sql
\ir ../procedures/omd_lineage/holder_lives.sql
\ir views/dependency_offsets.sql
\ir views/base_table.sql

-- Lineage: topics
\ir ../procedures/omd_lineage/oldest_writer.sql
\ir ../procedures/omd_lineage/uncounted_instances.sql
\ir ../procedures/omd_lineage/newest_row.sql
\ir ../procedures/omd_lineage/see_position.sql
\ir ../procedures/omd_lineage/safe_position.sql
\ir ../procedures/omd_lineage/move_source.sql
\ir ../procedures/omd_lineage/write_state.sql
\ir ../procedures/omd_lineage/probe_source.sql
\ir ../procedures/omd_lineage/probe_sources.sql
\ir ../procedures/omd_lineage/normal_run_window.sql
\ir ../procedures/omd_lineage/check_topic.sql
\ir ../procedures/omd_lineage/register_topic_module.sql
\ir ../procedures/omd_lineage/resolve_dependencies.sql
\ir ../procedures/omd_lineage/require_no_cycle.sql
\ir ../procedures/omd_lineage/require_unplanned.sql
\ir ../procedures/omd_lineage/save_topic.sql
\ir ../procedures/omd_lineage/register_topic.sql
\ir ../procedures/omd_lineage/remove_topic.sql
\ir ../procedures/omd_lineage/set_offset.sql
\ir ../procedures/omd_lineage/release.sql
\ir ../procedures/omd_lineage/retry.sql

-- Lineage: steps
\ir ../procedures/omd_lineage/next_block.sql
\ir ../procedures/omd_lineage/plan.sql
\ir ../procedures/omd_lineage/topic_definition.sql
\ir ../procedures/omd_lineage/write_block.sql
\ir ../procedures/omd_lineage/set_block.sql
\ir ../procedures/omd_lineage/claim_topic.sql
\ir ../procedures/omd_lineage/note_no_jobs.sql
\ir ../procedures/omd_lineage/start_step.sql
\ir ../procedures/omd_lineage/begin_step.sql
\ir ../procedures/omd_lineage/raise_fenced.sql
\ir ../procedures/omd_lineage/add_counts.sql
\ir ../procedures/omd_lineage/insert_transform.sql
\ir ../procedures/omd_lineage/may_be_swapped.sql
\ir ../procedures/omd_lineage/reload_table.sql
\ir ../procedures/omd_lineage/advance_offset.sql
\ir ../procedures/omd_lineage/process_block.sql
\ir ../procedures/omd_lineage/commit_step.sql
\ir ../procedures/omd_lineage/fail_step.sql
\ir ../procedures/omd_lineage/note_error.sql
\ir ../procedures/omd_lineage/step.sql
\ir ../procedures/omd_lineage/purge_log.sql
\ir ../procedures/omd_lineage/note_rows.sql
\ir ../procedures/omd_lineage/log_topic_edit.sql
\ir ../procedures/omd_lineage/log_offset_edit.sql

-- Triggers
\ir triggers/instance_edit.sql
\ir triggers/definition_edit.sql
\ir triggers/module_delete.sql
\ir triggers/topic_edit.sql

-- Reporting views
\ir views/batch_list.sql
\ir views/module_list.sql
\ir views/batch_module_list.sql
\ir views/current_processing.sql
\ir views/batch_execution_log.sql
\ir views/module_execution_log.sql
\ir views/event_log.sql
\ir views/directives.sql
\ir views/parameter_list.sql
\ir views/failures.sql
\ir views/exceptions.sql
\ir views/pending_rollbacks.sql
\ir views/common_errors.sql
\ir views/cumulative_load_time.sql
\ir views/throughput_per_day.sql
\ir views/audit_columns.sql
\ir views/trace.sql
\ir views/write_log.sql
\ir views/ready_list.sql
\ir views/error_log.sql
\ir views/lineage_lag.sql
\ir views/lineage_gaps.sql
\ir views/lineage_errors.sql
\ir views/lineage_throughput.sql
\ir views/lineage_graph.sql

-- Grants
\ir grants/omd.sql
\ir grants/omd_lineage.sql

\ir install/finish.psql
COMMIT;

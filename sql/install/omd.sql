-- This list says what is installed for process control, in order. sql/install.sql includes it.

\set checksum 'f5a01aacd0671f1661f8c1c1e90eecf4f94a3dd55a7f8d325f91b07e7b07bb8a'
\set phase 'baseline'
\set migration 'V150__omd'
\ir ../setup/claim.psql
\if :pending
\ir ../../migrations/V150__omd.sql
\endif

\set checksum '2188480483e190203dcdfd30cc7e367d3fb75ceb87f1a62dba44c8d5f75ca395'
\set phase 'expand'
\set migration 'V161__undo_by_rooms'
\ir ../setup/claim.psql
\if :pending
\ir ../../migrations/V161__undo_by_rooms.sql
\endif

\set checksum 'ac6d7077762601c3d5666e82c0a04b2f091fce249f19aab6bda31e8194020dab'
\set migration 'V162__no_templates_of_rooms'
\ir ../setup/claim.psql
\if :pending
\ir ../../migrations/V162__no_templates_of_rooms.sql
\endif

\set checksum '6a64c2dcb743740d381b296d2378d4b81ac98c84b672537d8e0928a68008ee01'
\set migration 'V164__maintenance_alone'
\ir ../setup/claim.psql
\if :pending
\ir ../../migrations/V164__maintenance_alone.sql
\endif

\set checksum '87df2defd100782e38246ffbdbba460c93f55911909dc0f3447f9a5b004ba1a6'
\set phase 'expand'
\set migration 'V165__left_rows'
\ir ../setup/claim.psql
\if :pending
\ir ../../migrations/V165__left_rows.sql
\endif

\set checksum '5642134ea65aae30a6da14fae56c4adf55071d9998f47e7da883623ab8226376'
\set migration 'V166__begins_look'
\ir ../setup/claim.psql
\if :pending
\ir ../../migrations/V166__begins_look.sql
\endif

\set checksum '348a586da203f57131164672f1ed5df17b99bfc42a5e4068500d9c6691569b6d'
\set migration 'V179__nothing_is_deprecated'
\ir ../setup/claim.psql
\if :pending
\ir ../../migrations/V179__nothing_is_deprecated.sql
\endif

\set checksum '6700306080e6400f91602a664a9a17769c3f089790fe6e39875cd28ec39171af'
\set phase 'expand'
\set locks 'omd.module_state'
\set migration 'V180__sentences_of_errors'
\ir ../setup/claim.psql
\if :pending
\ir ../../migrations/V180__sentences_of_errors.sql
\endif

\set checksum '3d9a3c2cb4973f78e910b629d1db54b03d6c284130cbcbc5828d5fd8ae23b7c0'
\set phase 'expand'
\set locks 'omd.module'
\set migration 'V181__start_hints'
\ir ../setup/claim.psql
\if :pending
\ir ../../migrations/V181__start_hints.sql
\endif

\set checksum 'a3fa75213c35e6d5041803558d3bfd1c9eecac8cd17ef1eb576d49d04ca3d5dc'
\set migration 'V182__register_with_a_hint'
\ir ../setup/claim.psql
\if :pending
\ir ../../migrations/V182__register_with_a_hint.sql
\endif

\set checksum '0c4a24daa7d6bf47a6bc1afe5d1e0db6881d16b6fbe17857989d6c6843daebfd'
\set migration 'V184__no_windows_of_sources'
\ir ../setup/claim.psql
\if :pending
\ir ../../migrations/V184__no_windows_of_sources.sql
\endif

\set checksum '5312a36f9c8fe9e77e418369851d25aa540809be5b6c20d3c2bd9d75b6f3cbc4'
\set phase 'expand'
\set migration 'V186__text_columns'
\ir ../setup/claim.psql
\if :pending
\ir ../../migrations/V186__text_columns.sql
\endif

\set checksum 'e854166f7d429ab21ccd7e825e18d0eab7097e486a6f52498170843ce5f07481'
\set migration 'V187__erasures_by_the_list'
\ir ../setup/claim.psql
\if :pending
\ir ../../migrations/V187__erasures_by_the_list.sql
\endif

\set checksum '34b59979b65e37059b7316e6d41bc8e848dd7eecfe36c2b4639583e8028e8e89'
\set migration 'V190__notifications_say_nothing'
\ir ../setup/claim.psql
\if :pending
\ir ../../migrations/V190__notifications_say_nothing.sql
\endif

\set checksum '54bcd214adce4da11253be2942b64c23aa784db7684c2e9d3df2c5f684555ce0'
\set phase 'expand'
\set locks 'omd.module'
\set migration 'V191__programs'
\ir ../setup/claim.psql
\if :pending
\ir ../../migrations/V191__programs.sql
\endif

\set checksum '8ccbb27d758598d902e15016e3a42eb1763c6cd7268789734d5db554ad42fe02'
\set phase 'concurrent'
\set migration 'V192__programs_checked'
\ir ../setup/claim.psql
\if :pending
\ir ../../migrations/V192__programs_checked.sql
\endif

\set checksum '2c59756a7a902aa945e5dcb36d7aeddf47e05c78466e7d8f0a214082c93962c9'
\set phase 'contract'
\set locks 'omd.module'
\set migration 'V193__no_kind_spark'
\ir ../setup/claim.psql
\if :pending
\ir ../../migrations/V193__no_kind_spark.sql
\endif

\set checksum '0c91c8f3fd4ea266925aadeea6087ac6a10d5a24cfa04b3e1bf3f4f0b6990351'
\set migration 'V194__one_rollback_plan'
\ir ../setup/claim.psql
\if :pending
\ir ../../migrations/V194__one_rollback_plan.sql
\endif

\set checksum 'b0a7292d6556af0d7f0d40b10bbb2158299f1edccb33680a237ae82694af8eb6'
\set phase 'contract'
\set locks 'omd.module_instance'
\set migration 'V195__two_indexes_of_open_runs'
\ir ../setup/claim.psql
\if :pending
\ir ../../migrations/V195__two_indexes_of_open_runs.sql
\endif

\set checksum '8c7451eef077f5649cfaa4b60442445adfb0f8cd09918c78a0e335625136f40e'
\set phase 'expand'
\set migration 'V197__purge_steps'
\ir ../setup/claim.psql
\if :pending
\ir ../../migrations/V197__purge_steps.sql
\endif

\set checksum 'c7a986364191b0d344fa00dda3724655949b9185a70bff84bb2ede5e04b23cc0'
\set migration 'V198__one_purge'
\ir ../setup/claim.psql
\if :pending
\ir ../../migrations/V198__one_purge.sql
\endif

\if :is_install
-- Reference rows
\ir ../reference/omd/codes.sql
\ir ../reference/omd/module_kinds.sql
\ir ../reference/omd/source_kinds.sql
\ir ../reference/omd/maintenance.sql
\ir ../reference/omd/purge_steps.sql
\ir ../reference/omd/rollback_templates.sql
\ir ../reference/omd/error_catalogue.sql
\ir ../reference/omd/error_sentences.sql
\ir ../reference/omd/server.sql
\ir ../reference/omd/texts.sql

-- Helpers
\ir ../../procedures/omd/_fill_template.sql
\ir ../../procedures/omd/did_you_mean.sql
\ir ../../procedures/omd/shown_value.sql
\ir ../../procedures/omd/raise_error.sql
\ir ../../procedures/omd/put_trigger.sql
\ir ../../procedures/omd/put_view.sql
\ir ../../procedures/omd/_statement_runs.sql
\ir ../../procedures/omd/_lease_of_statement.sql
\ir ../../procedures/omd/_cause_of_death.sql
\ir ../../procedures/omd/session_lives.sql
\ir ../../procedures/omd/editor.sql
\ir ../../procedures/omd/_may_be_proven_dead.sql
\ir ../../procedures/omd/is_by_hand.sql
\ir ../../procedures/omd/_who_failed_it.sql
\ir ../../procedures/omd/quote_table.sql
\ir ../../procedures/omd/spell_table.sql
\ir ../../procedures/omd/_quote_column.sql
\ir ../../procedures/omd/_quote_value.sql
\ir ../../procedures/omd/target_relation.sql
\ir ../../procedures/omd/json_items.sql
\ir ../../procedures/omd/document_problem.sql
\ir ../../procedures/omd/target_exists.sql
\ir ../../procedures/omd/target_column_type.sql
\ir ../../procedures/omd/_column_is_indexed.sql
\ir ../../procedures/omd/require_filter.sql
\ir ../../procedures/omd/require_chunk.sql
\ir ../../procedures/omd/write_event.sql
\ir ../../procedures/omd/write_edit.sql
\ir ../../procedures/omd/notify.sql
\ir ../../procedures/omd/_tell_instance.sql
\ir ../../procedures/omd/require_code.sql
\ir ../../procedures/omd/require_name.sql
\ir ../../procedures/omd/is_time_zone.sql
\ir ../../procedures/omd/is_count.sql
\ir ../../procedures/omd/_refuse_next_run_indicator.sql
\ir ../../procedures/omd/_require_batch.sql
\ir ../../procedures/omd/_require_module.sql
\ir ../../procedures/omd/_require_lease.sql
\ir ../../procedures/omd/_require_context.sql
\ir ../../procedures/omd/_session_context.sql
\ir ../../procedures/omd/require_read_committed.sql
\ir ../../procedures/omd/_refused_commit.sql
\ir ../../procedures/omd/ask_whether_to_commit.sql
\ir ../../procedures/omd/require_no_transaction_block.sql
\ir ../../procedures/omd/hold_off_vacuum.sql
\ir ../../procedures/omd/_require_batch_instance.sql
\ir ../../procedures/omd/why_failed.sql
\ir ../../procedures/omd/reads_rows.sql
\ir ../../procedures/omd/shown_error.sql
\ir ../../procedures/omd/error_text.sql
\ir ../../procedures/omd/shown_failure.sql
\ir ../../procedures/omd/failure_text.sql
\ir ../../procedures/omd/shell_argument.sql
\ir ../../procedures/omd/hide_columns.sql
\ir ../../procedures/omd/_raise_batch_instance_state.sql
\ir ../../procedures/omd/_raise_module_instance_state.sql
\ir ../../procedures/omd/_module_has_newer_failure.sql
\ir ../../procedures/omd/_awaits_rollback.sql
\ir ../../procedures/omd/_is_open.sql
\ir ../../procedures/omd/instance_of_task.sql
\ir ../../procedures/omd/instance_outcome.sql
\ir ../../procedures/omd/_executing_module_instances.sql
\ir ../../procedures/omd/_waiting_module_instances.sql
\ir ../../procedures/omd/open_module_instances.sql
\ir ../../procedures/omd/_executing_batch_instances.sql
\ir ../../procedures/omd/_failed_chains.sql
\ir ../../procedures/omd/_last_real_batch_run.sql
\ir ../../procedures/omd/_last_real_module_run.sql
\ir ../../procedures/omd/_descendants.sql
\ir ../../procedures/omd/_sharing_relations.sql
\ir ../../procedures/omd/_sharing_modules.sql
\ir ../../procedures/omd/_truncate_would_harm.sql
\ir ../../procedures/omd/_undo_routines.sql
\ir ../../procedures/omd/_fitting_templates.sql
\ir ../../procedures/omd/has_rollback_template.sql
\ir ../../procedures/omd/_with_later_windows.sql
\ir ../../procedures/omd/pending_rollback.sql
\ir ../../procedures/omd/_direct_companions.sql
\ir ../../procedures/omd/_undone_tables.sql
\ir ../../procedures/omd/_referencing_tables.sql
\ir ../../procedures/omd/_referencing_modules.sql
\ir ../../procedures/omd/_companion_instances.sql
\ir ../../procedures/omd/_batch_rollback_is_pending.sql
\ir ../../procedures/omd/_frequency_holds_until.sql
\ir ../../procedures/omd/_child_has_succeeded.sql
\ir ../../procedures/omd/_missing_columns.sql
\ir ../../procedures/omd/_takes_delete.sql
\ir ../../procedures/omd/_module_problems.sql
\ir ../../procedures/omd/targets_without_identity.sql

-- Registration and parameters
\ir ../../procedures/omd/register_area.sql
\ir ../../procedures/omd/register_table_type.sql
\ir ../../procedures/omd/register_event_type.sql
\ir ../../procedures/omd/register_frequency.sql
\ir ../../procedures/omd/register_batch.sql
\ir ../../procedures/omd/_rollback_values.sql
\ir ../../procedures/omd/_way_of_undoing.sql
\ir ../../procedures/omd/_require_nothing_to_undo.sql
\ir ../../procedures/omd/_require_expiry_date.sql
\ir ../../procedures/omd/_require_target.sql
\ir ../views/omd/own_kind.sql
\ir ../../procedures/omd/_require_job.sql
\ir ../../procedures/omd/_kind_without_room.sql
\ir ../../procedures/omd/_require_backoff.sql
\ir ../../procedures/omd/save_module.sql
\ir ../../procedures/omd/_save_start_hint.sql
\ir ../../procedures/omd/register_module.sql
\ir ../../procedures/omd/set_module_kind.sql
\ir ../../procedures/omd/_unknown_placeholder.sql
\ir ../../procedures/omd/register_rollback.sql
\ir ../../procedures/omd/register_area_rollback.sql
\ir ../../procedures/omd/add_module_to_batch.sql
\ir ../../procedures/omd/add_batch_to_parent_batch.sql
\ir ../../procedures/omd/remove_module_from_batch.sql
\ir ../../procedures/omd/remove_batch_from_parent_batch.sql
\ir ../../procedures/omd/rename_batch.sql
\ir ../../procedures/omd/rename_module.sql
\ir ../../procedures/omd/retire_batch.sql
\ir ../../procedures/omd/retire_module.sql
\ir ../../procedures/omd/set_parameter.sql
\ir ../../procedures/omd/parameter_value.sql
\ir ../../procedures/omd/module_definition.sql
\ir ../../procedures/omd/batch_members.sql

-- Batches
\ir ../../procedures/omd/_lock_members.sql
\ir ../../procedures/omd/_close_batch_instance.sql
\ir ../../procedures/omd/_fail_members.sql
\ir ../../procedures/omd/_fail_batch_instance.sql
\ir ../../procedures/omd/_give_up_batch_instances.sql
\ir ../../procedures/omd/_insert_batch_instance.sql
\ir ../../procedures/omd/_direct_modules_of_batch.sql
\ir ../../procedures/omd/_decide_batch.sql
\ir ../../procedures/omd/create_batch_instance.sql
\ir ../../procedures/omd/evaluate_batch.sql
\ir ../../procedures/omd/begin_batch.sql
\ir ../../procedures/omd/batch_success.sql
\ir ../../procedures/omd/batch_failure.sql
\ir ../../procedures/omd/batch_skip.sql
\ir ../../procedures/omd/batch_abort.sql
\ir ../../procedures/omd/abort_run.sql
\ir ../../procedures/omd/batch_active_instance_control.sql
\ir ../../procedures/omd/previous_batch_instance.sql
\ir ../../procedures/omd/heartbeat_batch.sql
\ir ../../procedures/omd/_hold_batch_instance.sql

-- Modules
\ir ../../procedures/omd/_pause_after.sql
\ir ../../procedures/omd/_claim_of_session.sql
\ir ../../procedures/omd/count_failure.sql
\ir ../../procedures/omd/clear_failures.sql
\ir ../../procedures/omd/note_look.sql
\ir ../../procedures/omd/note_news.sql
\ir ../../procedures/omd/is_of_the_call.sql
\ir ../../procedures/omd/note_failure.sql
\ir ../../procedures/omd/last_context.sql
\ir ../../procedures/omd/start_hint.sql
\ir ../../procedures/omd/role_hint.sql
\ir ../../procedures/omd/retry.sql
\ir ../../procedures/omd/_close_module_instance.sql
\ir ../../procedures/omd/fail_module_instance.sql
\ir ../../procedures/omd/give_up_runs_of_task.sql
\ir ../../procedures/omd/note_end_of_task.sql
\ir ../../procedures/omd/_settle_undone.sql
\ir ../../procedures/omd/note_undone.sql
\ir ../../procedures/omd/mark_undone.sql
\ir ../../procedures/omd/note_one_transaction.sql
\ir ../../procedures/omd/_give_up_module_instances.sql
\ir ../../procedures/omd/_decide_module.sql
\ir ../../procedures/omd/_open_module_instance.sql
\ir ../../procedures/omd/_answer_module.sql
\ir ../../procedures/omd/_rollback_parts.sql
\ir ../../procedures/omd/_rollback_plan.sql
\ir ../../procedures/omd/_instead_of_truncate.sql
\ir ../../procedures/omd/_is_run_of.sql
\ir ../../procedures/omd/_stamp_column.sql
\ir ../../procedures/omd/_has_strangers.sql
\ir ../../procedures/omd/_oldest_of_last_runs.sql
\ir ../../procedures/omd/_dead_runs.sql
\ir ../../procedures/omd/_note_left_rows.sql
\ir ../../procedures/omd/_look_for_left_rows.sql
\ir ../../procedures/omd/find_left_rows.sql
\ir ../../procedures/omd/_look_before_truncate.sql
\ir ../../procedures/omd/rollback_steps.sql
\ir ../../procedures/omd/build_rollback_sql.sql
\ir ../../procedures/omd/preview_rollback.sql
\ir ../../procedures/omd/_claim_companions.sql
\ir ../../procedures/omd/_require_rollback.sql
\ir ../../procedures/omd/_mark_rolled_back.sql
\ir ../../procedures/omd/_refuse_left_rows.sql
\ir ../../procedures/omd/_confirm_rollback.sql
\ir ../../procedures/omd/confirm_rollback.sql
\ir ../../procedures/omd/_refuse_rollback.sql
\ir ../../procedures/omd/_unseen_reference.sql
\ir ../../procedures/omd/_lossy_constraints.sql
\ir ../../procedures/omd/_referring_rows.sql
\ir ../../procedures/omd/_lossy_keys.sql
\ir ../../procedures/omd/_guarded_places.sql
\ir ../../procedures/omd/may_lose_rows.sql
\ir ../../procedures/omd/_take_referring.sql
\ir ../../procedures/omd/find_loss.sql
\ir ../../procedures/omd/find_references.sql
\ir ../../procedures/omd/_missing_right.sql
\ir ../../procedures/omd/delete_stamped.sql
\ir ../../procedures/omd/_refuse_losses.sql
\ir ../../procedures/omd/_is_undone_in.sql
\ir ../../procedures/omd/_require_deletable.sql
\ir ../../procedures/omd/_keep_deferred.sql
\ir ../../procedures/omd/_sessions_of_undone.sql
\ir ../../procedures/omd/rollback_module.sql
\ir ../../procedures/omd/_resume_begin.sql
\ir ../../procedures/omd/_settle_rollback.sql
\ir ../../procedures/omd/_ask_rollback.sql
\ir ../../procedures/omd/undo_instances.sql
\ir ../../procedures/omd/create_module_instance.sql
\ir ../../procedures/omd/evaluate_module.sql
\ir ../../procedures/omd/begin_module.sql
\ir ../../procedures/omd/undo_left.sql
\ir ../../procedures/omd/_undo_for_room.sql
\ir ../../procedures/omd/begin_for_room.sql
\ir ../../procedures/omd/_fill_returns.sql
\ir ../../procedures/omd/module_success.sql
\ir ../../procedures/omd/succeed_rollback.sql
\ir ../../procedures/omd/module_failure.sql
\ir ../../procedures/omd/record_failure.sql
\ir ../../procedures/omd/module_skip.sql
\ir ../../procedures/omd/module_abort.sql
\ir ../../procedures/omd/module_active_instance_control.sql
\ir ../../procedures/omd/previous_module_instance.sql

-- Recalls
\ir ../../procedures/omd/mark_taken_back.sql
\ir ../../procedures/omd/_recall_parts.sql
\ir ../../procedures/omd/recall_counts.sql
\ir ../../procedures/omd/note_undone_elsewhere.sql
\ir ../../procedures/omd/undone_elsewhere.sql
\ir ../../procedures/omd/runs_of_lake.sql
\ir ../../procedures/omd/rows_of_runs.sql
\ir ../../procedures/omd/require_taken_on.sql
\ir ../../procedures/omd/_end_take_back.sql
\ir ../../procedures/omd/take_back_rows.sql
\ir ../../procedures/omd/ask_for_rollback.sql
\ir ../../procedures/omd/give_up_readers.sql
\ir ../../procedures/omd/_recall_runs.sql
\ir ../../procedures/omd/recall_follows.sql
\ir ../../procedures/omd/recall_effects.sql
\ir ../../procedures/omd/recall_locks.sql
\ir ../../procedures/omd/take_back.sql
\ir ../../procedures/omd/runs_that_stand.sql
\ir ../../procedures/omd/runs_of_batch_instance.sql
\ir ../../procedures/omd/runs_of_modules.sql
\ir ../../procedures/omd/runs_outside.sql
\ir ../../procedures/omd/lock_sources.sql
\ir ../../procedures/omd/lock_modules.sql
\ir ../../procedures/omd/runs_at_work.sql
\ir ../../procedures/omd/give_up_dead_runs.sql
\ir ../../procedures/omd/begin_recall.sql
\ir ../../procedures/omd/end_recall.sql
\ir ../../procedures/omd/await_return.sql

\ir ../../procedures/omd/record_load_window.sql
\ir ../../procedures/omd/declare_source.sql
\ir ../../procedures/omd/move_source.sql
\ir ../../procedures/omd/hold_source.sql
\ir ../../procedures/omd/close_source.sql
\ir ../../procedures/omd/take_source.sql
\ir ../../procedures/omd/_move_run_source.sql
\ir ../../procedures/omd/declare_runs.sql
\ir ../../procedures/omd/declare_runs_of.sql
\ir ../../procedures/omd/declare_runs_under.sql
\ir ../../procedures/omd/source_of.sql
\ir ../../procedures/omd/block_view.sql
\ir ../../procedures/omd/plan_block.sql
\ir ../../procedures/omd/next_run.sql
\ir ../../procedures/omd/next_position.sql
\ir ../../procedures/omd/block_stands.sql
\ir ../../procedures/omd/block_routine.sql
\ir ../../procedures/omd/show_block.sql
\ir ../../procedures/omd/open_block.sql
\ir ../../procedures/omd/block_upto.sql
\ir ../../procedures/omd/abort_written.sql
\ir ../../procedures/omd/declare_reader.sql
\ir ../../procedures/omd/source_readers.sql
\ir ../../procedures/omd/note_passed.sql
\ir ../../procedures/omd/succeeded_windows.sql
\ir ../../procedures/omd/last_window.sql
\ir ../../procedures/omd/load_window_start.sql
\ir ../../procedures/omd/block_start.sql
\ir ../../procedures/omd/create_load_window.sql
\ir ../../procedures/omd/heartbeat.sql
\ir ../../procedures/omd/fence.sql
\ir ../../procedures/omd/recorded_write.sql
\ir ../../procedures/omd/record_write.sql
\ir ../../procedures/omd/next_write_number.sql
\ir ../../procedures/omd/reap_expired_instances.sql
\ir ../../procedures/omd/log_event.sql
\ir ../../procedures/omd/audit_column_values.sql
\ir ../../procedures/omd/_indicator_problem.sql
\ir ../../procedures/omd/set_next_run_indicator.sql
\ir ../../procedures/omd/end_module_instance.sql
\ir ../../procedures/omd/report_death.sql
\ir ../../procedures/omd/withdraw_fenced.sql
\ir ../../procedures/omd/end_batch_instance.sql
\ir ../../procedures/omd/_instances_matching.sql
\ir ../../procedures/omd/count_instances.sql
\ir ../../procedures/omd/_note_bulk.sql
\ir ../../procedures/omd/set_next_run_indicators.sql
\ir ../../procedures/omd/end_instances.sql
\ir ../../procedures/omd/_explain_reason.sql
\ir ../../procedures/omd/_foresee_begin.sql
\ir ../../procedures/omd/explain_begin.sql

-- Retention
\ir ../../procedures/omd/_oldest_needed_module_instance.sql
\ir ../../procedures/omd/_oldest_needed_batch_instance.sql
\ir ../../procedures/omd/purge_cutoff.sql
\ir ../../procedures/omd/_prepare_purge.sql
\ir ../../procedures/omd/_without_needed.sql
\ir ../../procedures/omd/_purge_module_instances.sql
\ir ../../procedures/omd/_purge_batch_instances.sql
\ir ../../procedures/omd/_purge_events.sql
\ir ../../procedures/omd/_note_purge.sql
\ir ../../procedures/omd/_require_purge.sql
\ir ../../procedures/omd/purge.sql
\ir ../../procedures/omd/_old_history.sql

-- In-database runs
\ir ../../procedures/omd/_require_database_run.sql
\ir ../../procedures/omd/begin_in_database_run.sql
\ir ../../procedures/omd/reason_of.sql
\ir ../../procedures/omd/return_code_of.sql
\ir ../../procedures/omd/begin_run.sql
\ir ../../procedures/omd/end_run.sql
\ir ../../procedures/omd/tell_row_counts.sql
\ir ../../procedures/omd/tell_discarded_rows.sql
\ir ../../procedures/omd/_listed_settings.sql
\ir ../../procedures/omd/_named_settings.sql
\ir ../../procedures/omd/_session_settings.sql
\ir ../../procedures/omd/_changed_settings.sql
\ir ../../procedures/omd/_restore_settings.sql
\ir ../../procedures/omd/_written_rows.sql
\ir ../../procedures/omd/execute_module.sql
\ir ../../procedures/omd/_routines_of_kind.sql
\ir ../../procedures/omd/finish_run.sql
\ir ../../procedures/omd/_try_begin.sql
\ir ../../procedures/omd/_raise_again.sql
\ir ../../procedures/omd/_execute_runs.sql
\ir ../../procedures/omd/run_module.sql
\ir ../../procedures/omd/_require_database_batch.sql
\ir ../../procedures/omd/_execute_batch.sql
\ir ../../procedures/omd/run_batch.sql
\ir ../../procedures/omd/_guard_instance_edit.sql
\ir ../../procedures/omd/_log_definition_edit.sql
\ir ../../procedures/omd/_guard_module_delete.sql

-- For other rooms
\ir ../../procedures/omd/insert_column.sql
\ir ../../procedures/omd/instance_state.sql
\ir ../../procedures/omd/instance_lives.sql
\ir ../../procedures/omd/instances_since.sql
\ir ../../procedures/omd/undone_instances.sql
\ir ../../procedures/omd/standing_runs.sql
\ir ../../procedures/omd/recalled_runs.sql
\ir ../../procedures/omd/note_pending.sql
\ir ../../procedures/omd/keep_window.sql
\ir ../../procedures/omd/next_window_return.sql
\ir ../../procedures/omd/take_window.sql
\ir ../../procedures/omd/taken_window.sql
\ir ../../procedures/omd/end_window.sql
\ir ../../procedures/omd/drop_windows.sql
\ir ../../procedures/omd/extend_window.sql
\ir ../../procedures/omd/reopen_window.sql
\ir ../../procedures/omd/settle_return.sql
\ir ../../procedures/omd/drop_return.sql
\ir ../views/omd/awaited_return.sql
\ir ../views/omd/return_work.sql
\ir ../views/omd/module_target.sql
\ir ../views/omd/open_instance.sql
\ir ../views/omd/module_pause.sql
\ir ../../procedures/omd/running_modules.sql
\ir ../views/omd/source_position.sql
\ir ../../procedures/omd/_bound_routine.sql
\ir ../../procedures/omd/relations_under.sql
\ir ../../procedures/omd/topmost_parents.sql
\ir ../../procedures/omd/base_tables.sql
\ir ../../procedures/omd/_uncut_reads.sql
\ir ../../procedures/omd/_tables_of_input.sql
\ir ../../procedures/omd/save_inputs.sql
\ir ../../procedures/omd/has_inputs.sql
\ir ../../procedures/omd/is_readable.sql
\ir ../../procedures/omd/declare_inputs.sql
\ir ../../procedures/omd/note_reads.sql
\ir ../../procedures/omd/record_run_input.sql
\ir ../../procedures/omd/_reading_run.sql
\ir ../../procedures/omd/record_input.sql
\ir ../../procedures/omd/_needs_look.sql
\ir ../../procedures/omd/_statement_inputs.sql
\ir ../../procedures/omd/_save_look.sql
\ir ../../procedures/omd/_look_at_sql.sql
\ir ../../procedures/omd/_record_look.sql
\ir ../../procedures/omd/record_query.sql
\ir ../../procedures/omd/_record_sql.sql
\ir ../../procedures/omd/_due_looks.sql
\ir ../../procedures/omd/_look_again.sql
\ir ../../procedures/omd/require_maintenance.sql
\ir ../../procedures/omd/_look_at_due.sql
\ir ../../procedures/omd/look_at_inputs.sql
\ir ../../procedures/omd/look_at_runs.sql
\ir ../../procedures/omd/_claim_maintenance.sql
\ir ../../procedures/omd/maintain_rooms.sql
\ir ../views/omd/unknown_inputs.sql
\ir ../views/omd/ledger_run.sql
\ir ../views/omd/ledger_module.sql
\ir ../views/omd/ledger_declaration.sql
\ir ../views/omd/ledger_input.sql
\ir ../views/omd/ledger_record.sql
\ir ../views/omd/ledger_read.sql
\ir ../views/omd/ledger_undone.sql
\ir ../views/omd/ledger_window.sql
\ir ../views/omd/described_module.sql
\ir ../views/omd/described_module_instance.sql
\ir ../views/omd/described_batch_instance.sql
\ir ../../procedures/omd/output_tables.sql
\ir ../../procedures/omd/product_version.sql
\ir ../../procedures/omd/undeclared_readers.sql
\ir ../../procedures/omd/base_tables_of_module.sql
\ir ../../procedures/omd/tables_of_run.sql
\ir ../../procedures/omd/modules_writing.sql
\ir ../../procedures/omd/tables_of_modules.sql
\ir ../../procedures/omd/table_family.sql
\ir ../../procedures/omd/oldest_writer.sql
\ir ../../procedures/omd/transaction_before.sql
\ir ../../procedures/omd/readable_until.sql
\ir ../../procedures/omd/visible_until.sql
\ir ../../procedures/omd/relations_over.sql
\ir ../views/omd/open_window.sql
\ir ../../procedures/omd/is_awaited.sql
\ir ../../procedures/omd/awaited_tables.sql
\ir ../../procedures/omd/awaited_circles.sql
\ir ../../procedures/omd/written_tables.sql
\ir ../../procedures/omd/first_read.sql
\ir ../../procedures/omd/key_match.sql
\ir ../../procedures/omd/stamp_columns.sql
\ir ../../procedures/omd/shown_stamp_columns.sql
\ir ../../procedures/omd/explained_target.sql
\ir ../../procedures/omd/shown_runs.sql
\ir ../views/omd/standing_read.sql
\ir ../../procedures/omd/tell_undo.sql
\ir ../../procedures/omd/stamp_datetime.sql
\ir ../../procedures/omd/begin_write.sql
\ir ../views/omd/failure_event.sql

-- For those who follow the instances, and speak outside
\ir ../views/omd/ledger_batch.sql
\ir ../views/omd/followed_batch_instance.sql
\ir ../views/omd/followed_module_instance.sql
\ir ../../procedures/omd/installation_id.sql
\ir ../../procedures/omd/primary_server.sql
\ir ../../procedures/omd/_server_now.sql
\ir ../views/omd/open_server_change.sql
\ir ../../procedures/omd/server_is_known.sql
\ir ../../procedures/omd/require_known_server.sql
\ir ../../procedures/omd/_change_of_server.sql
\ir ../../procedures/omd/_skip_numbers.sql
\ir ../../procedures/omd/_skip_counters.sql
\ir ../../procedures/omd/_clear_server_bound.sql
\ir ../../procedures/omd/_settle_server.sql
\ir ../../procedures/omd/settle_server.sql
\ir ../../procedures/omd/get_ready_for_id.sql
\ir ../../procedures/omd/unready_for_id.sql
\ir ../../procedures/omd/skip_ids.sql
\ir ../../procedures/omd/version.sql
\ir ../../procedures/omd/confirm_server.sql

-- Erasure
\ir ../../procedures/omd/mask_text.sql
\ir ../../procedures/omd/mask_json.sql
\ir ../../procedures/omd/mask_columns.sql
\ir ../../procedures/omd/erase_texts.sql

-- Triggers
\ir ../triggers/omd/instance_edit.sql
\ir ../triggers/omd/definition_edit.sql
\ir ../triggers/omd/module_delete.sql

-- Reporting views
\ir ../views/omd/batch_list.sql
\ir ../views/omd/module_inputs.sql
\ir ../views/omd/module_list.sql
\ir ../views/omd/batch_module_list.sql
\ir ../views/omd/current_processing.sql
\ir ../views/omd/batch_execution_log.sql
\ir ../views/omd/module_execution_log.sql
\ir ../views/omd/event_log.sql
\ir ../views/omd/directives.sql
\ir ../views/omd/parameter_list.sql
\ir ../views/omd/failures.sql
\ir ../views/omd/readiness.sql
\ir ../views/omd/expired_lease.sql
\ir ../views/omd/overdue_batch.sql
\ir ../views/omd/failed_batch.sql
\ir ../views/omd/exceptions.sql
\ir ../views/omd/problem_list.sql
\ir ../views/omd/pending_rollbacks.sql
\ir ../views/omd/common_errors.sql
\ir ../views/omd/cumulative_load_time.sql
\ir ../views/omd/throughput_per_day.sql
\ir ../views/omd/audit_columns.sql
\ir ../views/omd/trace.sql
\ir ../views/omd/write_log.sql
\ir ../views/omd/server.sql
\ir ../views/omd/server_changes.sql
\ir ../../procedures/omd/table_bytes.sql
\ir ../views/omd/footprint.sql
\ir ../views/omd/upgrade.sql

-- Grants
\ir ../grants/omd.sql
\endif

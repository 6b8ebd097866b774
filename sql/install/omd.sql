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

\set checksum '1eea24fb7f672d521c01071bbddb50cfa25afa695f8a8409c2bfabb41f6a6613'
\set phase 'expand'
\set migration 'V202__retry_by_rooms'
\ir ../setup/claim.psql
\if :pending
\ir ../../migrations/V202__retry_by_rooms.sql
\endif

\set checksum '9ebb492092f80f6cc8ce384a181ea1e12d1040aaabeeb478120bec44f01ab4f8'
\set migration 'V203__chosen_routines'
\ir ../setup/claim.psql
\if :pending
\ir ../../migrations/V203__chosen_routines.sql
\endif

\set checksum '760ce6cc15d345bdcd08f36ca5db6c5c220d472852068ad37128c61e2f6682a2'
\set phase 'expand'
\set locks 'omd.module_kind'
\set migration 'V205__next_acts'
\ir ../setup/claim.psql
\if :pending
\ir ../../migrations/V205__next_acts.sql
\endif

\set checksum 'f662cde1be5065fd83a65c8deb7c142498d806235ce292960f904603e8ac467a'
\set phase 'expand'
\set locks 'omd.batch_instance'
\set migration 'V206__members_of_batch_instances'
\ir ../setup/claim.psql
\if :pending
\ir ../../migrations/V206__members_of_batch_instances.sql
\endif

\set checksum '30446b50326bd6e5ff37cb4f517d20c7160605ea928adcb02c96d7fa3a1155a1'
\set phase 'expand'
\set migration 'V216__room_hooks'
\ir ../setup/claim.psql
\if :pending
\ir ../../migrations/V216__room_hooks.sql
\endif

\set checksum '699aea55ff901daf25f81efc144d5edaf67c7fdc2126d2b732b1f83e987fec01'
\set migration 'V217__former_room_routines'
\ir ../setup/claim.psql
\if :pending
\ir ../../migrations/V217__former_room_routines.sql
\endif

\set checksum '4c271abe5098e02ad7f772add047adc576d34cc6afb0d05092d67b0122e04f23'
\set phase 'contract'
\set locks 'omd.module_kind, omd.source_kind'
\set migration 'V218__no_other_registries'
\ir ../setup/claim.psql
\if :pending
\ir ../../migrations/V218__no_other_registries.sql
\endif

\set checksum '8fe4d0684854eae5a503174dddba83eeee20772839b9d82bf11e99b201ab0c8c'
\set migration 'V224__members_from_a_place'
\ir ../setup/claim.psql
\if :pending
\ir ../../migrations/V224__members_from_a_place.sql
\endif

\set checksum '103ee0f87feb9e331f9d43946870ae5bf1dadbf87ce1f3f0888bb82db7c85829'
\set phase 'expand'
\set locks 'omd.write_ledger'
\set migration 'V230__rows_read'
\ir ../setup/claim.psql
\if :pending
\ir ../../migrations/V230__rows_read.sql
\endif

\set checksum 'aa49a4c912580137e152e7002de912243c00f649d22a8058900983ee64336726'
\set migration 'V231__record_rows_read'
\ir ../setup/claim.psql
\if :pending
\ir ../../migrations/V231__record_rows_read.sql
\endif

\set checksum 'cd2ad3494d29e02a2b7d4c61f16ff06626b23844c6b27581c15d73b5d513bd34'
\set migration 'V245__helpers_of_one_caller'
\ir ../setup/claim.psql
\if :pending
\ir ../../migrations/V245__helpers_of_one_caller.sql
\endif

\set checksum 'aa2f14f821c3eb590c2e6f65a6a262901782cf8101ec2fec146134a25f750453'
\set migration 'V255__awaited_is_a_table'
\ir ../setup/claim.psql
\if :pending
\ir ../../migrations/V255__awaited_is_a_table.sql
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
\ir ../../procedures/omd/templates/_render.sql
\ir ../../procedures/omd/arguments/did_you_mean.sql
\ir ../../procedures/omd/errors/shown_value.sql
\ir ../../procedures/omd/errors/raise_error.sql
\ir ../../procedures/omd/arguments/require_argument.sql
\ir ../../procedures/omd/install/put_trigger.sql
\ir ../../procedures/omd/install/put_view.sql
\ir ../../procedures/omd/install/room_hooks.sql
\ir ../../procedures/omd/install/_check_hook.sql
\ir ../../procedures/omd/deaths/_statement_runs.sql
\ir ../../procedures/omd/deaths/_lease_of_statement.sql
\ir ../../procedures/omd/deaths/_cause_of_death.sql
\ir ../../procedures/omd/deaths/session_lives.sql
\ir ../../procedures/omd/edits/editor.sql
\ir ../../procedures/omd/deaths/_may_be_proven_dead.sql
\ir ../../procedures/omd/edits/is_by_hand.sql
\ir ../../procedures/omd/failures/_who_failed_it.sql
\ir ../../procedures/omd/tables/quote_table.sql
\ir ../../procedures/omd/tables/spell_table.sql
\ir ../../procedures/omd/templates/_quote_column.sql
\ir ../../procedures/omd/templates/_quote_value.sql
\ir ../../procedures/omd/tables/target_relation.sql
\ir ../../procedures/omd/arguments/json_items.sql
\ir ../../procedures/omd/arguments/document_problem.sql
\ir ../../procedures/omd/tables/target_exists.sql
\ir ../../procedures/omd/tables/target_column_type.sql
\ir ../../procedures/omd/registration/_column_is_indexed.sql
\ir ../../procedures/omd/arguments/require_filter.sql
\ir ../../procedures/omd/arguments/require_chunk.sql
\ir ../../procedures/omd/log/write_event.sql
\ir ../../procedures/omd/edits/write_edit.sql
\ir ../../procedures/omd/log/notify.sql
\ir ../../procedures/omd/log/_tell_instance.sql
\ir ../../procedures/omd/arguments/require_code.sql
\ir ../../procedures/omd/arguments/require_name.sql
\ir ../../procedures/omd/arguments/is_time_zone.sql
\ir ../../procedures/omd/arguments/is_count.sql
\ir ../../procedures/omd/edits/_refuse_next_run_indicator.sql
\ir ../../procedures/omd/arguments/_require_batch.sql
\ir ../../procedures/omd/arguments/_require_module.sql
\ir ../../procedures/omd/deaths/_require_lease.sql
\ir ../../procedures/omd/runs/_require_context.sql
\ir ../../procedures/omd/runs/_session_context.sql
\ir ../../procedures/omd/transactions/require_read_committed.sql
\ir ../../procedures/omd/transactions/_refused_commit.sql
\ir ../../procedures/omd/transactions/ask_whether_to_commit.sql
\ir ../../procedures/omd/transactions/require_no_transaction_block.sql
\ir ../../procedures/omd/transactions/hold_off_vacuum.sql
\ir ../../procedures/omd/batches/_require_batch_instance.sql
\ir ../../procedures/omd/failures/why_failed.sql
\ir ../../procedures/omd/errors/context_within.sql
\ir ../../procedures/omd/errors/reads_rows.sql
\ir ../../procedures/omd/errors/shown_error.sql
\ir ../../procedures/omd/errors/error_text.sql
\ir ../../procedures/omd/errors/shown_failure.sql
\ir ../../procedures/omd/errors/failure_text.sql
\ir ../../procedures/omd/errors/shell_argument.sql
\ir ../../procedures/omd/install/hide_columns.sql
\ir ../../procedures/omd/batches/_raise_batch_instance_state.sql
\ir ../../procedures/omd/runs/_raise_module_instance_state.sql
\ir ../../procedures/omd/runs/_module_has_newer_failure.sql
\ir ../../procedures/omd/rollback/_awaits_rollback.sql
\ir ../../procedures/omd/states/_is_open.sql
\ir ../../procedures/omd/states/instance_of_task.sql
\ir ../../procedures/omd/states/instance_outcome.sql
\ir ../../procedures/omd/runs/_executing_module_instances.sql
\ir ../../procedures/omd/runs/_waiting_module_instances.sql
\ir ../../procedures/omd/runs/open_module_instances.sql
\ir ../../procedures/omd/batches/_executing_batch_instances.sql
\ir ../../procedures/omd/batches/_failed_chains.sql
\ir ../../procedures/omd/batches/_last_real_batch_run.sql
\ir ../../procedures/omd/runs/_last_real_module_run.sql
\ir ../../procedures/omd/templates/_descendants.sql
\ir ../../procedures/omd/templates/_sharing_relations.sql
\ir ../../procedures/omd/templates/_sharing_modules.sql
\ir ../../procedures/omd/templates/_truncate_would_harm.sql
\ir ../../procedures/omd/rollback/_undo_routines.sql
\ir ../../procedures/omd/templates/_fitting_templates.sql
\ir ../../procedures/omd/templates/has_rollback_template.sql
\ir ../../procedures/omd/rollback/_with_later_windows.sql
\ir ../../procedures/omd/rollback/pending_rollback.sql
\ir ../../procedures/omd/rollback/_direct_companions.sql
\ir ../../procedures/omd/foreign_keys/_undone_tables.sql
\ir ../../procedures/omd/foreign_keys/_referencing_tables.sql
\ir ../../procedures/omd/foreign_keys/_referencing_modules.sql
\ir ../../procedures/omd/rollback/_companion_instances.sql
\ir ../../procedures/omd/batches/_batch_rollback_is_pending.sql
\ir ../../procedures/omd/batches/_frequency_holds_until.sql
\ir ../../procedures/omd/batches/_child_has_succeeded.sql
\ir ../../procedures/omd/templates/_missing_columns.sql
\ir ../../procedures/omd/templates/_takes_delete.sql
\ir ../../procedures/omd/registration/_module_problems.sql
\ir ../../procedures/omd/registration/targets_without_identity.sql

-- Registration and parameters
\ir ../../procedures/omd/registration/register_area.sql
\ir ../../procedures/omd/registration/register_table_type.sql
\ir ../../procedures/omd/registration/register_event_type.sql
\ir ../../procedures/omd/registration/register_frequency.sql
\ir ../../procedures/omd/registration/register_batch.sql
\ir ../../procedures/omd/templates/_rollback_values.sql
\ir ../../procedures/omd/templates/_way_of_undoing.sql
\ir ../../procedures/omd/registration/_require_nothing_to_undo.sql
\ir ../../procedures/omd/registration/_require_expiry_date.sql
\ir ../../procedures/omd/registration/_require_target.sql
\ir ../views/omd/registration/own_kind.sql
\ir ../../procedures/omd/registration/_require_job.sql
\ir ../../procedures/omd/registration/_kind_without_room.sql
\ir ../../procedures/omd/registration/_require_backoff.sql
\ir ../../procedures/omd/registration/save_module.sql
\ir ../../procedures/omd/registration/_save_start_hint.sql
\ir ../../procedures/omd/registration/register_module.sql
\ir ../../procedures/omd/registration/set_module_kind.sql
\ir ../../procedures/omd/templates/_unknown_placeholder.sql
\ir ../../procedures/omd/templates/register_rollback.sql
\ir ../../procedures/omd/templates/register_area_rollback.sql
\ir ../../procedures/omd/registration/add_module_to_batch.sql
\ir ../../procedures/omd/registration/add_batch_to_parent_batch.sql
\ir ../../procedures/omd/registration/remove_module_from_batch.sql
\ir ../../procedures/omd/registration/remove_batch_from_parent_batch.sql
\ir ../../procedures/omd/registration/rename_batch.sql
\ir ../../procedures/omd/registration/rename_module.sql
\ir ../../procedures/omd/registration/retire_batch.sql
\ir ../../procedures/omd/registration/retire_module.sql
\ir ../../procedures/omd/registration/set_parameter.sql
\ir ../../procedures/omd/registration/parameter_value.sql
\ir ../../procedures/omd/registration/module_definition.sql
\ir ../../procedures/omd/registration/module_document.sql
\ir ../../procedures/omd/registration/batch_members.sql

-- Batches
\ir ../../procedures/omd/batches/_lock_members.sql
\ir ../../procedures/omd/batches/_close_batch_instance.sql
\ir ../../procedures/omd/batches/_fail_members.sql
\ir ../../procedures/omd/batches/_fail_batch_instance.sql
\ir ../../procedures/omd/deaths/_give_up_batch_instances.sql
\ir ../../procedures/omd/batches/_insert_batch_instance.sql
\ir ../../procedures/omd/batches/_direct_modules_of_batch.sql
\ir ../../procedures/omd/batches/_decide_batch.sql
\ir ../../procedures/omd/batches/create_batch_instance.sql
\ir ../../procedures/omd/batches/evaluate_batch.sql
\ir ../../procedures/omd/batches/begin_batch.sql
\ir ../../procedures/omd/batches/batch_success.sql
\ir ../../procedures/omd/batches/batch_failure.sql
\ir ../../procedures/omd/batches/batch_skip.sql
\ir ../../procedures/omd/batches/batch_abort.sql
\ir ../../procedures/omd/batches/abort_run.sql
\ir ../../procedures/omd/batches/previous_batch_instance.sql
\ir ../../procedures/omd/deaths/heartbeat_batch.sql
\ir ../../procedures/omd/batches/_hold_batch_instance.sql

-- Modules
\ir ../../procedures/omd/failures/_pause_after.sql
\ir ../../procedures/omd/failures/_claim_of_session.sql
\ir ../../procedures/omd/failures/count_failure.sql
\ir ../../procedures/omd/failures/clear_failures.sql
\ir ../../procedures/omd/failures/note_look.sql
\ir ../../procedures/omd/failures/note_news.sql
\ir ../../procedures/omd/failures/is_of_the_call.sql
\ir ../../procedures/omd/failures/note_failure.sql
\ir ../../procedures/omd/runs/last_context.sql
\ir ../../procedures/omd/failures/start_hint.sql
\ir ../../procedures/omd/errors/role_hint.sql
\ir ../../procedures/omd/failures/_forget_attempts.sql
\ir ../../procedures/omd/failures/retry.sql
\ir ../../procedures/omd/runs/_close_module_instance.sql
\ir ../../procedures/omd/runs/fail_module_instance.sql
\ir ../../procedures/omd/deaths/give_up_runs_of_task.sql
\ir ../../procedures/omd/failures/note_end_of_task.sql
\ir ../../procedures/omd/rollback/_settle_undone.sql
\ir ../../procedures/omd/rollback/note_undone.sql
\ir ../../procedures/omd/rollback/mark_undone.sql
\ir ../../procedures/omd/runs/note_one_transaction.sql
\ir ../../procedures/omd/deaths/_give_up_module_instances.sql
\ir ../../procedures/omd/runs/_decide_module.sql
\ir ../../procedures/omd/runs/_open_module_instance.sql
\ir ../../procedures/omd/runs/_answer_module.sql
\ir ../../procedures/omd/rollback/_rollback_parts.sql
\ir ../../procedures/omd/rollback/_rollback_plan.sql
\ir ../../procedures/omd/templates/_instead_of_truncate.sql
\ir ../../procedures/omd/templates/_is_run_of.sql
\ir ../../procedures/omd/writes/_stamp_column.sql
\ir ../../procedures/omd/templates/_has_strangers.sql
\ir ../../procedures/omd/deaths/_oldest_of_last_runs.sql
\ir ../../procedures/omd/deaths/_dead_runs.sql
\ir ../../procedures/omd/deaths/_note_left_rows.sql
\ir ../../procedures/omd/deaths/_look_for_left_rows.sql
\ir ../../procedures/omd/deaths/find_left_rows.sql
\ir ../../procedures/omd/templates/_look_before_truncate.sql
\ir ../../procedures/omd/rollback/rollback_steps.sql
\ir ../../procedures/omd/rollback/build_rollback_sql.sql
\ir ../../procedures/omd/rollback/preview_rollback.sql
\ir ../../procedures/omd/rollback/_claim_companions.sql
\ir ../../procedures/omd/rollback/_require_rollback.sql
\ir ../../procedures/omd/rollback/_mark_rolled_back.sql
\ir ../../procedures/omd/rollback/_refuse_left_rows.sql
\ir ../../procedures/omd/rollback/_confirm_rollback.sql
\ir ../../procedures/omd/rollback/confirm_rollback.sql
\ir ../../procedures/omd/rollback/_refuse_rollback.sql
\ir ../../procedures/omd/foreign_keys/_unseen_reference.sql
\ir ../../procedures/omd/foreign_keys/_lossy_constraints.sql
\ir ../../procedures/omd/foreign_keys/_referring_rows.sql
\ir ../../procedures/omd/foreign_keys/_lossy_keys.sql
\ir ../../procedures/omd/foreign_keys/_guarded_places.sql
\ir ../../procedures/omd/foreign_keys/may_lose_rows.sql
\ir ../../procedures/omd/foreign_keys/_take_referring.sql
\ir ../../procedures/omd/foreign_keys/find_loss.sql
\ir ../../procedures/omd/foreign_keys/find_references.sql
\ir ../../procedures/omd/foreign_keys/_missing_right.sql
\ir ../../procedures/omd/foreign_keys/delete_stamped.sql
\ir ../../procedures/omd/foreign_keys/_refuse_losses.sql
\ir ../../procedures/omd/rollback/_is_undone_in.sql
\ir ../../procedures/omd/rollback/_require_deletable.sql
\ir ../../procedures/omd/rollback/_keep_deferred.sql
\ir ../../procedures/omd/rollback/_sessions_of_undone.sql
\ir ../../procedures/omd/rollback/rollback_module.sql
\ir ../../procedures/omd/rollback/_resume_begin.sql
\ir ../../procedures/omd/rollback/_settle_rollback.sql
\ir ../../procedures/omd/rollback/_ask_rollback.sql
\ir ../../procedures/omd/rollback/undo_instances.sql
\ir ../../procedures/omd/runs/create_module_instance.sql
\ir ../../procedures/omd/runs/evaluate_module.sql
\ir ../../procedures/omd/runs/begin_module.sql
\ir ../../procedures/omd/rollback/undo_left.sql
\ir ../../procedures/omd/rollback/_undo_for_room.sql
\ir ../../procedures/omd/runs/begin_for_room.sql
\ir ../../procedures/omd/returns/_fill_returns.sql
\ir ../../procedures/omd/runs/module_success.sql
\ir ../../procedures/omd/rollback/succeed_rollback.sql
\ir ../../procedures/omd/runs/module_failure.sql
\ir ../../procedures/omd/runs/record_failure.sql
\ir ../../procedures/omd/runs/module_skip.sql
\ir ../../procedures/omd/runs/module_abort.sql
\ir ../../procedures/omd/runs/previous_module_instance.sql

-- Recalls
\ir ../../procedures/omd/recalls/mark_taken_back.sql
\ir ../../procedures/omd/recalls/_recall_parts.sql
\ir ../../procedures/omd/recalls/recall_counts.sql
\ir ../../procedures/omd/recalls/note_undone_elsewhere.sql
\ir ../../procedures/omd/recalls/undone_elsewhere.sql
\ir ../../procedures/omd/recalls/runs_of_lake.sql
\ir ../../procedures/omd/recalls/rows_of_runs.sql
\ir ../../procedures/omd/recalls/require_taken_on.sql
\ir ../../procedures/omd/recalls/_end_take_back.sql
\ir ../../procedures/omd/recalls/take_back_rows.sql
\ir ../../procedures/omd/recalls/ask_for_rollback.sql
\ir ../../procedures/omd/recalls/give_up_readers.sql
\ir ../../procedures/omd/recalls/_recall_runs.sql
\ir ../../procedures/omd/recalls/recall_follows.sql
\ir ../../procedures/omd/recalls/recall_effects.sql
\ir ../../procedures/omd/recalls/recall_locks.sql
\ir ../../procedures/omd/recalls/take_back.sql
\ir ../../procedures/omd/states/runs_that_stand.sql
\ir ../../procedures/omd/states/runs_of_batch_instance.sql
\ir ../../procedures/omd/states/runs_of_modules.sql
\ir ../../procedures/omd/states/runs_outside.sql
\ir ../../procedures/omd/recalls/lock_sources.sql
\ir ../../procedures/omd/recalls/lock_modules.sql
\ir ../../procedures/omd/states/runs_at_work.sql
\ir ../../procedures/omd/deaths/give_up_dead_runs.sql
\ir ../../procedures/omd/recalls/begin_recall.sql
\ir ../../procedures/omd/recalls/end_recall.sql
\ir ../../procedures/omd/returns/await_return.sql

\ir ../../procedures/omd/windows/record_load_window.sql
\ir ../../procedures/omd/sources/declare_source.sql
\ir ../../procedures/omd/sources/move_source.sql
\ir ../../procedures/omd/sources/hold_source.sql
\ir ../../procedures/omd/sources/close_source.sql
\ir ../../procedures/omd/sources/take_source.sql
\ir ../../procedures/omd/sources/declare_runs.sql
\ir ../../procedures/omd/sources/declare_runs_of.sql
\ir ../../procedures/omd/sources/declare_runs_under.sql
\ir ../../procedures/omd/sources/source_of.sql
\ir ../../procedures/omd/windows/block_view.sql
\ir ../../procedures/omd/windows/plan_block.sql
\ir ../../procedures/omd/sources/next_run.sql
\ir ../../procedures/omd/sources/next_position.sql
\ir ../../procedures/omd/windows/block_stands.sql
\ir ../../procedures/omd/windows/block_routine.sql
\ir ../../procedures/omd/windows/show_block.sql
\ir ../../procedures/omd/windows/open_block.sql
\ir ../../procedures/omd/windows/block_upto.sql
\ir ../../procedures/omd/runs/abort_written.sql
\ir ../../procedures/omd/sources/declare_reader.sql
\ir ../../procedures/omd/sources/source_readers.sql
\ir ../../procedures/omd/sources/note_passed.sql
\ir ../../procedures/omd/windows/succeeded_windows.sql
\ir ../../procedures/omd/windows/last_window.sql
\ir ../../procedures/omd/windows/load_window_start.sql
\ir ../../procedures/omd/windows/block_start.sql
\ir ../../procedures/omd/windows/create_load_window.sql
\ir ../../procedures/omd/deaths/heartbeat.sql
\ir ../../procedures/omd/writes/fence.sql
\ir ../../procedures/omd/writes/recorded_write.sql
\ir ../../procedures/omd/writes/record_write.sql
\ir ../../procedures/omd/writes/next_write_number.sql
\ir ../../procedures/omd/deaths/reap_expired_instances.sql
\ir ../../procedures/omd/log/log_event.sql
\ir ../../procedures/omd/writes/audit_column_values.sql
\ir ../../procedures/omd/edits/_indicator_problem.sql
\ir ../../procedures/omd/edits/set_next_run_indicator.sql
\ir ../../procedures/omd/edits/end_module_instance.sql
\ir ../../procedures/omd/deaths/report_death.sql
\ir ../../procedures/omd/deaths/withdraw_fenced.sql
\ir ../../procedures/omd/edits/end_batch_instance.sql
\ir ../../procedures/omd/edits/_instances_matching.sql
\ir ../../procedures/omd/edits/count_instances.sql
\ir ../../procedures/omd/edits/_note_bulk.sql
\ir ../../procedures/omd/edits/set_next_run_indicators.sql
\ir ../../procedures/omd/edits/end_instances.sql
\ir ../../procedures/omd/runs/_explain_reason.sql
\ir ../../procedures/omd/runs/_foresee_begin.sql
\ir ../../procedures/omd/runs/explain_begin.sql
\ir ../../procedures/omd/runs/why_no_run.sql
\ir ../../procedures/omd/runs/next_program.sql
\ir ../../procedures/omd/runs/_act_of_kind.sql
\ir ../../procedures/omd/runs/next_act.sql

-- Retention
\ir ../../procedures/omd/purge/_oldest_needed_module_instance.sql
\ir ../../procedures/omd/purge/_oldest_needed_batch_instance.sql
\ir ../../procedures/omd/purge/purge_cutoff.sql
\ir ../../procedures/omd/purge/_prepare_purge.sql
\ir ../../procedures/omd/purge/_without_needed.sql
\ir ../../procedures/omd/purge/_purge_module_instances.sql
\ir ../../procedures/omd/purge/_purge_batch_instances.sql
\ir ../../procedures/omd/purge/_purge_events.sql
\ir ../../procedures/omd/purge/_note_purge.sql
\ir ../../procedures/omd/purge/_require_purge.sql
\ir ../../procedures/omd/purge/purge.sql
\ir ../../procedures/omd/purge/_old_history.sql

-- In-database runs
\ir ../../procedures/omd/database_runs/_require_database_run.sql
\ir ../../procedures/omd/database_runs/begin_in_database_run.sql
\ir ../../procedures/omd/states/reason_of.sql
\ir ../../procedures/omd/states/return_code_of.sql
\ir ../../procedures/omd/database_runs/begin_run.sql
\ir ../../procedures/omd/database_runs/end_run.sql
\ir ../../procedures/omd/database_runs/tell_row_counts.sql
\ir ../../procedures/omd/database_runs/tell_discarded_rows.sql
\ir ../../procedures/omd/database_runs/_listed_settings.sql
\ir ../../procedures/omd/database_runs/_named_settings.sql
\ir ../../procedures/omd/database_runs/_session_settings.sql
\ir ../../procedures/omd/database_runs/_changed_settings.sql
\ir ../../procedures/omd/database_runs/_restore_settings.sql
\ir ../../procedures/omd/database_runs/_written_rows.sql
\ir ../../procedures/omd/database_runs/execute_module.sql
\ir ../../procedures/omd/database_runs/_routines_of_kind.sql
\ir ../../procedures/omd/database_runs/finish_run.sql
\ir ../../procedures/omd/batches/_members_of_instance.sql
\ir ../../procedures/omd/batches/_member_problem.sql
\ir ../../procedures/omd/batches/_note_member.sql
\ir ../../procedures/omd/batches/next_member.sql
\ir ../../procedures/omd/database_runs/_try_begin.sql
\ir ../../procedures/omd/database_runs/_raise_again.sql
\ir ../../procedures/omd/database_runs/_execute_runs.sql
\ir ../../procedures/omd/database_runs/run_module.sql
\ir ../../procedures/omd/database_runs/_require_database_batch.sql
\ir ../../procedures/omd/database_runs/_execute_batch.sql
\ir ../../procedures/omd/database_runs/run_batch.sql
\ir ../../procedures/omd/edits/_guard_instance_edit.sql
\ir ../../procedures/omd/edits/_log_definition_edit.sql
\ir ../../procedures/omd/registration/_guard_module_delete.sql

-- For other rooms
\ir ../../procedures/omd/writes/insert_column.sql
\ir ../../procedures/omd/states/instance_state.sql
\ir ../../procedures/omd/deaths/instance_lives.sql
\ir ../../procedures/omd/states/instances_since.sql
\ir ../../procedures/omd/states/undone_instances.sql
\ir ../../procedures/omd/states/standing_runs.sql
\ir ../../procedures/omd/recalls/recalled_runs.sql
\ir ../../procedures/omd/recalls/note_pending.sql
\ir ../../procedures/omd/returns/keep_window.sql
\ir ../../procedures/omd/returns/next_window_return.sql
\ir ../../procedures/omd/returns/take_window.sql
\ir ../../procedures/omd/returns/taken_window.sql
\ir ../../procedures/omd/returns/end_window.sql
\ir ../../procedures/omd/returns/drop_windows.sql
\ir ../../procedures/omd/returns/extend_window.sql
\ir ../../procedures/omd/returns/reopen_window.sql
\ir ../../procedures/omd/returns/settle_return.sql
\ir ../../procedures/omd/returns/drop_return.sql
\ir ../views/omd/returns/awaited_return.sql
\ir ../views/omd/returns/return_work.sql
\ir ../views/omd/registration/module_target.sql
\ir ../views/omd/runs/open_instance.sql
\ir ../views/omd/failures/module_pause.sql
\ir ../../procedures/omd/states/running_modules.sql
\ir ../views/omd/inputs/source_position.sql
\ir ../../procedures/omd/inputs/_bound_routine.sql
\ir ../../procedures/omd/tables/relations_under.sql
\ir ../../procedures/omd/tables/topmost_parents.sql
\ir ../../procedures/omd/tables/base_tables.sql
\ir ../../procedures/omd/inputs/_uncut_reads.sql
\ir ../../procedures/omd/inputs/_tables_of_input.sql
\ir ../../procedures/omd/inputs/save_inputs.sql
\ir ../../procedures/omd/inputs/has_inputs.sql
\ir ../../procedures/omd/inputs/is_readable.sql
\ir ../../procedures/omd/inputs/declare_inputs.sql
\ir ../../procedures/omd/inputs/note_reads.sql
\ir ../../procedures/omd/inputs/record_run_input.sql
\ir ../../procedures/omd/inputs/_reading_run.sql
\ir ../../procedures/omd/inputs/record_input.sql
\ir ../../procedures/omd/inputs/_needs_look.sql
\ir ../../procedures/omd/inputs/_statement_inputs.sql
\ir ../../procedures/omd/inputs/_save_look.sql
\ir ../../procedures/omd/inputs/_look_at_sql.sql
\ir ../../procedures/omd/inputs/_record_look.sql
\ir ../../procedures/omd/inputs/record_query.sql
\ir ../../procedures/omd/inputs/_record_sql.sql
\ir ../../procedures/omd/inputs/_due_looks.sql
\ir ../../procedures/omd/inputs/_look_again.sql
\ir ../../procedures/omd/maintenance/require_maintenance.sql
\ir ../../procedures/omd/inputs/_look_at_due.sql
\ir ../../procedures/omd/inputs/look_at_inputs.sql
\ir ../../procedures/omd/inputs/look_at_runs.sql
\ir ../../procedures/omd/maintenance/_claim_maintenance.sql
\ir ../../procedures/omd/maintenance/maintain_rooms.sql
\ir ../views/omd/inputs/unknown_inputs.sql
\ir ../views/omd/ledger/ledger_run.sql
\ir ../views/omd/ledger/ledger_module.sql
\ir ../views/omd/ledger/ledger_declaration.sql
\ir ../views/omd/ledger/ledger_input.sql
\ir ../views/omd/ledger/ledger_record.sql
\ir ../views/omd/ledger/ledger_read.sql
\ir ../views/omd/ledger/ledger_undone.sql
\ir ../views/omd/ledger/ledger_window.sql
\ir ../views/omd/registration/described_module.sql
\ir ../views/omd/runs/described_module_instance.sql
\ir ../views/omd/runs/described_batch_instance.sql
\ir ../../procedures/omd/tables/output_tables.sql
\ir ../../procedures/omd/install/product_version.sql
\ir ../../procedures/omd/sources/undeclared_readers.sql
\ir ../../procedures/omd/tables/base_tables_of_module.sql
\ir ../../procedures/omd/tables/tables_of_run.sql
\ir ../../procedures/omd/tables/modules_writing.sql
\ir ../../procedures/omd/tables/tables_of_modules.sql
\ir ../../procedures/omd/tables/table_family.sql
\ir ../../procedures/omd/sources/oldest_writer.sql
\ir ../../procedures/omd/transactions/transaction_before.sql
\ir ../../procedures/omd/sources/readable_until.sql
\ir ../../procedures/omd/sources/visible_until.sql
\ir ../../procedures/omd/tables/relations_over.sql
\ir ../views/omd/returns/open_window.sql
\ir ../../procedures/omd/returns/awaited.sql
\ir ../../procedures/omd/returns/awaited_tables.sql
\ir ../../procedures/omd/returns/awaited_circles.sql
\ir ../../procedures/omd/tables/written_tables.sql
\ir ../../procedures/omd/inputs/first_read.sql
\ir ../../procedures/omd/writes/key_match.sql
\ir ../../procedures/omd/writes/stamp_columns.sql
\ir ../../procedures/omd/writes/shown_stamp_columns.sql
\ir ../../procedures/omd/writes/explained_target.sql
\ir ../../procedures/omd/states/shown_runs.sql
\ir ../views/omd/ledger/standing_read.sql
\ir ../../procedures/omd/inputs/tell_undo.sql
\ir ../../procedures/omd/writes/stamp_datetime.sql
\ir ../../procedures/omd/writes/begin_write.sql
\ir ../views/omd/failures/failure_event.sql

-- For those who follow the instances, and speak outside
\ir ../views/omd/ledger/ledger_batch.sql
\ir ../views/omd/runs/followed_batch_instance.sql
\ir ../views/omd/runs/followed_module_instance.sql
\ir ../../procedures/omd/server/installation_id.sql
\ir ../../procedures/omd/server/primary_server.sql
\ir ../../procedures/omd/server/_server_now.sql
\ir ../views/omd/server/open_server_change.sql
\ir ../../procedures/omd/server/server_is_known.sql
\ir ../../procedures/omd/server/require_known_server.sql
\ir ../../procedures/omd/server/_change_of_server.sql
\ir ../../procedures/omd/server/_skip_numbers.sql
\ir ../../procedures/omd/server/_skip_counters.sql
\ir ../../procedures/omd/server/_clear_server_bound.sql
\ir ../../procedures/omd/server/_settle_server.sql
\ir ../../procedures/omd/server/settle_server.sql
\ir ../../procedures/omd/server/get_ready_for_id.sql
\ir ../../procedures/omd/server/unready_for_id.sql
\ir ../../procedures/omd/server/skip_ids.sql
\ir ../../procedures/omd/install/version.sql
\ir ../../procedures/omd/server/confirm_server.sql

-- Erasure
\ir ../../procedures/omd/erasure/mask_text.sql
\ir ../../procedures/omd/erasure/mask_json.sql
\ir ../../procedures/omd/erasure/mask_columns.sql
\ir ../../procedures/omd/erasure/erase_texts.sql

-- Triggers
\ir ../triggers/omd/instance_edit.sql
\ir ../triggers/omd/definition_edit.sql
\ir ../triggers/omd/module_delete.sql
\ir ../triggers/omd/room_hook.sql

-- Reporting views
\ir ../views/omd/registration/batch_list.sql
\ir ../views/omd/inputs/module_inputs.sql
\ir ../views/omd/registration/module_list.sql
\ir ../views/omd/registration/batch_module_list.sql
\ir ../views/omd/runs/current_processing.sql
\ir ../views/omd/runs/batch_execution_log.sql
\ir ../views/omd/runs/module_execution_log.sql
\ir ../views/omd/runs/event_log.sql
\ir ../views/omd/rollback/directives.sql
\ir ../views/omd/registration/parameter_list.sql
\ir ../views/omd/failures/failures.sql
\ir ../views/omd/registration/readiness.sql
\ir ../views/omd/failures/expired_lease.sql
\ir ../views/omd/failures/overdue_batch.sql
\ir ../views/omd/failures/failed_batch.sql
\ir ../views/omd/failures/exceptions.sql
\ir ../views/omd/failures/problem_list.sql
\ir ../views/omd/rollback/pending_rollbacks.sql
\ir ../views/omd/failures/common_errors.sql
\ir ../views/omd/runs/cumulative_load_time.sql
\ir ../views/omd/runs/throughput_per_day.sql
\ir ../views/omd/registration/audit_columns.sql
\ir ../views/omd/runs/trace.sql
\ir ../views/omd/runs/write_log.sql
\ir ../views/omd/server/server.sql
\ir ../views/omd/server/server_changes.sql
\ir ../../procedures/omd/install/table_bytes.sql
\ir ../views/omd/install/footprint.sql
\ir ../views/omd/install/upgrade.sql
\ir ../../procedures/omd/install/comment_parts.sql
\ir ../views/omd/install/routine_list.sql

-- What is called by its name
\ir ../reference/omd/hooks.sql

-- Grants
\ir ../grants/omd.sql
\endif

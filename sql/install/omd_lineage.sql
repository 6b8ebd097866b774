-- This list says what is installed for lineage, in order. sql/install.sql includes it.

\set checksum 'afba65c822f6c6631aaebdbee5038ab5a198985acf4631f1b8894fc3e434284e'
\set phase 'baseline'
\set migration 'V152__omd_lineage'
\ir ../setup/claim.psql
\if :pending
\ir ../../migrations/V152__omd_lineage.sql
\endif

\set checksum '5c1409d643d79b17ad6f375412d8c6aec8fde55f42d24921dcd7f2d6bd2ecab7'
\set migration 'V160__lineage_looks_as_the_caller'
\ir ../setup/claim.psql
\if :pending
\ir ../../migrations/V160__lineage_looks_as_the_caller.sql
\endif

\set checksum 'f2eab99ab8dfca857fac81f0524526d34611ee2e72898154a852ddccf20d606c'
\set migration 'V175__read_beside_blocks'
\ir ../setup/claim.psql
\if :pending
\ir ../../migrations/V175__read_beside_blocks.sql
\endif

\set checksum '61b0b3ca001047749849b2ae58a52d01560fe73febd53f89020404389ed03e3d'
\set phase 'expand'
\set locks 'omd_lineage.topic, omd_lineage.offsets, omd_lineage.source_probe'
\set migration 'V176__whole_instants'
\ir ../setup/claim.psql
\if :pending
\ir ../../migrations/V176__whole_instants.sql
\endif

\set checksum '560d970626eda7a7fafb76849207976c75b32e2523e1267e12882e0063e0fc84'
\set migration 'V177__whole_instants_routines'
\ir ../setup/claim.psql
\if :pending
\ir ../../migrations/V177__whole_instants_routines.sql
\endif

\set checksum 'ceac42397209713a7872adafe6dd09086c2cdaa339d8ef4d5990c08ab010db91'
\set migration 'V201__checks_in_the_log'
\ir ../setup/claim.psql
\if :pending
\ir ../../migrations/V201__checks_in_the_log.sql
\endif

\set checksum 'fd0eca65d5539878a0d9d24c190d534fcd20031a06d156ed64abe6a3e3946f7f'
\set migration 'V204__comment_of_attempts'
\ir ../setup/claim.psql
\if :pending
\ir ../../migrations/V204__comment_of_attempts.sql
\endif

\set checksum '536c30f0724e56bdc10a2229ad0eda1693d28e764adb972798774a3e40b3734d'
\set migration 'V209__status_of_steps'
\ir ../setup/claim.psql
\if :pending
\ir ../../migrations/V209__status_of_steps.sql
\endif

\set checksum '60d1a1f0832c3c2131554145beb880b21e7abd9495fbeb8580d3e288efea6eab'
\set migration 'V222__blocks_by_kind'
\ir ../setup/claim.psql
\if :pending
\ir ../../migrations/V222__blocks_by_kind.sql
\endif

\set checksum '88588b6341409796ee8fe380569c69d6862e24c00f1f7933a4f6520332cd06f5'
\set migration 'V223__former_blocks_by_name'
\ir ../setup/claim.psql
\if :pending
\ir ../../migrations/V223__former_blocks_by_name.sql
\endif

\set checksum 'f5457aae515decdc2b053d32b4e593c8656e7b408f53ee9e08016b69788ae9d2'
\set migration 'V256__fewer_statements_of_a_step'
\ir ../setup/claim.psql
\if :pending
\ir ../../migrations/V256__fewer_statements_of_a_step.sql
\endif

\if :is_install
-- Reference rows
\ir ../reference/omd_lineage/error_catalogue.sql
\ir ../reference/omd_lineage/server.sql
\ir ../reference/omd_lineage/module_kinds.sql
\ir ../reference/omd_lineage/maintenance.sql
\ir ../reference/omd_lineage/purge_steps.sql
\ir ../reference/omd_lineage/texts.sql

-- Helpers
\ir ../../procedures/omd_lineage/topics/_topic_parts.sql
\ir ../../procedures/omd_lineage/topics/_require_topic.sql
\ir ../../procedures/omd_lineage/ready/_in_run_window.sql
\ir ../../procedures/omd_lineage/horizon/_horizon.sql
\ir ../../procedures/omd_lineage/newest_instant/_is_whole_upto.sql
\ir ../../procedures/omd_lineage/horizon/_is_ahead.sql
\ir ../../procedures/omd_lineage/newest_instant/_reads_wholly.sql
\ir ../../procedures/omd_lineage/ready/_notify_topic.sql
\ir ../../procedures/omd_lineage/blocks/_block_pos.sql
\ir ../../procedures/omd_lineage/blocks/block_start.sql
\ir ../../procedures/omd_lineage/blocks/block_end.sql
\ir ../../procedures/omd_lineage/blocks/in_block.sql
\ir ../../procedures/omd_lineage/blocks/until_block_end.sql
\ir ../../procedures/omd_lineage/blocks/id_in_block.sql
\ir ../../procedures/omd_lineage/steps/_holder_lives.sql
\ir ../../procedures/omd_lineage/sources/_source_kind.sql
\ir ../../procedures/omd_lineage/sources/_settle_source_offset.sql
\ir ../../procedures/omd_lineage/blocks/_block_source.sql
\ir ../../procedures/omd_lineage/blocks/_block_stands.sql
\ir ../../procedures/omd_lineage/blocks/_is_closed.sql
\ir ../views/omd_lineage/dependency_offsets.sql
\ir ../views/omd_lineage/base_table.sql
\ir ../views/omd_lineage/source_list.sql
\ir ../views/omd_lineage/restatement_list.sql

-- Topics
\ir ../../procedures/omd_lineage/late_rows/_writer.sql
\ir ../../procedures/omd_lineage/late_rows/_uncounted_instances.sql
\ir ../../procedures/omd_lineage/positions/_former_name.sql
\ir ../../procedures/omd_lineage/positions/_why_unreadable.sql
\ir ../../procedures/omd_lineage/positions/_missing_index.sql
\ir ../../procedures/omd_lineage/positions/_unread_rows.sql
\ir ../../procedures/omd_lineage/positions/_pos_expression.sql
\ir ../../procedures/omd_lineage/positions/_require_position.sql
\ir ../../procedures/omd_lineage/positions/_kept_statement.sql
\ir ../../procedures/omd_lineage/positions/_newest_row.sql
\ir ../../procedures/omd_lineage/late_rows/_see_position.sql
\ir ../../procedures/omd_lineage/late_rows/_safe_position.sql
\ir ../../procedures/omd_lineage/newest_instant/_never_whole.sql
\ir ../../procedures/omd_lineage/newest_instant/_note_look.sql
\ir ../../procedures/omd_lineage/newest_instant/_may_become_whole.sql
\ir ../../procedures/omd_lineage/newest_instant/_taken_rows.sql
\ir ../../procedures/omd_lineage/sources/_move_source.sql
\ir ../../procedures/omd_lineage/sources/_leave_note.sql
\ir ../../procedures/omd_lineage/sources/_take_notes.sql
\ir ../../procedures/omd_lineage/states/_shown_state.sql
\ir ../../procedures/omd_lineage/states/_state_of.sql
\ir ../../procedures/omd_lineage/states/_write_state.sql
\ir ../../procedures/omd_lineage/sources/_save_probe.sql
\ir ../../procedures/omd_lineage/sources/_probe_source.sql
\ir ../../procedures/omd_lineage/sources/_try_probe.sql
\ir ../../procedures/omd_lineage/sources/_sources_to_probe.sql
\ir ../../procedures/omd_lineage/sources/_sources_to_watch.sql
\ir ../../procedures/omd_lineage/sources/probe_sources.sql
\ir ../../procedures/omd_lineage/ready/_normal_run_window.sql
\ir ../../procedures/omd_lineage/topics/_check_topic.sql
\ir ../../procedures/omd_lineage/topics/_register_topic_module.sql
\ir ../../procedures/omd_lineage/dependencies/_resolve_dependencies.sql
\ir ../../procedures/omd_lineage/dependencies/_require_no_cycle.sql
\ir ../../procedures/omd_lineage/topics/_require_one_kind.sql
\ir ../../procedures/omd_lineage/topics/_inserts_only.sql
\ir ../../procedures/omd_lineage/offsets/_holds_rows.sql
\ir ../../procedures/omd_lineage/offsets/_read_positions.sql
\ir ../../procedures/omd_lineage/offsets/_require_unplanned.sql
\ir ../../procedures/omd_lineage/offsets/_warn_of_rows_again.sql
\ir ../../procedures/omd_lineage/dependencies/_save_topic_inputs.sql
\ir ../../procedures/omd_lineage/dependencies/declare_missing.sql
\ir ../../procedures/omd_lineage/replacement/merges_rows.sql
\ir ../../procedures/omd_lineage/topics/_save_topic.sql
\ir ../../procedures/omd_lineage/topics/register_topic.sql
\ir ../../procedures/omd_lineage/undo/_open_runs.sql
\ir ../../procedures/omd_lineage/undo/undo_failed.sql
\ir ../../procedures/omd_lineage/topics/remove_topic.sql
\ir ../../procedures/omd_lineage/offsets/_set_offset.sql
\ir ../../procedures/omd_lineage/offsets/set_offset.sql
\ir ../../procedures/omd_lineage/failures/forget_attempts.sql
\ir ../../procedures/omd_lineage/steps/release.sql

-- Ranges to be taken again
\ir ../../procedures/omd_lineage/dependencies/_downstream.sql
\ir ../../procedures/omd_lineage/undo/_readers.sql
\ir ../../procedures/omd_lineage/undo/hear_undo.sql
\ir ../../procedures/omd_lineage/undo/readers_of.sql
\ir ../../procedures/omd_lineage/undo/_undo_preview.sql
\ir ../../procedures/omd_lineage/restate/_queue_restatement.sql
\ir ../../procedures/omd_lineage/restate/cancel_restate.sql
\ir ../../procedures/omd_lineage/restate/_next_restated_block.sql
\ir ../../procedures/omd_lineage/restate/_end_restatement.sql
\ir ../../procedures/omd_lineage/restate/_claim_restatement.sql
\ir ../../procedures/omd_lineage/restate/_forget_blocks.sql
\ir ../../procedures/omd_lineage/restate/_widen_restatement.sql
\ir ../../procedures/omd_lineage/restate/_widen_restatements.sql

-- Blocks to be taken again after a recall
\ir ../views/omd_lineage/awaiting_topics.sql
\ir ../../procedures/omd_lineage/recalls/_awaits.sql
\ir ../../procedures/omd_lineage/recalls/_is_recalled.sql
\ir ../../procedures/omd_lineage/recalls/_next_return.sql
\ir ../../procedures/omd_lineage/recalls/_claim_return.sql
\ir ../../procedures/omd_lineage/recalls/_start_returned_step.sql
\ir ../../procedures/omd_lineage/recalls/_end_returned_step.sql
\ir ../../procedures/omd_lineage/recalls/_recalled_topics.sql
\ir ../../procedures/omd_lineage/recalls/_rows_to_put_back.sql
\ir ../../procedures/omd_lineage/recalls/_give_back_steps.sql
\ir ../../procedures/omd_lineage/recalls/recall_follows.sql
\ir ../../procedures/omd_lineage/recalls/recall_effects.sql
\ir ../../procedures/omd_lineage/recalls/recall_locks.sql

-- Steps
\ir ../../procedures/omd_lineage/blocks/_walk_block.sql
\ir ../../procedures/omd_lineage/blocks/_next_changes.sql
\ir ../../procedures/omd_lineage/offsets/_offset_of.sql
\ir ../../procedures/omd_lineage/horizon/_what_limits.sql
\ir ../../procedures/omd_lineage/blocks/_lower.sql
\ir ../../procedures/omd_lineage/blocks/_block_range.sql
\ir ../../procedures/omd_lineage/blocks/_block_of_changes.sql
\ir ../../procedures/omd_lineage/blocks/_block_of_commits.sql
\ir ../../procedures/omd_lineage/blocks/_block_of_all_rows.sql
\ir ../../procedures/omd_lineage/blocks/_block_of_runs.sql
\ir ../../procedures/omd_lineage/blocks/_block_of_rows.sql
\ir ../../procedures/omd_lineage/blocks/_find_block.sql
\ir ../../procedures/omd_lineage/reload/_may_be_swapped.sql
\ir ../../procedures/omd_lineage/reload/_reload_way.sql
\ir ../../procedures/omd_lineage/reload/_plan_detail.sql
\ir ../../procedures/omd_lineage/blocks/plan.sql
\ir ../../procedures/omd_lineage/topics/topic_definition.sql
\ir ../../procedures/omd_lineage/blocks/_write_block.sql
\ir ../../procedures/omd_lineage/blocks/set_block.sql
\ir ../../procedures/omd_lineage/undo/_go_back.sql
\ir ../../procedures/omd_lineage/undo/_undo_later.sql
\ir ../../procedures/omd_lineage/steps/_claim_topic.sql
\ir ../../procedures/omd_lineage/states/_note_no_jobs.sql
\ir ../../procedures/omd_lineage/states/_note_unreadable.sql
\ir ../../procedures/omd_lineage/ready/_news_at.sql
\ir ../../procedures/omd_lineage/ready/_note_news.sql
\ir ../../procedures/omd_lineage/offsets/_pass_rows.sql
\ir ../../procedures/omd_lineage/blocks/_require_standing_block.sql
\ir ../../procedures/omd_lineage/steps/_record_runs.sql
\ir ../../procedures/omd_lineage/steps/_start_step.sql
\ir ../../procedures/omd_lineage/restate/_start_restated_step.sql
\ir ../../procedures/omd_lineage/restate/_end_restated_step.sql
\ir ../../procedures/omd_lineage/steps/_status_of_step.sql
\ir ../../procedures/omd_lineage/steps/begin_step.sql
\ir ../../procedures/omd_lineage/steps/_raise_fenced.sql
\ir ../../procedures/omd_lineage/steps/_add_counts.sql
\ir ../../procedures/omd_lineage/blocks/_require_block_views.sql
\ir ../../procedures/omd_lineage/blocks/_is_check.sql
\ir ../../procedures/omd_lineage/blocks/_checks_of.sql
\ir ../../procedures/omd_lineage/steps/_insert_transform.sql
\ir ../../procedures/omd_lineage/replacement/_equals_operator.sql
\ir ../../procedures/omd_lineage/replacement/_match_keys.sql
\ir ../../procedures/omd_lineage/replacement/_has_unique_key.sql
\ir ../../procedures/omd_lineage/replacement/_begin_replacement.sql
\ir ../../procedures/omd_lineage/put_back/_keep_rows.sql
\ir ../../procedures/omd_lineage/put_back/_kept_rows.sql
\ir ../../procedures/omd_lineage/put_back/_forget_rows.sql
\ir ../../procedures/omd_lineage/replacement/_fill_block_table.sql
\ir ../../procedures/omd_lineage/replacement/_key_values.sql
\ir ../../procedures/omd_lineage/replacement/_double_key.sql
\ir ../../procedures/omd_lineage/replacement/_count_nulls.sql
\ir ../../procedures/omd_lineage/replacement/_lock_destination.sql
\ir ../../procedures/omd_lineage/replacement/_raise_referenced.sql
\ir ../../procedures/omd_lineage/replacement/_refuse_loss.sql
\ir ../../procedures/omd_lineage/replacement/_replace_rows.sql
\ir ../../procedures/omd_lineage/replacement/_merge_transform.sql
\ir ../../procedures/omd_lineage/replacement/_recompute_transform.sql
\ir ../../procedures/omd_lineage/replacement/_replace_block.sql
\ir ../../procedures/omd_lineage/put_back/_step_module.sql
\ir ../../procedures/omd_lineage/put_back/_fill_kept_table.sql
\ir ../../procedures/omd_lineage/put_back/_hand_on_rows.sql
\ir ../../procedures/omd_lineage/put_back/put_back_rows.sql
\ir ../../procedures/omd_lineage/recalls/take_back.sql
\ir ../../procedures/omd_lineage/put_back/_register_put_back.sql
\ir ../../procedures/omd_lineage/reload/_exchange_rows.sql
\ir ../../procedures/omd_lineage/reload/_refuse_lost_by_reload.sql
\ir ../../procedures/omd_lineage/reload/_reload_table.sql
\ir ../../procedures/omd_lineage/reload/_note_reload.sql
\ir ../../procedures/omd_lineage/offsets/_advance_offset.sql
\ir ../../procedures/omd_lineage/steps/_call_processor.sql
\ir ../../procedures/omd_lineage/steps/_step_to_process.sql
\ir ../../procedures/omd_lineage/steps/_process_block.sql
\ir ../../procedures/omd_lineage/steps/commit_step.sql
\ir ../../procedures/omd_lineage/failures/fail_step.sql
\ir ../../procedures/omd_lineage/failures/note_error.sql
\ir ../../procedures/omd_lineage/steps/_begin_in_database.sql
\ir ../../procedures/omd_lineage/steps/_topic_of.sql
\ir ../../procedures/omd_lineage/steps/begin_run.sql
\ir ../../procedures/omd_lineage/steps/end_run.sql
\ir ../../procedures/omd_lineage/steps/_rows_of_step.sql
\ir ../../procedures/omd_lineage/steps/step.sql
\ir ../../procedures/omd_lineage/restate/restate.sql
\ir ../../procedures/omd_lineage/offsets/_purge_log.sql
\ir ../../procedures/omd_lineage/sources/note_rows.sql
\ir ../../procedures/omd_lineage/topics/_log_topic_edit.sql
\ir ../../procedures/omd_lineage/offsets/_log_offset_edit.sql

-- Erasure
\ir ../../procedures/omd_lineage/erasure/_literal_values.sql
\ir ../../procedures/omd_lineage/erasure/_erase_replaced.sql
\ir ../../procedures/omd_lineage/erasure/erase_subject.sql

-- Triggers
\ir ../triggers/omd_lineage/topic_edit.sql

-- Reporting views
\ir ../views/omd_lineage/ready_list.sql
\ir ../views/omd_lineage/lineage_ready.sql
\ir ../../procedures/omd_lineage/ready/_ready_of.sql
\ir ../../procedures/omd_lineage/steps/next_step.sql
\ir ../../procedures/omd_lineage/ready/topics_heard.sql
\ir ../../procedures/omd_lineage/ready/ready_near.sql
\ir ../../procedures/omd_lineage/ready/topics_near.sql
\ir ../views/omd_lineage/ready_list_by_topic.sql
\ir ../views/omd_lineage/topic_work.sql
\ir ../views/omd_lineage/described_topic.sql
\ir ../views/omd_lineage/error_log.sql
\ir ../views/omd_lineage/source_state.sql
\ir ../views/omd_lineage/sources.sql
\ir ../views/omd_lineage/problem_list.sql
\ir ../views/omd_lineage/lineage_lag.sql
\ir ../views/omd_lineage/lineage_gaps.sql
\ir ../views/omd_lineage/lineage_errors.sql
\ir ../views/omd_lineage/lineage_throughput.sql
\ir ../views/omd_lineage/lineage_graph.sql
\ir ../views/omd_lineage/lineage_topics.sql

-- What is called by its name
\ir ../reference/omd_lineage/hooks.sql

-- Grants
\ir ../grants/omd_lineage.sql
\endif

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

\if :is_install
-- Reference rows
\ir ../reference/omd_lineage/error_catalogue.sql
\ir ../reference/omd_lineage/server.sql
\ir ../reference/omd_lineage/module_kinds.sql
\ir ../reference/omd_lineage/maintenance.sql
\ir ../reference/omd_lineage/purge_steps.sql
\ir ../reference/omd_lineage/listeners.sql
\ir ../reference/omd_lineage/texts.sql

-- Helpers
\ir ../../procedures/omd_lineage/_topic_parts.sql
\ir ../../procedures/omd_lineage/_require_topic.sql
\ir ../../procedures/omd_lineage/_in_run_window.sql
\ir ../../procedures/omd_lineage/_horizon.sql
\ir ../../procedures/omd_lineage/_is_whole_upto.sql
\ir ../../procedures/omd_lineage/_is_ahead.sql
\ir ../../procedures/omd_lineage/_reads_wholly.sql
\ir ../../procedures/omd_lineage/_notify_topic.sql
\ir ../../procedures/omd_lineage/_block_pos.sql
\ir ../../procedures/omd_lineage/block_start.sql
\ir ../../procedures/omd_lineage/block_end.sql
\ir ../../procedures/omd_lineage/in_block.sql
\ir ../../procedures/omd_lineage/until_block_end.sql
\ir ../../procedures/omd_lineage/id_in_block.sql
\ir ../../procedures/omd_lineage/_holder_lives.sql
\ir ../../procedures/omd_lineage/_source_kind.sql
\ir ../../procedures/omd_lineage/_settle_source_offset.sql
\ir ../../procedures/omd_lineage/_block_source.sql
\ir ../../procedures/omd_lineage/_block_stands.sql
\ir ../../procedures/omd_lineage/_is_closed.sql
\ir ../views/omd_lineage/dependency_offsets.sql
\ir ../views/omd_lineage/base_table.sql
\ir ../views/omd_lineage/source_list.sql
\ir ../views/omd_lineage/restatement_list.sql

-- Topics
\ir ../../procedures/omd_lineage/_writer.sql
\ir ../../procedures/omd_lineage/_uncounted_instances.sql
\ir ../../procedures/omd_lineage/_former_name.sql
\ir ../../procedures/omd_lineage/_why_unreadable.sql
\ir ../../procedures/omd_lineage/_missing_index.sql
\ir ../../procedures/omd_lineage/_unread_rows.sql
\ir ../../procedures/omd_lineage/_pos_expression.sql
\ir ../../procedures/omd_lineage/_require_position.sql
\ir ../../procedures/omd_lineage/_kept_statement.sql
\ir ../../procedures/omd_lineage/_newest_row.sql
\ir ../../procedures/omd_lineage/_see_position.sql
\ir ../../procedures/omd_lineage/_safe_position.sql
\ir ../../procedures/omd_lineage/_never_whole.sql
\ir ../../procedures/omd_lineage/_why_not_whole.sql
\ir ../../procedures/omd_lineage/_may_become_whole.sql
\ir ../../procedures/omd_lineage/_taken_rows.sql
\ir ../../procedures/omd_lineage/_move_source.sql
\ir ../../procedures/omd_lineage/_leave_note.sql
\ir ../../procedures/omd_lineage/_take_notes.sql
\ir ../../procedures/omd_lineage/_shown_state.sql
\ir ../../procedures/omd_lineage/_state_of.sql
\ir ../../procedures/omd_lineage/_write_state.sql
\ir ../../procedures/omd_lineage/_save_probe.sql
\ir ../../procedures/omd_lineage/_probe_source.sql
\ir ../../procedures/omd_lineage/_try_probe.sql
\ir ../../procedures/omd_lineage/_sources_to_probe.sql
\ir ../../procedures/omd_lineage/_sources_to_watch.sql
\ir ../../procedures/omd_lineage/probe_sources.sql
\ir ../../procedures/omd_lineage/_normal_run_window.sql
\ir ../../procedures/omd_lineage/_check_topic.sql
\ir ../../procedures/omd_lineage/_register_topic_module.sql
\ir ../../procedures/omd_lineage/_resolve_dependencies.sql
\ir ../../procedures/omd_lineage/_require_no_cycle.sql
\ir ../../procedures/omd_lineage/_require_one_kind.sql
\ir ../../procedures/omd_lineage/_inserts_only.sql
\ir ../../procedures/omd_lineage/_holds_rows.sql
\ir ../../procedures/omd_lineage/_read_positions.sql
\ir ../../procedures/omd_lineage/_require_unplanned.sql
\ir ../../procedures/omd_lineage/_warn_of_rows_again.sql
\ir ../../procedures/omd_lineage/_save_topic_inputs.sql
\ir ../../procedures/omd_lineage/declare_missing.sql
\ir ../../procedures/omd_lineage/merges_rows.sql
\ir ../../procedures/omd_lineage/_save_topic.sql
\ir ../../procedures/omd_lineage/register_topic.sql
\ir ../../procedures/omd_lineage/_open_runs.sql
\ir ../../procedures/omd_lineage/undo_failed.sql
\ir ../../procedures/omd_lineage/remove_topic.sql
\ir ../../procedures/omd_lineage/_set_offset.sql
\ir ../../procedures/omd_lineage/set_offset.sql
\ir ../../procedures/omd_lineage/release.sql
\ir ../../procedures/omd_lineage/retry.sql

-- Ranges to be taken again
\ir ../../procedures/omd_lineage/_downstream.sql
\ir ../../procedures/omd_lineage/_readers.sql
\ir ../../procedures/omd_lineage/hear_undo.sql
\ir ../../procedures/omd_lineage/readers_of.sql
\ir ../../procedures/omd_lineage/_undo_preview.sql
\ir ../../procedures/omd_lineage/_queue_restatement.sql
\ir ../../procedures/omd_lineage/cancel_restate.sql
\ir ../../procedures/omd_lineage/_next_restated_block.sql
\ir ../../procedures/omd_lineage/_end_restatement.sql
\ir ../../procedures/omd_lineage/_claim_restatement.sql
\ir ../../procedures/omd_lineage/_forget_blocks.sql
\ir ../../procedures/omd_lineage/_widen_restatement.sql
\ir ../../procedures/omd_lineage/_widen_restatements.sql

-- Blocks to be taken again after a recall
\ir ../views/omd_lineage/awaiting_topics.sql
\ir ../../procedures/omd_lineage/_awaits.sql
\ir ../../procedures/omd_lineage/_is_recalled.sql
\ir ../../procedures/omd_lineage/_next_return.sql
\ir ../../procedures/omd_lineage/_claim_return.sql
\ir ../../procedures/omd_lineage/_start_returned_step.sql
\ir ../../procedures/omd_lineage/_returned_block.sql
\ir ../../procedures/omd_lineage/_end_returned_step.sql
\ir ../../procedures/omd_lineage/_recalled_topics.sql
\ir ../../procedures/omd_lineage/_rows_to_put_back.sql
\ir ../../procedures/omd_lineage/_give_back_steps.sql
\ir ../../procedures/omd_lineage/recall_follows.sql
\ir ../../procedures/omd_lineage/recall_effects.sql
\ir ../../procedures/omd_lineage/recall_locks.sql

-- Steps
\ir ../../procedures/omd_lineage/_walk_block.sql
\ir ../../procedures/omd_lineage/_next_changes.sql
\ir ../../procedures/omd_lineage/_offset_of.sql
\ir ../../procedures/omd_lineage/_block_limits.sql
\ir ../../procedures/omd_lineage/_next_block.sql
\ir ../../procedures/omd_lineage/_may_be_swapped.sql
\ir ../../procedures/omd_lineage/_reload_way.sql
\ir ../../procedures/omd_lineage/_plan_detail.sql
\ir ../../procedures/omd_lineage/plan.sql
\ir ../../procedures/omd_lineage/topic_definition.sql
\ir ../../procedures/omd_lineage/_write_block.sql
\ir ../../procedures/omd_lineage/set_block.sql
\ir ../../procedures/omd_lineage/_go_back.sql
\ir ../../procedures/omd_lineage/_undo_later.sql
\ir ../../procedures/omd_lineage/_claim_topic.sql
\ir ../../procedures/omd_lineage/_note_no_jobs.sql
\ir ../../procedures/omd_lineage/_note_unreadable.sql
\ir ../../procedures/omd_lineage/_news_at.sql
\ir ../../procedures/omd_lineage/_note_news.sql
\ir ../../procedures/omd_lineage/_pass_rows.sql
\ir ../../procedures/omd_lineage/_require_standing_block.sql
\ir ../../procedures/omd_lineage/_record_runs.sql
\ir ../../procedures/omd_lineage/_start_step.sql
\ir ../../procedures/omd_lineage/_start_restated_step.sql
\ir ../../procedures/omd_lineage/_end_restated_step.sql
\ir ../../procedures/omd_lineage/begin_step.sql
\ir ../../procedures/omd_lineage/_raise_fenced.sql
\ir ../../procedures/omd_lineage/_add_counts.sql
\ir ../../procedures/omd_lineage/_require_block_views.sql
\ir ../../procedures/omd_lineage/_checks_of.sql
\ir ../../procedures/omd_lineage/_insert_transform.sql
\ir ../../procedures/omd_lineage/_equals_operator.sql
\ir ../../procedures/omd_lineage/_match_keys.sql
\ir ../../procedures/omd_lineage/_has_unique_key.sql
\ir ../../procedures/omd_lineage/_begin_replacement.sql
\ir ../../procedures/omd_lineage/_keep_rows.sql
\ir ../../procedures/omd_lineage/_kept_rows.sql
\ir ../../procedures/omd_lineage/_forget_rows.sql
\ir ../../procedures/omd_lineage/_fill_block_table.sql
\ir ../../procedures/omd_lineage/_key_values.sql
\ir ../../procedures/omd_lineage/_double_key.sql
\ir ../../procedures/omd_lineage/_count_nulls.sql
\ir ../../procedures/omd_lineage/_lock_destination.sql
\ir ../../procedures/omd_lineage/_raise_referenced.sql
\ir ../../procedures/omd_lineage/_refuse_loss.sql
\ir ../../procedures/omd_lineage/_replace_rows.sql
\ir ../../procedures/omd_lineage/_merge_transform.sql
\ir ../../procedures/omd_lineage/_recompute_transform.sql
\ir ../../procedures/omd_lineage/_replace_block.sql
\ir ../../procedures/omd_lineage/_step_module.sql
\ir ../../procedures/omd_lineage/_fill_kept_table.sql
\ir ../../procedures/omd_lineage/_hand_on_rows.sql
\ir ../../procedures/omd_lineage/put_back_rows.sql
\ir ../../procedures/omd_lineage/take_back.sql
\ir ../../procedures/omd_lineage/_register_put_back.sql
\ir ../../procedures/omd_lineage/_exchange_rows.sql
\ir ../../procedures/omd_lineage/_refuse_lost_by_reload.sql
\ir ../../procedures/omd_lineage/_reload_table.sql
\ir ../../procedures/omd_lineage/_note_reload.sql
\ir ../../procedures/omd_lineage/_advance_offset.sql
\ir ../../procedures/omd_lineage/_call_processor.sql
\ir ../../procedures/omd_lineage/_process_block.sql
\ir ../../procedures/omd_lineage/commit_step.sql
\ir ../../procedures/omd_lineage/fail_step.sql
\ir ../../procedures/omd_lineage/note_error.sql
\ir ../../procedures/omd_lineage/_begin_in_database.sql
\ir ../../procedures/omd_lineage/_topic_of.sql
\ir ../../procedures/omd_lineage/begin_run.sql
\ir ../../procedures/omd_lineage/end_run.sql
\ir ../../procedures/omd_lineage/_rows_of_step.sql
\ir ../../procedures/omd_lineage/step.sql
\ir ../../procedures/omd_lineage/restate.sql
\ir ../../procedures/omd_lineage/_purge_log.sql
\ir ../../procedures/omd_lineage/note_rows.sql
\ir ../../procedures/omd_lineage/_log_topic_edit.sql
\ir ../../procedures/omd_lineage/_log_offset_edit.sql

-- Erasure
\ir ../../procedures/omd_lineage/_literal_values.sql
\ir ../../procedures/omd_lineage/erase_replaced.sql

-- Triggers
\ir ../triggers/omd_lineage/topic_edit.sql

-- Reporting views
\ir ../views/omd_lineage/ready_list.sql
\ir ../../procedures/omd_lineage/_ready_of.sql
\ir ../../procedures/omd_lineage/topics_heard.sql
\ir ../../procedures/omd_lineage/_ready_near.sql
\ir ../../procedures/omd_lineage/topics_near.sql
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

-- Grants
\ir ../grants/omd_lineage.sql
\endif

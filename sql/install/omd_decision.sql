-- This list says what is installed for decision, in order. sql/install.sql includes it.

\set checksum 'b67556be7254bd90453944ce51cb5c0fb227c61c24ab45338edfcbfaeb1df0aa'
\set phase 'baseline'
\set migration 'V156__omd_decision'
\ir ../setup/claim.psql
\if :pending
\ir ../../migrations/V156__omd_decision.sql
\endif

\if :is_install
-- Reference rows
\ir ../reference/omd_decision/error_catalogue.sql
\ir ../reference/omd_decision/module_kinds.sql
\ir ../reference/omd_decision/maintenance.sql
\ir ../reference/omd_decision/purge_steps.sql
\ir ../reference/omd_decision/listeners.sql
\ir ../reference/omd_decision/texts.sql

-- Helpers
\ir ../../procedures/omd_decision/_type_family.sql
\ir ../../procedures/omd_decision/_columns.sql
\ir ../../procedures/omd_decision/_interval.sql
\ir ../../procedures/omd_decision/_named_items.sql
\ir ../../procedures/omd_decision/_shape_problems.sql

-- Stages
\ir ../../procedures/omd_decision/_with_defaults.sql
\ir ../../procedures/omd_decision/_link_problems.sql
\ir ../../procedures/omd_decision/_output_problems.sql
\ir ../../procedures/omd_decision/_shows_facts.sql
\ir ../../procedures/omd_decision/_window_problems.sql
\ir ../../procedures/omd_decision/_stage_problems.sql
\ir ../../procedures/omd_decision/_comparable.sql
\ir ../../procedures/omd_decision/_changes.sql
\ir ../../procedures/omd_decision/_raise_invalid.sql
\ir ../../procedures/omd_decision/_require_stage.sql
\ir ../../procedures/omd_decision/_engine_of.sql
\ir ../../procedures/omd_decision/_register_stage_module.sql
\ir ../../procedures/omd_decision/_links.sql
\ir ../../procedures/omd_decision/_block_source.sql
\ir ../../procedures/omd_decision/_save_stage_inputs.sql
\ir ../../procedures/omd_decision/declare_missing.sql
\ir ../../procedures/omd_decision/_save_window.sql
\ir ../../procedures/omd_decision/_warn_of_window.sql
\ir ../../procedures/omd_decision/define_stage.sql

-- Rulesets
\ir ../../procedures/omd_decision/_function.sql
\ir ../../procedures/omd_decision/_content_hash.sql
\ir ../../procedures/omd_decision/_model_problems.sql
\ir ../../procedures/omd_decision/_ruleset_problems.sql
\ir ../../procedures/omd_decision/_require_version.sql
\ir ../../procedures/omd_decision/_require_unchanged.sql
\ir ../../procedures/omd_decision/test_ruleset.sql
\ir ../../procedures/omd_decision/_save_result.sql
\ir ../../procedures/omd_decision/record_test_result.sql
\ir ../../procedures/omd_decision/_activate.sql
\ir ../../procedures/omd_decision/activate_ruleset.sql
\ir ../../procedures/omd_decision/deactivate_ruleset.sql
\ir ../../procedures/omd_decision/_save_ruleset.sql
\ir ../../procedures/omd_decision/define_ruleset.sql

-- Cycles
\ir ../../procedures/omd_decision/_sort_key_sql.sql
\ir ../../procedures/omd_decision/_batch_size.sql
\ir ../../procedures/omd_decision/_order_columns.sql
\ir ../../procedures/omd_decision/_records_sql.sql
\ir ../../procedures/omd_decision/_wave_sort_key_sql.sql
\ir ../../procedures/omd_decision/_key_sql.sql
\ir ../../procedures/omd_decision/_cells_sql.sql
\ir ../../procedures/omd_decision/_bounds_sql.sql
\ir ../../procedures/omd_decision/_link_sql.sql
\ir ../../procedures/omd_decision/_raise_arrival.sql
\ir ../../procedures/omd_decision/_raise_too_large.sql
\ir ../../procedures/omd_decision/_require_links.sql
\ir ../../procedures/omd_decision/hear_undo.sql
\ir ../../procedures/omd_decision/_next_record.sql
\ir ../../procedures/omd_decision/_cycles_across_keys.sql
\ir ../../procedures/omd_decision/_buffers_sql.sql
\ir ../../procedures/omd_decision/_buffers.sql
\ir ../../procedures/omd_decision/_cycles.sql
\ir ../../procedures/omd_decision/_window_end.sql
\ir ../../procedures/omd_decision/_is_time_of_writing.sql
\ir ../../procedures/omd_decision/_may_have_rows.sql
\ir ../../procedures/omd_decision/_next_window.sql
\ir ../../procedures/omd_decision/_as_read.sql
\ir ../../procedures/omd_decision/_note_positions.sql
\ir ../../procedures/omd_decision/_preview.sql
\ir ../../procedures/omd_decision/cycles.sql

-- Windows to be taken again after a recall
\ir ../views/omd_decision/awaiting_stages.sql
\ir ../../procedures/omd_decision/_awaits.sql
\ir ../../procedures/omd_decision/_take_return.sql
\ir ../../procedures/omd_decision/_recalled_stages.sql
\ir ../../procedures/omd_decision/_give_back_runs.sql
\ir ../../procedures/omd_decision/recall_follows.sql
\ir ../../procedures/omd_decision/recall_effects.sql
\ir ../../procedures/omd_decision/recall_locks.sql
\ir ../../procedures/omd_decision/take_back.sql

-- Runs
\ir ../../procedures/omd_decision/_guard_rows.sql
\ir ../../procedures/omd_decision/_forget_run.sql
\ir ../../procedures/omd_decision/_require_ruleset.sql
\ir ../../procedures/omd_decision/_pin_run.sql
\ir ../../procedures/omd_decision/_run_block.sql
\ir ../../procedures/omd_decision/_require_standing_block.sql
\ir ../../procedures/omd_decision/_run_plan.sql
\ir ../../procedures/omd_decision/_require_rejects.sql
\ir ../../procedures/omd_decision/_judge.sql
\ir ../../procedures/omd_decision/_finish_run.sql
\ir ../../procedures/omd_decision/_reject_text.sql
\ir ../../procedures/omd_decision/_output_sql.sql
\ir ../../procedures/omd_decision/_unfit_sql.sql
\ir ../../procedures/omd_decision/_write_sql.sql
\ir ../../procedures/omd_decision/_run_sql.sql
\ir ../../procedures/omd_decision/_require_fit.sql
\ir ../../procedures/omd_decision/_name_failure.sql
\ir ../../procedures/omd_decision/_name_unwritten.sql
\ir ../../procedures/omd_decision/_process_run.sql
\ir ../../procedures/omd_decision/process_stage.sql
\ir ../../procedures/omd_decision/_stage_plan.sql
\ir ../../procedures/omd_decision/_look.sql
\ir ../../procedures/omd_decision/_begin_stage_run.sql
\ir ../../procedures/omd_decision/_stage_of.sql
\ir ../../procedures/omd_decision/stages_near.sql
\ir ../../procedures/omd_decision/begin_run.sql
\ir ../../procedures/omd_decision/end_run.sql
\ir ../../procedures/omd_decision/_counts_of_run.sql
\ir ../../procedures/omd_decision/run_stage.sql
\ir ../../procedures/omd_decision/begin_stage.sql
\ir ../../procedures/omd_decision/judge_rejects.sql
\ir ../../procedures/omd_decision/link_query.sql
\ir ../../procedures/omd_decision/_name_unfit.sql
\ir ../../procedures/omd_decision/write_calls.sql
\ir ../../procedures/omd_decision/commit_stage.sql
\ir ../../procedures/omd_decision/fail_stage.sql
\ir ../../procedures/omd_decision/explain.sql
\ir ../../procedures/omd_decision/decided.sql
\ir ../../procedures/omd_decision/last_run_of.sql
\ir ../../procedures/omd_decision/_purge_kept.sql

-- Erasure
\ir ../../procedures/omd_decision/_holds_key.sql
\ir ../../procedures/omd_decision/_holding_stages.sql
\ir ../../procedures/omd_decision/erase_records.sql
\ir ../../procedures/omd_decision/outputs_of.sql

-- Triggers
\ir ../triggers/omd_decision/kept_rows.sql
\ir ../triggers/omd_decision/rolled_back_run.sql

-- Reporting views
\ir ../views/omd_decision/decision_reject_log.sql
\ir ../views/omd_decision/decision_ruleset_list.sql
\ir ../views/omd_decision/decision_run_log.sql
\ir ../views/omd_decision/decision_last_rejects.sql
\ir ../views/omd_decision/superseded_decisions.sql
\ir ../views/omd_decision/decision_stage_list.sql
\ir ../views/omd_decision/stage_readiness.sql
\ir ../views/omd_decision/stage_work.sql
\ir ../views/omd_decision/unsafe_windows.sql
\ir ../views/omd_decision/problem_list.sql
\ir ../views/omd_decision/ready_stage_tasks.sql
\ir ../views/omd_decision/decision_test_list.sql

-- Grants
\ir ../grants/omd_decision.sql
\endif

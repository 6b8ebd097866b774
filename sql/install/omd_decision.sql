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
\ir ../reference/omd_decision/texts.sql

-- Helpers
\ir ../../procedures/omd_decision/stages/_type_family.sql
\ir ../../procedures/omd_decision/stages/_columns.sql
\ir ../../procedures/omd_decision/stages/_interval.sql
\ir ../../procedures/omd_decision/stages/_named_items.sql
\ir ../../procedures/omd_decision/stages/_shape_problems.sql

-- Stages
\ir ../../procedures/omd_decision/stages/_with_defaults.sql
\ir ../../procedures/omd_decision/stages/_link_problems.sql
\ir ../../procedures/omd_decision/stages/_output_problems.sql
\ir ../../procedures/omd_decision/windows/_shows_facts.sql
\ir ../../procedures/omd_decision/windows/_window_problems.sql
\ir ../../procedures/omd_decision/stages/_stage_problems.sql
\ir ../../procedures/omd_decision/stages/_comparable.sql
\ir ../../procedures/omd_decision/stages/_changes.sql
\ir ../../procedures/omd_decision/stages/_raise_invalid.sql
\ir ../../procedures/omd_decision/stages/_require_stage.sql
\ir ../../procedures/omd_decision/stages/_engine_of.sql
\ir ../../procedures/omd_decision/stages/_register_stage_module.sql
\ir ../../procedures/omd_decision/stages/_links.sql
\ir ../../procedures/omd_decision/windows/_block_source.sql
\ir ../../procedures/omd_decision/inputs/_save_stage_inputs.sql
\ir ../../procedures/omd_decision/inputs/declare_missing.sql
\ir ../../procedures/omd_decision/windows/_save_window.sql
\ir ../../procedures/omd_decision/windows/_warn_of_window.sql
\ir ../../procedures/omd_decision/stages/define_stage.sql

-- Rulesets
\ir ../../procedures/omd_decision/rulesets/_function.sql
\ir ../../procedures/omd_decision/rulesets/_content_hash.sql
\ir ../../procedures/omd_decision/rulesets/_model_problems.sql
\ir ../../procedures/omd_decision/rulesets/_ruleset_problems.sql
\ir ../../procedures/omd_decision/rulesets/_require_version.sql
\ir ../../procedures/omd_decision/rulesets/_require_unchanged.sql
\ir ../../procedures/omd_decision/rulesets/test_ruleset.sql
\ir ../../procedures/omd_decision/rulesets/_save_result.sql
\ir ../../procedures/omd_decision/rulesets/record_test_result.sql
\ir ../../procedures/omd_decision/rulesets/_activate.sql
\ir ../../procedures/omd_decision/rulesets/activate_ruleset.sql
\ir ../../procedures/omd_decision/rulesets/deactivate_ruleset.sql
\ir ../../procedures/omd_decision/rulesets/_save_ruleset.sql
\ir ../../procedures/omd_decision/rulesets/define_ruleset.sql

-- Cycles
\ir ../../procedures/omd_decision/order/_sort_key_sql.sql
\ir ../../procedures/omd_decision/cycles/_batch_size.sql
\ir ../../procedures/omd_decision/order/_order_columns.sql
\ir ../../procedures/omd_decision/cycles/_records_sql.sql
\ir ../../procedures/omd_decision/order/_wave_sort_key_sql.sql
\ir ../../procedures/omd_decision/cycles/_key_sql.sql
\ir ../../procedures/omd_decision/cycles/_cells_sql.sql
\ir ../../procedures/omd_decision/cycles/_bounds_sql.sql
\ir ../../procedures/omd_decision/cycles/_link_sql.sql
\ir ../../procedures/omd_decision/cycles/_raise_arrival.sql
\ir ../../procedures/omd_decision/cycles/_raise_too_large.sql
\ir ../../procedures/omd_decision/cycles/_require_links.sql
\ir ../../procedures/omd_decision/undo/hear_undo.sql
\ir ../../procedures/omd_decision/cycles/_next_record.sql
\ir ../../procedures/omd_decision/cycles/_cycles_across_keys.sql
\ir ../../procedures/omd_decision/cycles/_buffers_sql.sql
\ir ../../procedures/omd_decision/cycles/_buffers.sql
\ir ../../procedures/omd_decision/cycles/_cycles.sql
\ir ../../procedures/omd_decision/windows/_window_end.sql
\ir ../../procedures/omd_decision/windows/_is_time_of_writing.sql
\ir ../../procedures/omd_decision/windows/_may_have_rows.sql
\ir ../../procedures/omd_decision/windows/_next_window.sql
\ir ../../procedures/omd_decision/windows/_as_read.sql
\ir ../../procedures/omd_decision/windows/_note_positions.sql
\ir ../../procedures/omd_decision/cycles/_preview.sql
\ir ../../procedures/omd_decision/cycles/cycles.sql

-- Windows to be taken again after a recall
\ir ../views/omd_decision/awaiting_stages.sql
\ir ../../procedures/omd_decision/recalls/_awaits.sql
\ir ../../procedures/omd_decision/recalls/_take_return.sql
\ir ../../procedures/omd_decision/recalls/_recalled_stages.sql
\ir ../../procedures/omd_decision/recalls/_give_back_runs.sql
\ir ../../procedures/omd_decision/recalls/recall_follows.sql
\ir ../../procedures/omd_decision/recalls/recall_effects.sql
\ir ../../procedures/omd_decision/recalls/recall_locks.sql
\ir ../../procedures/omd_decision/recalls/take_back.sql

-- Runs
\ir ../../procedures/omd_decision/kept_cycles/_guard_rows.sql
\ir ../../procedures/omd_decision/undo/_forget_run.sql
\ir ../../procedures/omd_decision/rulesets/_require_ruleset.sql
\ir ../../procedures/omd_decision/runs/_pin_run.sql
\ir ../../procedures/omd_decision/windows/_run_block.sql
\ir ../../procedures/omd_decision/windows/_require_standing_block.sql
\ir ../../procedures/omd_decision/runs/_run_plan.sql
\ir ../../procedures/omd_decision/rejects/_require_rejects.sql
\ir ../../procedures/omd_decision/rejects/_judge.sql
\ir ../../procedures/omd_decision/runs/_finish_run.sql
\ir ../../procedures/omd_decision/rejects/_reject_text.sql
\ir ../../procedures/omd_decision/outputs/_output_sql.sql
\ir ../../procedures/omd_decision/outputs/_unfit_sql.sql
\ir ../../procedures/omd_decision/outputs/_write_sql.sql
\ir ../../procedures/omd_decision/runs/_run_sql.sql
\ir ../../procedures/omd_decision/outputs/_require_fit.sql
\ir ../../procedures/omd_decision/runs/_name_failure.sql
\ir ../../procedures/omd_decision/outputs/_name_unwritten.sql
\ir ../../procedures/omd_decision/runs/_process_run.sql
\ir ../../procedures/omd_decision/runs/process_stage.sql
\ir ../../procedures/omd_decision/runs/_stage_plan.sql
\ir ../../procedures/omd_decision/windows/_look.sql
\ir ../../procedures/omd_decision/runs/_begin_stage_run.sql
\ir ../../procedures/omd_decision/runs/_stage_of.sql
\ir ../../procedures/omd_decision/runs/next_stage.sql
\ir ../../procedures/omd_decision/inputs/stages_near.sql
\ir ../../procedures/omd_decision/runs/begin_run.sql
\ir ../../procedures/omd_decision/runs/end_run.sql
\ir ../../procedures/omd_decision/runs/_counts_of_run.sql
\ir ../../procedures/omd_decision/runs/run_stage.sql
\ir ../../procedures/omd_decision/spark/begin_stage.sql
\ir ../../procedures/omd_decision/rejects/judge_rejects.sql
\ir ../../procedures/omd_decision/spark/link_query.sql
\ir ../../procedures/omd_decision/outputs/_name_unfit.sql
\ir ../../procedures/omd_decision/spark/write_calls.sql
\ir ../../procedures/omd_decision/spark/commit_stage.sql
\ir ../../procedures/omd_decision/spark/fail_stage.sql
\ir ../../procedures/omd_decision/kept_cycles/explain.sql
\ir ../../procedures/omd_decision/kept_cycles/decided.sql
\ir ../../procedures/omd_decision/kept_cycles/last_run_of.sql
\ir ../../procedures/omd_decision/kept_cycles/_purge_kept.sql

-- Erasure
\ir ../../procedures/omd_decision/erasure/_holds_key.sql
\ir ../../procedures/omd_decision/erasure/_holding_stages.sql
\ir ../../procedures/omd_decision/erasure/erase_subject.sql
\ir ../../procedures/omd_decision/erasure/outputs_of.sql

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

-- What is called by its name
\ir ../reference/omd_decision/hooks.sql

-- Grants
\ir ../grants/omd_decision.sql
\endif

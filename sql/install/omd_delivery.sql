-- This list says what is installed for delivery, in order. sql/install.sql includes it.

\set checksum 'd771b07e9ca5cecb6af5aee0720f1a546a09d59b6713f9437feb73f3291f7e4a'
\set phase 'baseline'
\set migration 'V154__omd_delivery'
\ir ../setup/claim.psql
\if :pending
\ir ../../migrations/V154__omd_delivery.sql
\endif

\set checksum '9b325e55eb1a7b75484ad41529cfc793f35ea8f3daeb84f61675986b4556d49f'
\set migration 'V183__items_go_back_alone'
\ir ../setup/claim.psql
\if :pending
\ir ../../migrations/V183__items_go_back_alone.sql
\endif

\set checksum 'baeed5c0cd8e5640d7d41942f3c2c45a99ec4e3c09f414accab0d2ec0d2cfdd1'
\set migration 'V211__status_of_deliveries'
\ir ../setup/claim.psql
\if :pending
\ir ../../migrations/V211__status_of_deliveries.sql
\endif

\if :is_install
-- Reference rows
\ir ../reference/omd_delivery/error_catalogue.sql
\ir ../reference/omd_delivery/module_kinds.sql
\ir ../reference/omd_delivery/maintenance.sql
\ir ../reference/omd_delivery/purge_steps.sql
\ir ../reference/omd_delivery/constraint_types.sql
\ir ../reference/omd_delivery/delivery_statuses.sql
\ir ../reference/omd_delivery/texts.sql

-- Model
\ir ../../procedures/omd_delivery/model/_text.sql
\ir ../../procedures/omd_delivery/model/_flag.sql
\ir ../../procedures/omd_delivery/model/_names.sql
\ir ../../procedures/omd_delivery/model/_without_nulls.sql
\ir ../../procedures/omd_delivery/types/_data_type.sql
\ir ../../procedures/omd_delivery/types/_type_kind.sql
\ir ../../procedures/omd_delivery/types/_type_widens.sql
\ir ../../procedures/omd_delivery/types/_is_value.sql
\ir ../../procedures/omd_delivery/settings/_action_code.sql
\ir ../../procedures/omd_delivery/deltas/_open_end.sql
\ir ../../procedures/omd_delivery/model/_shape_problems.sql
\ir ../../procedures/omd_delivery/model/_model_nodes.sql
\ir ../../procedures/omd_delivery/model/_model_objects.sql
\ir ../../procedures/omd_delivery/model/_model_constraints.sql
\ir ../../procedures/omd_delivery/model/_content_problems.sql

-- Checks
\ir ../../procedures/omd_delivery/checks/matches.sql
\ir ../../procedures/omd_delivery/checks/delivery_date.sql
\ir ../../procedures/omd_delivery/checks/_check_tokens.sql
\ir ../../procedures/omd_delivery/checks/_spark_text.sql
\ir ../../procedures/omd_delivery/checks/_spark_pattern.sql
\ir ../../procedures/omd_delivery/checks/_pattern_backtracks.sql
\ir ../../procedures/omd_delivery/checks/_check_literal.sql
\ir ../../procedures/omd_delivery/checks/_check_as.sql
\ir ../../procedures/omd_delivery/checks/_check_kind.sql
\ir ../../procedures/omd_delivery/checks/_spark_decimal.sql
\ir ../../procedures/omd_delivery/checks/_check_number.sql
\ir ../../procedures/omd_delivery/checks/_check_expect.sql
\ir ../../procedures/omd_delivery/checks/_check_constant.sql
\ir ../../procedures/omd_delivery/checks/_check_attribute.sql
\ir ../../procedures/omd_delivery/checks/_check_condition.sql
\ir ../../procedures/omd_delivery/checks/_check_choice.sql
\ir ../../procedures/omd_delivery/checks/_check_call.sql
\ir ../../procedures/omd_delivery/checks/_check_part.sql
\ir ../../procedures/omd_delivery/checks/_read_check.sql
\ir ../../procedures/omd_delivery/checks/_check_problem.sql
\ir ../../procedures/omd_delivery/checks/_spark_check.sql
\ir ../../procedures/omd_delivery/model/_model_problems.sql
\ir ../../procedures/omd_delivery/settings/_setting_problem.sql
\ir ../../procedures/omd_delivery/settings/_require_settings.sql
\ir ../../procedures/omd_delivery/settings/_settings.sql
\ir ../../procedures/omd_delivery/deployment/_hold_interface.sql
\ir ../../procedures/omd_delivery/model/_entity_document.sql
\ir ../../procedures/omd_delivery/model/_model_document.sql
\ir ../../procedures/omd_delivery/model/model_document.sql
\ir ../../procedures/omd_delivery/deployment/_model_changes.sql
\ir ../../procedures/omd_delivery/deployment/_has_rows.sql
\ir ../../procedures/omd_delivery/deployment/_has_duplicates.sql
\ir ../../procedures/omd_delivery/deployment/_require_no_loss.sql
\ir ../../procedures/omd_delivery/deployment/_require_rest.sql
\ir ../../procedures/omd_delivery/deployment/_write_keys.sql
\ir ../../procedures/omd_delivery/deployment/_write_constraints.sql
\ir ../../procedures/omd_delivery/deployment/_write_registry.sql
\ir ../../procedures/omd_delivery/runs/_run_lives.sql
\ir ../../procedures/omd_delivery/guards/_raise_rows.sql
\ir ../../procedures/omd_delivery/guards/_guard_delta.sql
\ir ../../procedures/omd_delivery/guards/_guard_change.sql
\ir ../../procedures/omd_delivery/guards/_guard_staging.sql
\ir ../../procedures/omd_delivery/guards/_guard_table.sql
\ir ../../procedures/omd_delivery/tables/_has_lines.sql
\ir ../../procedures/omd_delivery/tables/_wants_lines.sql
\ir ../../procedures/omd_delivery/tables/_make_tables.sql
\ir ../../procedures/omd_delivery/tables/_keep_lines.sql
\ir ../../procedures/omd_delivery/tables/_make_indexes.sql
\ir ../../procedures/omd_delivery/undo/_raise_not_reverted.sql
\ir ../../procedures/omd_delivery/undo/_require_unaccepted.sql
\ir ../../procedures/omd_delivery/undo/undo_update.sql
\ir ../../procedures/omd_delivery/undo/undo_runs.sql
\ir ../../procedures/omd_delivery/tables/_make_schema.sql
\ir ../../procedures/omd_delivery/inputs/_save_delivery_inputs.sql
\ir ../../procedures/omd_delivery/inputs/declare_missing.sql
\ir ../../procedures/omd_delivery/deployment/_make_interface.sql
\ir ../../procedures/omd_delivery/deployment/_empty_hashes.sql
\ir ../../procedures/omd_delivery/deployment/deploy_model.sql

-- Deliveries
\ir ../../procedures/omd_delivery/agreements/_raise_argument.sql
\ir ../../procedures/omd_delivery/states/_require_delivery.sql
\ir ../../procedures/omd_delivery/states/_hold_delivery.sql
\ir ../../procedures/omd_delivery/undo/_way_back.sql
\ir ../../procedures/omd_delivery/states/_execution_status.sql
\ir ../../procedures/omd_delivery/states/_require_event.sql
\ir ../../procedures/omd_delivery/states/_write_event.sql
\ir ../../procedures/omd_delivery/arrivals/_hold_location.sql
\ir ../../procedures/omd_delivery/arrivals/_follow_delivery.sql
\ir ../../procedures/omd_delivery/states/_move.sql
\ir ../../procedures/omd_delivery/deltas/_entity_sql.sql

-- Tenants and agreements
\ir ../../procedures/omd_delivery/agreements/register_tenant.sql
\ir ../../procedures/omd_delivery/agreements/remove_tenant.sql
\ir ../../procedures/omd_delivery/contexts/_context_keys.sql
\ir ../../procedures/omd_delivery/contexts/_require_context.sql
\ir ../../procedures/omd_delivery/agreements/_require_options.sql
\ir ../../procedures/omd_delivery/agreements/_hold_agreement.sql
\ir ../../procedures/omd_delivery/creation/_require_effective.sql
\ir ../../procedures/omd_delivery/agreements/_agreed_entities.sql
\ir ../../procedures/omd_delivery/agreements/_register_agreement_module.sql
\ir ../../procedures/omd_delivery/agreements/_equip_agreement.sql
\ir ../../procedures/omd_delivery/agreements/agreements_of.sql
\ir ../../procedures/omd_delivery/arrivals/_folder_pattern.sql
\ir ../../procedures/omd_delivery/arrivals/_folder_datetime.sql
\ir ../../procedures/omd_delivery/arrivals/_arrival_terms.sql
\ir ../../procedures/omd_delivery/arrivals/_look_is_due.sql
\ir ../../procedures/omd_delivery/arrivals/_is_file_path.sql
\ir ../../procedures/omd_delivery/agreements/_interval_problem.sql
\ir ../../procedures/omd_delivery/agreements/_location_problem.sql
\ir ../../procedures/omd_delivery/creation/_delivered_entities.sql
\ir ../../procedures/omd_delivery/arrivals/_arrival_problems.sql
\ir ../../procedures/omd_delivery/arrivals/_require_arrival.sql
\ir ../../procedures/omd_delivery/agreements/_require_export.sql
\ir ../../procedures/omd_delivery/agreements/register_agreement.sql

-- Creation
\ir ../../procedures/omd_delivery/contexts/_bound_entities.sql
\ir ../../procedures/omd_delivery/contexts/_contexts.sql
\ir ../../procedures/omd_delivery/contexts/_require_contexts.sql
\ir ../../procedures/omd_delivery/marks/_overtaken.sql
\ir ../../procedures/omd_delivery/marks/_require_marks.sql
\ir ../../procedures/omd_delivery/creation/_empty_staging.sql
\ir ../../procedures/omd_delivery/creation/_insert_delivery.sql
\ir ../../procedures/omd_delivery/creation/insert_delivery.sql
\ir ../../procedures/omd_delivery/creation/create_delivery.sql
\ir ../../procedures/omd_delivery/creation/report_loaded.sql

-- What comes again
\ir ../views/omd_delivery/delivery_return.sql
\ir ../../procedures/omd_delivery/returns/_return_before.sql
\ir ../../procedures/omd_delivery/returns/_find_withdrawn.sql
\ir ../../procedures/omd_delivery/returns/_follow_returns.sql
\ir ../../procedures/omd_delivery/files/_recorded_files.sql
\ir ../../procedures/omd_delivery/files/_listed_files.sql
\ir ../../procedures/omd_delivery/files/_files_problem.sql
\ir ../../procedures/omd_delivery/returns/_hand_reason.sql
\ir ../../procedures/omd_delivery/returns/_redeliver_entry.sql

-- Arrivals
\ir ../../procedures/omd_delivery/arrivals/_require_seen.sql
\ir ../../procedures/omd_delivery/arrivals/_manifest_problem.sql
\ir ../../procedures/omd_delivery/arrivals/_seen_folders.sql
\ir ../../procedures/omd_delivery/arrivals/claim_look.sql
\ir ../../procedures/omd_delivery/arrivals/report_arrivals.sql
\ir ../../procedures/omd_delivery/arrivals/take_arrival.sql
\ir ../../procedures/omd_delivery/arrivals/modules_near.sql
\ir ../../procedures/omd_delivery/arrivals/check_arrival.sql
\ir ../../procedures/omd_delivery/arrivals/_move_files.sql
\ir ../../procedures/omd_delivery/arrivals/finish_arrival.sql
\ir ../../procedures/omd_delivery/arrivals/forget_arrival.sql

-- Runs
\ir ../../procedures/omd_delivery/runs/_end_run.sql
\ir ../../procedures/omd_delivery/runs/_give_up_runs.sql
\ir ../../procedures/omd_delivery/runs/_running_delivery.sql
\ir ../../procedures/omd_delivery/runs/_raise_fenced.sql
\ir ../../procedures/omd_delivery/runs/_hold_attempt.sql
\ir ../../procedures/omd_delivery/runs/_require_run.sql
\ir ../../procedures/omd_delivery/plans/_fix_constraints.sql
\ir ../../procedures/omd_delivery/runs/begin_delivery.sql
\ir ../../procedures/omd_delivery/settings/_action_name.sql
\ir ../../procedures/omd_delivery/plans/_entity_plan.sql
\ir ../../procedures/omd_delivery/plans/validation_plan.sql
\ir ../../procedures/omd_delivery/runs/heartbeat_delivery.sql
\ir ../../procedures/omd_delivery/runs/fail_delivery.sql
\ir ../../procedures/omd_delivery/states/reject_delivery.sql
\ir ../../procedures/omd_delivery/states/cancel_delivery.sql

-- Verdicts
\ir ../../procedures/omd_delivery/verdicts/_raise_measures.sql
\ir ../../procedures/omd_delivery/verdicts/_require_open_stage.sql
\ir ../../procedures/omd_delivery/verdicts/register_violations.sql
\ir ../../procedures/omd_delivery/verdicts/register_samples.sql
\ir ../../procedures/omd_delivery/files/register_files.sql
\ir ../../procedures/omd_delivery/verdicts/_exceeds.sql
\ir ../../procedures/omd_delivery/deltas/_delete_delta.sql
\ir ../../procedures/omd_delivery/deltas/_delete_strays.sql
\ir ../../procedures/omd_delivery/runs/_succeed_run.sql
\ir ../../procedures/omd_delivery/verdicts/stage_verdict.sql

-- Deltas
\ir ../../procedures/omd_delivery/deletes/log_removal.sql
\ir ../../procedures/omd_delivery/deltas/_check_delta.sql
\ir ../../procedures/omd_delivery/deletes/_remove_keys.sql
\ir ../../procedures/omd_delivery/deltas/_apply_entity.sql
\ir ../../procedures/omd_delivery/deltas/apply_delta.sql
\ir ../../procedures/omd_delivery/undo/_revert_entity.sql
\ir ../../procedures/omd_delivery/marks/_revert_mark.sql
\ir ../../procedures/omd_delivery/undo/revert_delivery.sql
\ir ../../procedures/omd_delivery/queue/persist_deliveries.sql
\ir ../../procedures/omd_delivery/purge/_purge_deltas.sql

-- Border to the facts
\ir ../../procedures/omd_delivery/queue/_raise_item.sql
\ir ../../procedures/omd_delivery/queue/_hold_item.sql
\ir ../../procedures/omd_delivery/queue/start_queue_item.sql
\ir ../../procedures/omd_delivery/queue/require_delta.sql
\ir ../../procedures/omd_delivery/deletes/_forget_keys.sql
\ir ../../procedures/omd_delivery/queue/finish_queue_item.sql
\ir ../../procedures/omd_delivery/queue/requeue_alone.sql
\ir ../../procedures/omd_delivery/queue/release_queue_item.sql
\ir ../../procedures/omd_delivery/states/move_delivery.sql
\ir ../../procedures/omd_delivery/marks/raise_high_water_mark.sql
\ir ../../procedures/omd_delivery/queue/unfinished_delivery.sql
\ir ../../procedures/omd_delivery/model/registry_document.sql
\ir ../../procedures/omd_delivery/deployment/hold_interface.sql
\ir ../../procedures/omd_delivery/queue/next_queue_item.sql
\ir ../../procedures/omd_delivery/queue/is_queued.sql
\ir ../../procedures/omd_delivery/queue/queue_item.sql
\ir ../../procedures/omd_delivery/queue/entity_runs.sql
\ir ../../procedures/omd_delivery/agreements/agreement_code.sql
\ir ../../procedures/omd_delivery/states/delivery_head.sql
\ir ../../procedures/omd_delivery/purge/is_purged.sql
\ir ../../procedures/omd_delivery/marks/lower_high_water_mark.sql
\ir ../../procedures/omd_delivery/agreements/delivery_terms.sql
\ir ../../procedures/omd_delivery/agreements/agreement_terms.sql
\ir ../../procedures/omd_delivery/agreements/write_terms.sql

-- Recalls
\ir ../../procedures/omd_delivery/provenance/deliveries_of_runs.sql
\ir ../../procedures/omd_delivery/provenance/runs_of_delivery.sql
\ir ../../procedures/omd_delivery/provenance/deliveries_by_id.sql
\ir ../../procedures/omd_delivery/provenance/deliveries_since.sql
\ir ../../procedures/omd_delivery/recalls/_read_entities.sql
\ir ../../procedures/omd_delivery/recalls/_recall_problem.sql
\ir ../../procedures/omd_delivery/recalls/recall_follows.sql
\ir ../../procedures/omd_delivery/recalls/recall_effects.sql
\ir ../../procedures/omd_delivery/recalls/recall_locks.sql
\ir ../../procedures/omd_delivery/recalls/take_back.sql
\ir ../../procedures/omd_delivery/recalls/recall_withdrawals.sql
\ir ../../procedures/omd_delivery/recalls/withdraw.sql
\ir ../../procedures/omd_delivery/returns/redeliver.sql
\ir ../../procedures/omd_delivery/returns/drop_return.sql

-- Receipts
\ir ../../procedures/omd_delivery/receipts/delivery_receipt.sql
\ir ../../procedures/omd_delivery/provenance/explained_rows.sql
\ir ../../procedures/omd_delivery/receipts/shown_deliveries.sql
\ir ../../procedures/omd_delivery/provenance/described_runs.sql
\ir ../../procedures/omd_delivery/receipts/files_of.sql
\ir ../../procedures/omd_delivery/receipts/violations_of.sql

-- Erasure
\ir ../../procedures/omd_delivery/erasure/subject_key.sql
\ir ../../procedures/omd_delivery/erasure/subject_links.sql
\ir ../../procedures/omd_delivery/erasure/_subject_sql.sql
\ir ../../procedures/omd_delivery/erasure/is_personal_text.sql
\ir ../../procedures/omd_delivery/erasure/subject_texts.sql
\ir ../../procedures/omd_delivery/erasure/count_references.sql
\ir ../../procedures/omd_delivery/erasure/erase_keys.sql

-- Triggers
\ir ../triggers/omd_delivery/deployed_tables.sql

-- Views
\ir ../views/omd_delivery/delivery_quarantine.sql
\ir ../views/omd_delivery/delivery_state.sql
\ir ../views/omd_delivery/delivery_log.sql
\ir ../views/omd_delivery/delivery_findings.sql
\ir ../views/omd_delivery/delivery_metrics.sql
\ir ../views/omd_delivery/delivery_queue.sql
\ir ../views/omd_delivery/open_queue.sql
\ir ../views/omd_delivery/delivery_marks.sql
\ir ../views/omd_delivery/delivery_events.sql
\ir ../views/omd_delivery/delivery_tenants.sql
\ir ../views/omd_delivery/delivery_agreements.sql
\ir ../views/omd_delivery/delivery_models.sql
\ir ../views/omd_delivery/delivery_constraints.sql
\ir ../views/omd_delivery/delivery_thresholds.sql
\ir ../views/omd_delivery/arrivals.sql
\ir ../views/omd_delivery/arrival_summary.sql
\ir ../views/omd_delivery/arrival_locations.sql
\ir ../views/omd_delivery/delivery_work.sql
\ir ../../procedures/omd_delivery/arrivals/next_delivery.sql
\ir ../views/omd_delivery/problem_list.sql

-- What is called by its name
\ir ../reference/omd_delivery/hooks.sql

-- Grants
\ir ../grants/omd_delivery.sql
\endif

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
\ir ../../procedures/omd_delivery/_text.sql
\ir ../../procedures/omd_delivery/_flag.sql
\ir ../../procedures/omd_delivery/_names.sql
\ir ../../procedures/omd_delivery/_without_nulls.sql
\ir ../../procedures/omd_delivery/_data_type.sql
\ir ../../procedures/omd_delivery/_type_kind.sql
\ir ../../procedures/omd_delivery/_type_widens.sql
\ir ../../procedures/omd_delivery/_is_value.sql
\ir ../../procedures/omd_delivery/_action_code.sql
\ir ../../procedures/omd_delivery/_open_end.sql
\ir ../../procedures/omd_delivery/_shape_problems.sql
\ir ../../procedures/omd_delivery/_model_nodes.sql
\ir ../../procedures/omd_delivery/_model_objects.sql
\ir ../../procedures/omd_delivery/_model_constraints.sql
\ir ../../procedures/omd_delivery/_content_problems.sql

-- Checks
\ir ../../procedures/omd_delivery/matches.sql
\ir ../../procedures/omd_delivery/delivery_date.sql
\ir ../../procedures/omd_delivery/_check_tokens.sql
\ir ../../procedures/omd_delivery/_spark_text.sql
\ir ../../procedures/omd_delivery/_spark_pattern.sql
\ir ../../procedures/omd_delivery/_pattern_backtracks.sql
\ir ../../procedures/omd_delivery/_check_literal.sql
\ir ../../procedures/omd_delivery/_check_as.sql
\ir ../../procedures/omd_delivery/_check_kind.sql
\ir ../../procedures/omd_delivery/_spark_decimal.sql
\ir ../../procedures/omd_delivery/_check_number.sql
\ir ../../procedures/omd_delivery/_check_expect.sql
\ir ../../procedures/omd_delivery/_check_constant.sql
\ir ../../procedures/omd_delivery/_check_attribute.sql
\ir ../../procedures/omd_delivery/_check_condition.sql
\ir ../../procedures/omd_delivery/_check_choice.sql
\ir ../../procedures/omd_delivery/_check_call.sql
\ir ../../procedures/omd_delivery/_check_part.sql
\ir ../../procedures/omd_delivery/_read_check.sql
\ir ../../procedures/omd_delivery/_check_problem.sql
\ir ../../procedures/omd_delivery/_spark_check.sql
\ir ../../procedures/omd_delivery/_model_problems.sql
\ir ../../procedures/omd_delivery/_setting_problem.sql
\ir ../../procedures/omd_delivery/_require_settings.sql
\ir ../../procedures/omd_delivery/_settings.sql
\ir ../../procedures/omd_delivery/_hold_interface.sql
\ir ../../procedures/omd_delivery/_entity_document.sql
\ir ../../procedures/omd_delivery/_model_document.sql
\ir ../../procedures/omd_delivery/model_document.sql
\ir ../../procedures/omd_delivery/_model_changes.sql
\ir ../../procedures/omd_delivery/_has_rows.sql
\ir ../../procedures/omd_delivery/_has_duplicates.sql
\ir ../../procedures/omd_delivery/_require_no_loss.sql
\ir ../../procedures/omd_delivery/_require_rest.sql
\ir ../../procedures/omd_delivery/_write_keys.sql
\ir ../../procedures/omd_delivery/_write_constraints.sql
\ir ../../procedures/omd_delivery/_write_registry.sql
\ir ../../procedures/omd_delivery/_run_lives.sql
\ir ../../procedures/omd_delivery/_raise_rows.sql
\ir ../../procedures/omd_delivery/_guard_delta.sql
\ir ../../procedures/omd_delivery/_guard_change.sql
\ir ../../procedures/omd_delivery/_guard_staging.sql
\ir ../../procedures/omd_delivery/_guard_table.sql
\ir ../../procedures/omd_delivery/_has_lines.sql
\ir ../../procedures/omd_delivery/_wants_lines.sql
\ir ../../procedures/omd_delivery/_make_tables.sql
\ir ../../procedures/omd_delivery/_keep_lines.sql
\ir ../../procedures/omd_delivery/_make_indexes.sql
\ir ../../procedures/omd_delivery/_raise_not_reverted.sql
\ir ../../procedures/omd_delivery/_require_unaccepted.sql
\ir ../../procedures/omd_delivery/undo_update.sql
\ir ../../procedures/omd_delivery/undo_runs.sql
\ir ../../procedures/omd_delivery/_make_schema.sql
\ir ../../procedures/omd_delivery/_save_delivery_inputs.sql
\ir ../../procedures/omd_delivery/declare_missing.sql
\ir ../../procedures/omd_delivery/_make_interface.sql
\ir ../../procedures/omd_delivery/_follow_model.sql
\ir ../../procedures/omd_delivery/_empty_hashes.sql
\ir ../../procedures/omd_delivery/deploy_model.sql

-- Deliveries
\ir ../../procedures/omd_delivery/_raise_argument.sql
\ir ../../procedures/omd_delivery/_require_delivery.sql
\ir ../../procedures/omd_delivery/_hold_delivery.sql
\ir ../../procedures/omd_delivery/_way_back.sql
\ir ../../procedures/omd_delivery/_require_event.sql
\ir ../../procedures/omd_delivery/_write_event.sql
\ir ../../procedures/omd_delivery/_hold_location.sql
\ir ../../procedures/omd_delivery/_follow_delivery.sql
\ir ../../procedures/omd_delivery/_move.sql
\ir ../../procedures/omd_delivery/_entity_sql.sql

-- Tenants and agreements
\ir ../../procedures/omd_delivery/register_tenant.sql
\ir ../../procedures/omd_delivery/remove_tenant.sql
\ir ../../procedures/omd_delivery/_context_keys.sql
\ir ../../procedures/omd_delivery/_require_context.sql
\ir ../../procedures/omd_delivery/_require_options.sql
\ir ../../procedures/omd_delivery/_hold_agreement.sql
\ir ../../procedures/omd_delivery/_require_effective.sql
\ir ../../procedures/omd_delivery/_agreed_entities.sql
\ir ../../procedures/omd_delivery/_register_agreement_module.sql
\ir ../../procedures/omd_delivery/_equip_agreement.sql
\ir ../../procedures/omd_delivery/agreements_of.sql
\ir ../../procedures/omd_delivery/_folder_pattern.sql
\ir ../../procedures/omd_delivery/_folder_datetime.sql
\ir ../../procedures/omd_delivery/_arrival_terms.sql
\ir ../../procedures/omd_delivery/_is_file_path.sql
\ir ../../procedures/omd_delivery/_interval_problem.sql
\ir ../../procedures/omd_delivery/_location_problem.sql
\ir ../../procedures/omd_delivery/_delivered_entities.sql
\ir ../../procedures/omd_delivery/_arrival_problems.sql
\ir ../../procedures/omd_delivery/_require_arrival.sql
\ir ../../procedures/omd_delivery/_require_export.sql
\ir ../../procedures/omd_delivery/register_agreement.sql

-- Creation
\ir ../../procedures/omd_delivery/_bound_entities.sql
\ir ../../procedures/omd_delivery/_contexts.sql
\ir ../../procedures/omd_delivery/_require_contexts.sql
\ir ../../procedures/omd_delivery/_overtaken.sql
\ir ../../procedures/omd_delivery/_require_marks.sql
\ir ../../procedures/omd_delivery/_empty_staging.sql
\ir ../../procedures/omd_delivery/_insert_delivery.sql
\ir ../../procedures/omd_delivery/insert_delivery.sql
\ir ../../procedures/omd_delivery/create_delivery.sql
\ir ../../procedures/omd_delivery/report_loaded.sql

-- What comes again
\ir ../views/omd_delivery/delivery_return.sql
\ir ../../procedures/omd_delivery/_return_before.sql
\ir ../../procedures/omd_delivery/_find_withdrawn.sql
\ir ../../procedures/omd_delivery/_follow_returns.sql
\ir ../../procedures/omd_delivery/_recorded_files.sql
\ir ../../procedures/omd_delivery/_listed_files.sql
\ir ../../procedures/omd_delivery/_files_problem.sql
\ir ../../procedures/omd_delivery/_hand_reason.sql
\ir ../../procedures/omd_delivery/_redeliver_entry.sql

-- Arrivals
\ir ../../procedures/omd_delivery/_require_seen.sql
\ir ../../procedures/omd_delivery/_manifest_problem.sql
\ir ../../procedures/omd_delivery/_seen_folders.sql
\ir ../../procedures/omd_delivery/claim_look.sql
\ir ../../procedures/omd_delivery/report_arrivals.sql
\ir ../../procedures/omd_delivery/take_arrival.sql
\ir ../../procedures/omd_delivery/modules_near.sql
\ir ../../procedures/omd_delivery/check_arrival.sql
\ir ../../procedures/omd_delivery/_move_files.sql
\ir ../../procedures/omd_delivery/finish_arrival.sql
\ir ../../procedures/omd_delivery/forget_arrival.sql

-- Runs
\ir ../../procedures/omd_delivery/_end_run.sql
\ir ../../procedures/omd_delivery/_give_up_runs.sql
\ir ../../procedures/omd_delivery/_running_delivery.sql
\ir ../../procedures/omd_delivery/_raise_fenced.sql
\ir ../../procedures/omd_delivery/_hold_attempt.sql
\ir ../../procedures/omd_delivery/_require_run.sql
\ir ../../procedures/omd_delivery/_fix_constraints.sql
\ir ../../procedures/omd_delivery/begin_delivery.sql
\ir ../../procedures/omd_delivery/_action_name.sql
\ir ../../procedures/omd_delivery/_entity_plan.sql
\ir ../../procedures/omd_delivery/validation_plan.sql
\ir ../../procedures/omd_delivery/heartbeat_delivery.sql
\ir ../../procedures/omd_delivery/fail_delivery.sql
\ir ../../procedures/omd_delivery/reject_delivery.sql
\ir ../../procedures/omd_delivery/cancel_delivery.sql

-- Verdicts
\ir ../../procedures/omd_delivery/_raise_measures.sql
\ir ../../procedures/omd_delivery/_require_open_stage.sql
\ir ../../procedures/omd_delivery/register_violations.sql
\ir ../../procedures/omd_delivery/register_samples.sql
\ir ../../procedures/omd_delivery/register_files.sql
\ir ../../procedures/omd_delivery/_exceeds.sql
\ir ../../procedures/omd_delivery/_delete_delta.sql
\ir ../../procedures/omd_delivery/_delete_strays.sql
\ir ../../procedures/omd_delivery/_succeed_run.sql
\ir ../../procedures/omd_delivery/stage_verdict.sql

-- Deltas
\ir ../../procedures/omd_delivery/log_removal.sql
\ir ../../procedures/omd_delivery/_raise_delta.sql
\ir ../../procedures/omd_delivery/_check_delta.sql
\ir ../../procedures/omd_delivery/_remove_keys.sql
\ir ../../procedures/omd_delivery/_apply_entity.sql
\ir ../../procedures/omd_delivery/apply_delta.sql
\ir ../../procedures/omd_delivery/_revert_entity.sql
\ir ../../procedures/omd_delivery/_revert_mark.sql
\ir ../../procedures/omd_delivery/revert_delivery.sql
\ir ../../procedures/omd_delivery/persist_deliveries.sql
\ir ../../procedures/omd_delivery/_purge_deltas.sql

-- Border to the facts
\ir ../../procedures/omd_delivery/_raise_item.sql
\ir ../../procedures/omd_delivery/_hold_item.sql
\ir ../../procedures/omd_delivery/start_queue_item.sql
\ir ../../procedures/omd_delivery/require_delta.sql
\ir ../../procedures/omd_delivery/_forget_keys.sql
\ir ../../procedures/omd_delivery/finish_queue_item.sql
\ir ../../procedures/omd_delivery/requeue_alone.sql
\ir ../../procedures/omd_delivery/release_queue_item.sql
\ir ../../procedures/omd_delivery/move_delivery.sql
\ir ../../procedures/omd_delivery/raise_high_water_mark.sql
\ir ../../procedures/omd_delivery/unfinished_delivery.sql
\ir ../../procedures/omd_delivery/registry_document.sql
\ir ../../procedures/omd_delivery/hold_interface.sql
\ir ../../procedures/omd_delivery/next_queue_item.sql
\ir ../../procedures/omd_delivery/is_queued.sql
\ir ../../procedures/omd_delivery/queue_item.sql
\ir ../../procedures/omd_delivery/entity_runs.sql
\ir ../../procedures/omd_delivery/agreement_code.sql
\ir ../../procedures/omd_delivery/delivery_head.sql
\ir ../../procedures/omd_delivery/is_purged.sql
\ir ../../procedures/omd_delivery/lower_high_water_mark.sql
\ir ../../procedures/omd_delivery/delivery_terms.sql
\ir ../../procedures/omd_delivery/agreement_terms.sql
\ir ../../procedures/omd_delivery/write_terms.sql

-- Recalls
\ir ../../procedures/omd_delivery/deliveries_of_runs.sql
\ir ../../procedures/omd_delivery/runs_of_delivery.sql
\ir ../../procedures/omd_delivery/deliveries_by_id.sql
\ir ../../procedures/omd_delivery/deliveries_since.sql
\ir ../../procedures/omd_delivery/_read_entities.sql
\ir ../../procedures/omd_delivery/_recall_problem.sql
\ir ../../procedures/omd_delivery/recall_follows.sql
\ir ../../procedures/omd_delivery/recall_effects.sql
\ir ../../procedures/omd_delivery/recall_locks.sql
\ir ../../procedures/omd_delivery/take_back.sql
\ir ../../procedures/omd_delivery/recall_withdrawals.sql
\ir ../../procedures/omd_delivery/withdraw.sql
\ir ../../procedures/omd_delivery/note_erasure.sql
\ir ../../procedures/omd_delivery/redeliver.sql
\ir ../../procedures/omd_delivery/drop_return.sql

-- Receipts
\ir ../../procedures/omd_delivery/delivery_receipt.sql
\ir ../../procedures/omd_delivery/explained_rows.sql
\ir ../../procedures/omd_delivery/shown_deliveries.sql
\ir ../../procedures/omd_delivery/described_runs.sql
\ir ../../procedures/omd_delivery/files_of.sql
\ir ../../procedures/omd_delivery/violations_of.sql

-- Erasure
\ir ../../procedures/omd_delivery/subject_key.sql
\ir ../../procedures/omd_delivery/subject_links.sql
\ir ../../procedures/omd_delivery/_subject_sql.sql
\ir ../../procedures/omd_delivery/is_personal_text.sql
\ir ../../procedures/omd_delivery/subject_texts.sql
\ir ../../procedures/omd_delivery/count_references.sql
\ir ../../procedures/omd_delivery/erase_keys.sql

-- Triggers
\ir ../triggers/omd_delivery/deployed_tables.sql

-- Views
\ir ../views/omd_delivery/quarantine.sql
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
\ir ../views/omd_delivery/problem_list.sql

-- Grants
\ir ../grants/omd_delivery.sql
\endif

-- This list says what is installed for the facts, in order. sql/install.sql includes it.

\set checksum 'f87228049cf4a4d93c232ef52511d1101f16a60b85916b321dca662cea1ee09e'
\set phase 'baseline'
\set migration 'V155__omd_facts'
\ir ../setup/claim.psql
\if :pending
\ir ../../migrations/V155__omd_facts.sql
\endif

\set checksum '0318a0109f713b56b0ae503e67dff36d3ad08ff531084b7c28b17b8439522b09'
\set migration 'V210__status_of_loads'
\ir ../setup/claim.psql
\if :pending
\ir ../../migrations/V210__status_of_loads.sql
\endif

\set checksum '46b256cc358aa204c4880c486127d012b8c81004ee4b75a03af20f3531551e61'
\set migration 'V220__one_place_of_templates'
\ir ../setup/claim.psql
\if :pending
\ir ../../migrations/V220__one_place_of_templates.sql
\endif

\set checksum 'c44ccbd190a2a820e07fd9cf879bc188c564ec9a7d17b89914ed7fd8577c4d7c'
\set migration 'V221__one_engine_of_templates'
\ir ../setup/claim.psql
\if :pending
\ir ../../migrations/V221__one_engine_of_templates.sql
\endif

\if :is_install
-- Reference rows
\ir ../reference/omd_facts/error_catalogue.sql
\ir ../reference/omd_facts/server.sql
\ir ../reference/omd_facts/module_kinds.sql
\ir ../reference/omd_facts/delivery_statuses.sql
\ir ../reference/omd_facts/purge_steps.sql
\ir ../reference/omd_facts/texts.sql

-- Changes
\ir ../../procedures/omd_facts/changes/_source_code.sql
\ir ../../procedures/omd_facts/changes/_begin_change.sql
\ir ../../procedures/omd_facts/changes/_end_change.sql
\ir ../../procedures/omd_facts/changes/_end_written_change.sql
\ir ../../procedures/omd_facts/changes/_note_key.sql
\ir ../../procedures/omd_facts/changes/_note_slice.sql
\ir ../../procedures/omd_facts/readers/_take_position.sql
\ir ../../procedures/omd_facts/readers/_take_interface.sql
\ir ../triggers/omd_facts/change_end.sql

-- Mapping
\ir ../../procedures/omd_facts/time/_open_end.sql
\ir ../../procedures/omd_facts/mapping/_name.sql
\ir ../../procedures/omd_facts/mapping/_raise_mapping.sql
\ir ../../procedures/omd_facts/mapping/_is_in_key.sql
\ir ../../procedures/omd_facts/mapping/_require_words.sql
\ir ../../procedures/omd_facts/mapping/_stated_contexts.sql
\ir ../../procedures/omd_facts/mapping/_load_orders.sql
\ir ../../procedures/omd_facts/mapping/_write_context.sql
\ir ../../procedures/omd_facts/mapping/_require_validity.sql
\ir ../../procedures/omd_facts/mapping/_write_indexes.sql
\ir ../../procedures/omd_facts/mapping/_write_entity.sql
\ir ../../procedures/omd_facts/mapping/_write_links.sql
\ir ../../procedures/omd_facts/changes/_require_unread.sql
\ir ../../procedures/omd_facts/mapping/_write_mapping.sql
\ir ../../procedures/omd_facts/mapping/_stored_mapping.sql
\ir ../../procedures/omd_facts/deployment/_raise_not_deployed.sql
\ir ../../procedures/omd_facts/deployment/_require_interface.sql

-- Deployment
\ir ../../procedures/omd_facts/deployment/_type_widens.sql
\ir ../../procedures/omd_facts/deployment/_has_rows.sql
\ir ../../procedures/omd_facts/deployment/_wanted_columns.sql
\ir ../../procedures/omd_facts/indexes/_text_bytes.sql
\ir ../../procedures/omd_facts/indexes/_index_definition.sql
\ir ../../procedures/omd_facts/indexes/_wanted_indexes.sql
\ir ../../procedures/omd_facts/indexes/_missing_indexes.sql
\ir ../../procedures/omd_facts/deployment/_schema_statements.sql
\ir ../../procedures/omd_facts/deployment/_follow_mapping.sql
\ir ../../procedures/omd_facts/deployment/_table_statements.sql
\ir ../../procedures/omd_facts/views/_alias.sql
\ir ../../procedures/omd_facts/views/_view_items.sql
\ir ../../procedures/omd_facts/views/_select_list.sql
\ir ../../procedures/omd_facts/views/_history_from.sql
\ir ../../procedures/omd_facts/time/_bounded_sql.sql
\ir ../../procedures/omd_facts/changes/_block_sql.sql
\ir ../../procedures/omd_facts/time/_moment_sql.sql
\ir ../../procedures/omd_facts/views/_wanted_views.sql
\ir ../../procedures/omd_facts/writes/_odd_value_sql.sql
\ir ../../procedures/omd_facts/writes/_writer_context.sql
\ir ../../procedures/omd_facts/writes/_writer_parents.sql
\ir ../../procedures/omd_facts/writes/_writer_refusals.sql
\ir ../../procedures/omd_facts/writes/_writer_data.sql
\ir ../../procedures/omd_facts/writes/_writer_sql.sql
\ir ../../procedures/omd_facts/views/_function_statements.sql
\ir ../../procedures/omd_facts/views/_view_statements.sql
\ir ../../procedures/omd_facts/views/_views_shrink.sql
\ir ../../procedures/omd_facts/views/_present_views.sql
\ir ../../procedures/omd_facts/loads/_context_pieces.sql
\ir ../../procedures/omd_facts/changes/_change_pieces.sql
\ir ../../procedures/omd_facts/changes/_as_of_block.sql
\ir ../../procedures/omd_facts/changes/_changes_sql.sql
\ir ../../procedures/omd_facts/changes/_changes_statements.sql
\ir ../../procedures/omd_facts/changes/_switch_changes.sql
\ir ../../procedures/omd_facts/views/_drop_views.sql
\ir ../../procedures/omd_facts/views/_kept_grants.sql
\ir ../../procedures/omd_facts/deployment/_execute_all.sql
\ir ../../procedures/omd_facts/key_roots/_shared_statements.sql
\ir ../../procedures/omd_facts/key_roots/_lacks_members.sql
\ir ../../procedures/omd_facts/key_roots/_lacks_roots.sql
\ir ../../procedures/omd_facts/key_roots/_fill_shared.sql
\ir ../../procedures/omd_facts/key_roots/_shared_views.sql
\ir ../../procedures/omd_facts/deployment/_register_module.sql
\ir ../../procedures/omd_facts/deployment/equip_agreement.sql
\ir ../../procedures/omd_facts/deployment/_warn_unknown_keys.sql
\ir ../../procedures/omd_facts/deployment/hold_views.sql
\ir ../../procedures/omd_facts/deployment/_is_deployed.sql
\ir ../../procedures/omd_facts/deployment/_deploy.sql
\ir ../../procedures/omd_facts/deployment/build_deploy_sql.sql
\ir ../../procedures/omd_facts/deployment/deploy.sql

-- Loads
\ir ../../procedures/omd_facts/loads/_anchor_columns.sql
\ir ../../procedures/omd_facts/loads/_references.sql
\ir ../../procedures/omd_facts/loads/_key_pieces.sql
\ir ../../procedures/omd_facts/key_roots/_root_statements.sql
\ir ../../procedures/omd_facts/key_roots/_load_roots.sql
\ir ../../procedures/omd_facts/loads/_context_statements.sql
\ir ../../procedures/omd_facts/changes/_change_statements.sql
\ir ../../procedures/omd_facts/loads/_supertype_statements.sql
\ir ../../procedures/omd_facts/loads/_entity_statements.sql
\ir ../../procedures/omd_facts/loads/build_load_sql.sql
\ir ../../procedures/omd_facts/indexes/_index_tables.sql
\ir ../../procedures/omd_facts/loads/_analyze_grown.sql
\ir ../../procedures/omd_facts/loads/_removed_anchors.sql
\ir ../../procedures/omd_facts/loads/_refused_key.sql
\ir ../../procedures/omd_facts/loads/_raise_refused.sql
\ir ../../procedures/omd_facts/loads/_load_entity.sql
\ir ../../procedures/omd_facts/loads/_with_supertypes.sql
\ir ../../procedures/omd_facts/loads/_record_load.sql
\ir ../../procedures/omd_facts/loads/_load_item.sql
\ir ../../procedures/omd_facts/readers/_waits_for_readers.sql
\ir ../../procedures/omd_facts/loads/_begin_item.sql
\ir ../../procedures/omd_facts/loads/_interface_of.sql
\ir ../../procedures/omd_facts/loads/begin_run.sql
\ir ../../procedures/omd_facts/loads/next_load.sql
\ir ../../procedures/omd_facts/loads/end_run.sql
\ir ../../procedures/omd_facts/loads/load.sql
\ir ../../procedures/omd_facts/loads/_interfaces_to_load.sql
\ir ../../procedures/omd_facts/loads/load_all.sql

-- Writes through views
\ir ../../procedures/omd_facts/writes/_raise_mark.sql
\ir ../../procedures/omd_facts/indexes/_index_all.sql
\ir ../../procedures/omd_facts/writes/_hold.sql
\ir ../../procedures/omd_facts/writes/_current_row.sql
\ir ../../procedures/omd_facts/writes/_is_agreed.sql
\ir ../../procedures/omd_facts/writes/_require_agreed.sql
\ir ../../procedures/omd_facts/deletes/_analyze_removed.sql
\ir ../../procedures/omd_facts/writes/hold.sql
\ir ../../procedures/omd_facts/writes/open_delivery.sql
\ir ../../procedures/omd_facts/writes/close_delivery.sql
\ir ../../procedures/omd_facts/controls/register_control.sql
\ir ../../procedures/omd_facts/controls/_control_copy.sql
\ir ../../procedures/omd_facts/controls/_control_text.sql
\ir ../../procedures/omd_facts/controls/_copy_control.sql
\ir ../../procedures/omd_facts/controls/_run_controls.sql
\ir ../../procedures/omd_facts/deletes/_log_removal.sql
\ir ../../procedures/omd_facts/deletes/_note_erased.sql
\ir ../../procedures/omd_facts/deletes/_require_physical.sql
\ir ../../procedures/omd_facts/deletes/_deletes_physically.sql
\ir ../../procedures/omd_facts/deletes/_after_delete.sql

-- Undo
\ir ../../procedures/omd_facts/undo/_raise_not_undone.sql
\ir ../../procedures/omd_facts/undo/_written_entities.sql
\ir ../../procedures/omd_facts/undo/_undo_marks.sql
\ir ../../procedures/omd_facts/undo/_require_undoable.sql
\ir ../../procedures/omd_facts/undo/_undo_load.sql
\ir ../../procedures/omd_facts/undo/_undo_change.sql
\ir ../../procedures/omd_facts/undo/undo_loads.sql
\ir ../../procedures/omd_facts/undo/undo_runs.sql
\ir ../../procedures/omd_facts/undo/_revert_undone.sql
\ir ../../procedures/omd_facts/undo/_require_load.sql
\ir ../../procedures/omd_facts/readers/_close_position.sql
\ir ../../procedures/omd_facts/readers/_open_position.sql
\ir ../../procedures/omd_facts/undo/_undo.sql
\ir ../../procedures/omd_facts/undo/undo.sql
\ir ../../procedures/omd_facts/recalls/_loads_of_runs.sql
\ir ../../procedures/omd_facts/recalls/_recall_problem.sql
\ir ../../procedures/omd_facts/recalls/recall_follows.sql
\ir ../../procedures/omd_facts/provenance/exports_of_runs.sql
\ir ../../procedures/omd_facts/provenance/runs_of_deliveries.sql
\ir ../../procedures/omd_facts/changes/purged_upto.sql
\ir ../../procedures/omd_facts/recalls/recall_effects.sql
\ir ../../procedures/omd_facts/recalls/recall_locks.sql
\ir ../../procedures/omd_facts/recalls/take_back.sql
\ir ../../procedures/omd_facts/resync/_difference_sql.sql
\ir ../../procedures/omd_facts/resync/resync.sql
\ir ../../procedures/omd_facts/resync/verify.sql

-- Time
\ir ../../procedures/omd_facts/time/as_of.sql
\ir ../../procedures/omd_facts/time/traveling_now.sql
\ir ../../procedures/omd_facts/time/read_bound.sql
\ir ../../procedures/omd_facts/changes/show_changes.sql
\ir ../../procedures/omd_facts/changes/show_block.sql
\ir ../../procedures/omd_facts/changes/change_at.sql
\ir ../../procedures/omd_facts/changes/next_change.sql
\ir ../../procedures/omd_facts/changes/plan_changes.sql
\ir ../../procedures/omd_facts/changes/changes_view.sql
\ir ../../procedures/omd_facts/provenance/explained_facts.sql
\ir ../../procedures/omd_facts/provenance/deliveries_of.sql
\ir ../../procedures/omd_facts/provenance/described_loads.sql
\ir ../../procedures/omd_facts/provenance/described_entities.sql
\ir ../../procedures/omd_facts/changes/may_end.sql
\ir ../../procedures/omd_facts/changes/_unneeded_upto.sql
\ir ../../procedures/omd_facts/changes/_purge_keys.sql
\ir ../../procedures/omd_facts/provenance/written_entities.sql
\ir ../../procedures/omd_facts/provenance/writers_of_entity.sql
\ir ../../procedures/omd_facts/provenance/stands_for.sql
\ir ../../procedures/omd_facts/changes/changes_of_runs.sql
\ir ../../procedures/omd_facts/changes/changes_in_block.sql

-- Export
\ir ../../procedures/omd_facts/export/_raise_export.sql
\ir ../../procedures/omd_facts/export/_hold_export.sql
\ir ../../procedures/omd_facts/export/_require_unended.sql
\ir ../../procedures/omd_facts/export/_export_options.sql
\ir ../../procedures/omd_facts/export/_exported_tables.sql
\ir ../../procedures/omd_facts/export/create_export.sql
\ir ../../procedures/omd_facts/export/_export_since.sql
\ir ../../procedures/omd_facts/export/_moment_literal.sql
\ir ../../procedures/omd_facts/export/_refuse_export.sql
\ir ../../procedures/omd_facts/export/_exported_sql.sql
\ir ../../procedures/omd_facts/export/_export_sql.sql
\ir ../../procedures/omd_facts/export/_export_cuts.sql
\ir ../../procedures/omd_facts/export/begin_export.sql
\ir ../../procedures/omd_facts/export/finish_export.sql
\ir ../../procedures/omd_facts/export/cancel_export.sql
\ir ../../procedures/omd_facts/export/_export_is_due.sql
\ir ../../procedures/omd_facts/export/_export_lives.sql
\ir ../../procedures/omd_facts/export/due_export.sql

-- Erasure
\ir ../../procedures/omd_facts/erasure/subject_supertypes.sql
\ir ../../procedures/omd_facts/erasure/_subject_sql.sql
\ir ../../procedures/omd_facts/erasure/subject_texts.sql
\ir ../../procedures/omd_facts/erasure/count_references.sql
\ir ../../procedures/omd_facts/erasure/hold_erasure.sql
\ir ../../procedures/omd_facts/erasure/erase_keys.sql

-- Views
\ir ../views/omd_facts/facts_map.sql
\ir ../views/omd_facts/facts_state.sql
\ir ../views/omd_facts/load_work.sql
\ir ../views/omd_facts/facts_loads.sql
\ir ../views/omd_facts/facts_deliveries.sql
\ir ../views/omd_facts/facts_removals.sql
\ir ../views/omd_facts/facts_exports.sql
\ir ../views/omd_facts/export_work.sql
\ir ../../procedures/omd_facts/export/next_export.sql

-- What is called by its name
\ir ../reference/omd_facts/hooks.sql

-- Grants
\ir ../grants/omd_facts.sql
\endif

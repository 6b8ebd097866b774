-- This list says what is installed for the facts, in order. sql/install.sql includes it.

-- What databases from before 1.0 lack.
\if :former
\set checksum '9faa0057ad348353212f925ba177a0948dc98ddd3ba661db8daff78785d73325'
\set phase 'before_1_0'
\set migration 'V030__facts'
\ir ../setup/claim.psql
\if :pending
\ir ../../migrations/before_1_0/V030__facts.sql
\endif

\set checksum '45ecd2169f5ca2afc2e141f608419b4757c77bea01ea0db8ac5c7874c09d906d'
\set phase 'before_1_0'
\set migration 'V038__former_anchors'
\ir ../setup/claim.psql
\if :pending
\ir ../../migrations/before_1_0/V038__former_anchors.sql
\endif

\set checksum '1091f92925be4aabab5ddbd59d38b67ad737ff43f2faaa702fb1822d1421cb9c'
\set phase 'before_1_0'
\set migration 'V048__writers_terms'
\ir ../setup/claim.psql
\if :pending
\ir ../../migrations/before_1_0/V048__writers_terms.sql
\endif

\set checksum 'bc809a445557cf4ec39f27e0c05a4d4d6df06a60bea8dd7bc765d1ad274010b8'
\set phase 'before_1_0'
\set migration 'V059__writers_data'
\ir ../setup/claim.psql
\if :pending
\ir ../../migrations/before_1_0/V059__writers_data.sql
\endif

\set checksum '3746bd0246c7dab3a4f545c47b49be71b38690d340d6fd104e2c69694be5aa18'
\set phase 'before_1_0'
\set migration 'V067__changes'
\ir ../setup/claim.psql
\if :pending
\ir ../../migrations/before_1_0/V067__changes.sql
\endif

\set checksum '1f42c71f2be939e4fd3f9942176cf0cbb968e3ef7e0d488bf4f050e772cd2de2'
\set phase 'before_1_0'
\set migration 'V073__exports_by_themselves'
\ir ../setup/claim.psql
\if :pending
\ir ../../migrations/before_1_0/V073__exports_by_themselves.sql
\endif

\set checksum 'fa17dd15d2915e081f153956ee75afe955cbed3183eb2851588b2d4deb820284'
\set phase 'before_1_0'
\set migration 'V083__changes_of_runs'
\ir ../setup/claim.psql
\if :pending
\ir ../../migrations/before_1_0/V083__changes_of_runs.sql
\endif

\set checksum '5ff521f1660ece90c2d4801923f7e7acf7240fd415f3006c3cc2e1db8e4b6444'
\set phase 'before_1_0'
\set migration 'V078__trace'
\ir ../setup/claim.psql
\if :pending
\ir ../../migrations/before_1_0/V078__trace.sql
\endif

\set checksum 'fd4e5c7bce48ce217af84a06abcacf1963c85fbe5a10b410eeeb0ea981c4fc89'
\set phase 'before_1_0'
\set migration 'V086__recalled_changes'
\ir ../setup/claim.psql
\if :pending
\ir ../../migrations/before_1_0/V086__recalled_changes.sql
\endif

\set checksum '958e9bf209970a45f1e4c93d34eab0ed032cf50bc8daadaad6bf2616afc0977c'
\set phase 'before_1_0'
\set migration 'V097__exports_in_batches'
\ir ../setup/claim.psql
\if :pending
\ir ../../migrations/before_1_0/V097__exports_in_batches.sql
\endif

\set checksum 'a43887e15e4cbdda305fe96bb22cf8cf6a74f3238baee1ef0f0e27c68ced3856'
\set phase 'before_1_0'
\set migration 'V125__facts_of_a_transaction'
\ir ../setup/claim.psql
\if :pending
\ir ../../migrations/before_1_0/V125__facts_of_a_transaction.sql
\endif
\endif

\set checksum 'f87228049cf4a4d93c232ef52511d1101f16a60b85916b321dca662cea1ee09e'
\set phase 'baseline'
\set migration 'V155__omd_facts'
\ir ../setup/claim.psql
\if :pending
\ir ../../migrations/V155__omd_facts.sql
\endif

-- What databases from before 1.0 lack.
\if :former
\endif
\if :is_install
-- Reference rows
\ir ../reference/omd_facts/error_catalogue.sql
\ir ../reference/omd_facts/server.sql
\ir ../reference/omd_facts/module_kinds.sql
\ir ../reference/omd_facts/delivery_statuses.sql
\ir ../reference/omd_facts/read_bounds.sql
\ir ../reference/omd_facts/listeners.sql
\ir ../reference/omd_facts/source_kinds.sql
\ir ../reference/omd_facts/texts.sql

-- Changes
\ir ../../procedures/omd_facts/_source_code.sql
\ir ../../procedures/omd_facts/_begin_change.sql
\ir ../../procedures/omd_facts/_end_change.sql
\ir ../../procedures/omd_facts/_end_written_change.sql
\ir ../../procedures/omd_facts/_note_key.sql
\ir ../../procedures/omd_facts/_note_slice.sql
\ir ../../procedures/omd_facts/_take_position.sql
\ir ../../procedures/omd_facts/_take_interface.sql
\ir ../triggers/omd_facts/change_end.sql

-- Mapping
\ir ../../procedures/omd_facts/_open_end.sql
\ir ../../procedures/omd_facts/_name.sql
\ir ../../procedures/omd_facts/_fill.sql
\ir ../../procedures/omd_facts/_raise_mapping.sql
\ir ../../procedures/omd_facts/_is_in_key.sql
\ir ../../procedures/omd_facts/_require_words.sql
\ir ../../procedures/omd_facts/_stated_contexts.sql
\ir ../../procedures/omd_facts/_load_orders.sql
\ir ../../procedures/omd_facts/_write_context.sql
\ir ../../procedures/omd_facts/_require_validity.sql
\ir ../../procedures/omd_facts/_write_indexes.sql
\ir ../../procedures/omd_facts/_write_entity.sql
\ir ../../procedures/omd_facts/_write_links.sql
\ir ../../procedures/omd_facts/_require_unread.sql
\ir ../../procedures/omd_facts/_write_mapping.sql
\ir ../../procedures/omd_facts/_stored_mapping.sql
\ir ../../procedures/omd_facts/_raise_not_deployed.sql
\ir ../../procedures/omd_facts/_require_interface.sql

-- Deployment
\ir ../../procedures/omd_facts/_type_widens.sql
\ir ../../procedures/omd_facts/_has_rows.sql
\ir ../../procedures/omd_facts/_wanted_columns.sql
\ir ../../procedures/omd_facts/_text_bytes.sql
\ir ../../procedures/omd_facts/_index_definition.sql
\ir ../../procedures/omd_facts/_wanted_indexes.sql
\ir ../../procedures/omd_facts/_missing_indexes.sql
\ir ../../procedures/omd_facts/_schema_statements.sql
\ir ../../procedures/omd_facts/_follow_mapping.sql
\ir ../../procedures/omd_facts/_table_statements.sql
\ir ../../procedures/omd_facts/_alias.sql
\ir ../../procedures/omd_facts/_view_items.sql
\ir ../../procedures/omd_facts/_select_list.sql
\ir ../../procedures/omd_facts/_history_from.sql
\ir ../../procedures/omd_facts/_bounded_sql.sql
\ir ../../procedures/omd_facts/_block_sql.sql
\ir ../../procedures/omd_facts/_moment_sql.sql
\ir ../../procedures/omd_facts/_wanted_views.sql
\ir ../../procedures/omd_facts/_odd_value_sql.sql
\ir ../../procedures/omd_facts/_render.sql
\ir ../../procedures/omd_facts/_writer_context.sql
\ir ../../procedures/omd_facts/_writer_parents.sql
\ir ../../procedures/omd_facts/_writer_refusals.sql
\ir ../../procedures/omd_facts/_writer_data.sql
\ir ../../procedures/omd_facts/_writer_sql.sql
\ir ../../procedures/omd_facts/_function_statements.sql
\ir ../../procedures/omd_facts/_view_statements.sql
\ir ../../procedures/omd_facts/_views_shrink.sql
\ir ../../procedures/omd_facts/_present_views.sql
\ir ../../procedures/omd_facts/_context_pieces.sql
\ir ../../procedures/omd_facts/_change_pieces.sql
\ir ../../procedures/omd_facts/_as_of_block.sql
\ir ../../procedures/omd_facts/_changes_sql.sql
\ir ../../procedures/omd_facts/_changes_statements.sql
\ir ../../procedures/omd_facts/_switch_changes.sql
\ir ../../procedures/omd_facts/_drop_views.sql
\ir ../../procedures/omd_facts/_kept_grants.sql
\ir ../../procedures/omd_facts/_execute_all.sql
\ir ../../procedures/omd_facts/_shared_statements.sql
\ir ../../procedures/omd_facts/_lacks_members.sql
\ir ../../procedures/omd_facts/_lacks_roots.sql
\ir ../../procedures/omd_facts/_fill_shared.sql
\ir ../../procedures/omd_facts/_shared_views.sql
\ir ../../procedures/omd_facts/_register_module.sql
\ir ../../procedures/omd_facts/equip_agreement.sql
\ir ../../procedures/omd_facts/_warn_unknown_keys.sql
\ir ../../procedures/omd_facts/_raise_not_held.sql
\ir ../../procedures/omd_facts/hold_views.sql
\ir ../../procedures/omd_facts/_is_deployed.sql
\ir ../../procedures/omd_facts/_deploy.sql
\ir ../../procedures/omd_facts/build_deploy_sql.sql
\ir ../../procedures/omd_facts/deploy.sql

-- Loads
\ir ../../procedures/omd_facts/_anchor_columns.sql
\ir ../../procedures/omd_facts/_references.sql
\ir ../../procedures/omd_facts/_key_pieces.sql
\ir ../../procedures/omd_facts/_root_statements.sql
\ir ../../procedures/omd_facts/_load_roots.sql
\ir ../../procedures/omd_facts/_context_statements.sql
\ir ../../procedures/omd_facts/_change_statements.sql
\ir ../../procedures/omd_facts/_supertype_statements.sql
\ir ../../procedures/omd_facts/_entity_statements.sql
\ir ../../procedures/omd_facts/build_load_sql.sql
\ir ../../procedures/omd_facts/_index_tables.sql
\ir ../../procedures/omd_facts/_analyze_grown.sql
\ir ../../procedures/omd_facts/_removed_anchors.sql
\ir ../../procedures/omd_facts/_refused_key.sql
\ir ../../procedures/omd_facts/_raise_refused.sql
\ir ../../procedures/omd_facts/_load_entity.sql
\ir ../../procedures/omd_facts/_with_supertypes.sql
\ir ../../procedures/omd_facts/_record_load.sql
\ir ../../procedures/omd_facts/_load_item.sql
\ir ../../procedures/omd_facts/_waits_for_readers.sql
\ir ../../procedures/omd_facts/_begin_item.sql
\ir ../../procedures/omd_facts/_interface_of.sql
\ir ../../procedures/omd_facts/begin_run.sql
\ir ../../procedures/omd_facts/end_run.sql
\ir ../../procedures/omd_facts/load.sql
\ir ../../procedures/omd_facts/_interfaces_to_load.sql
\ir ../../procedures/omd_facts/load_all.sql

-- Writes through views
\ir ../../procedures/omd_facts/_raise_mark.sql
\ir ../../procedures/omd_facts/_index_all.sql
\ir ../../procedures/omd_facts/_hold.sql
\ir ../../procedures/omd_facts/_current_row.sql
\ir ../../procedures/omd_facts/_is_agreed.sql
\ir ../../procedures/omd_facts/_require_agreed.sql
\ir ../../procedures/omd_facts/_analyze_removed.sql
\ir ../../procedures/omd_facts/hold.sql
\ir ../../procedures/omd_facts/open_delivery.sql
\ir ../../procedures/omd_facts/close_delivery.sql
\ir ../../procedures/omd_facts/register_control.sql
\ir ../../procedures/omd_facts/_control_copy.sql
\ir ../../procedures/omd_facts/_control_text.sql
\ir ../../procedures/omd_facts/_copy_control.sql
\ir ../../procedures/omd_facts/_run_controls.sql
\ir ../../procedures/omd_facts/_log_removal.sql
\ir ../../procedures/omd_facts/_note_erased.sql
\ir ../../procedures/omd_facts/_require_physical.sql
\ir ../../procedures/omd_facts/_deletes_physically.sql
\ir ../../procedures/omd_facts/_after_delete.sql

-- Undo
\ir ../../procedures/omd_facts/_raise_not_undone.sql
\ir ../../procedures/omd_facts/_written_entities.sql
\ir ../../procedures/omd_facts/_undo_marks.sql
\ir ../../procedures/omd_facts/_require_undoable.sql
\ir ../../procedures/omd_facts/_undo_load.sql
\ir ../../procedures/omd_facts/_undo_change.sql
\ir ../../procedures/omd_facts/undo_loads.sql
\ir ../../procedures/omd_facts/undo_runs.sql
\ir ../../procedures/omd_facts/_revert_undone.sql
\ir ../../procedures/omd_facts/_require_load.sql
\ir ../../procedures/omd_facts/_close_position.sql
\ir ../../procedures/omd_facts/_open_position.sql
\ir ../../procedures/omd_facts/_undo.sql
\ir ../../procedures/omd_facts/undo.sql
\ir ../../procedures/omd_facts/_loads_of_runs.sql
\ir ../../procedures/omd_facts/_recall_problem.sql
\ir ../../procedures/omd_facts/recall_follows.sql
\ir ../../procedures/omd_facts/exports_of_runs.sql
\ir ../../procedures/omd_facts/runs_of_deliveries.sql
\ir ../../procedures/omd_facts/purged_upto.sql
\ir ../../procedures/omd_facts/recall_effects.sql
\ir ../../procedures/omd_facts/recall_locks.sql
\ir ../../procedures/omd_facts/take_back.sql
\ir ../../procedures/omd_facts/_difference_sql.sql
\ir ../../procedures/omd_facts/resync.sql
\ir ../../procedures/omd_facts/verify.sql

-- Time
\ir ../../procedures/omd_facts/as_of.sql
\ir ../../procedures/omd_facts/traveling_now.sql
\ir ../../procedures/omd_facts/read_bound.sql
\ir ../../procedures/omd_facts/show_changes.sql
\ir ../../procedures/omd_facts/show_block.sql
\ir ../../procedures/omd_facts/change_at.sql
\ir ../../procedures/omd_facts/next_change.sql
\ir ../../procedures/omd_facts/plan_changes.sql
\ir ../../procedures/omd_facts/changes_view.sql
\ir ../../procedures/omd_facts/explained_facts.sql
\ir ../../procedures/omd_facts/deliveries_of.sql
\ir ../../procedures/omd_facts/described_loads.sql
\ir ../../procedures/omd_facts/described_entities.sql
\ir ../../procedures/omd_facts/may_end.sql
\ir ../../procedures/omd_facts/purge_changes.sql
\ir ../../procedures/omd_facts/written_entities.sql
\ir ../../procedures/omd_facts/writers_of_entity.sql
\ir ../../procedures/omd_facts/stands_for.sql
\ir ../../procedures/omd_facts/changes_of_runs.sql
\ir ../../procedures/omd_facts/changes_in_block.sql

-- Export
\ir ../../procedures/omd_facts/_raise_export.sql
\ir ../../procedures/omd_facts/_hold_export.sql
\ir ../../procedures/omd_facts/_require_unended.sql
\ir ../../procedures/omd_facts/_export_options.sql
\ir ../../procedures/omd_facts/_exported_tables.sql
\ir ../../procedures/omd_facts/create_export.sql
\ir ../../procedures/omd_facts/_export_since.sql
\ir ../../procedures/omd_facts/_moment_literal.sql
\ir ../../procedures/omd_facts/_refuse_export.sql
\ir ../../procedures/omd_facts/_exported_sql.sql
\ir ../../procedures/omd_facts/_export_sql.sql
\ir ../../procedures/omd_facts/_export_cuts.sql
\ir ../../procedures/omd_facts/begin_export.sql
\ir ../../procedures/omd_facts/finish_export.sql
\ir ../../procedures/omd_facts/cancel_export.sql
\ir ../../procedures/omd_facts/_export_is_due.sql
\ir ../../procedures/omd_facts/_export_lives.sql
\ir ../../procedures/omd_facts/due_export.sql

-- Erasure
\ir ../../procedures/omd_facts/subject_supertypes.sql
\ir ../../procedures/omd_facts/_subject_sql.sql
\ir ../../procedures/omd_facts/subject_texts.sql
\ir ../../procedures/omd_facts/count_references.sql
\ir ../../procedures/omd_facts/hold_erasure.sql
\ir ../../procedures/omd_facts/erase_keys.sql

-- Views
\ir ../views/omd_facts/facts_map.sql
\ir ../views/omd_facts/facts_state.sql
\ir ../views/omd_facts/load_work.sql
\ir ../views/omd_facts/facts_loads.sql
\ir ../views/omd_facts/facts_deliveries.sql
\ir ../views/omd_facts/facts_removals.sql
\ir ../views/omd_facts/facts_exports.sql
\ir ../views/omd_facts/export_work.sql

-- Grants
\ir ../grants/omd_facts.sql
\endif

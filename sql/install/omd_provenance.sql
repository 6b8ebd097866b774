-- This list says what is installed for provenance, in order. sql/install.sql includes it.

\set checksum '9ce2d771fbf185711bbf040d890f62907741f36708d7a9017a89417808dce497'
\set phase 'baseline'
\set migration 'V157__omd_provenance'
\ir ../setup/claim.psql
\if :pending
\ir ../../migrations/V157__omd_provenance.sql
\endif

\set checksum '7cd3cc79035919f22981cfe7b133f117086fead79214a561b547e1dc5d290a6c'
\set migration 'V163__provenance_looks_as_the_caller'
\ir ../setup/claim.psql
\if :pending
\ir ../../migrations/V163__provenance_looks_as_the_caller.sql
\endif

\if :is_install
-- Reference rows
\ir ../reference/omd_provenance/error_catalogue.sql
\ir ../reference/omd_provenance/texts.sql

-- The ledger
\ir ../../procedures/omd_provenance/_require_run.sql
\ir ../../procedures/omd_provenance/_written_tables.sql
\ir ../../procedures/omd_provenance/_could_see.sql
\ir ../../procedures/omd_provenance/_stands.sql
\ir ../../procedures/omd_provenance/_may_have_rows.sql
\ir ../../procedures/omd_provenance/_undone_upto.sql
\ir ../../procedures/omd_provenance/_window_bounds.sql
\ir ../../procedures/omd_provenance/_row_positions.sql
\ir ../../procedures/omd_provenance/_looks_of_runs.sql
\ir ../../procedures/omd_provenance/_positions_of_runs.sql
\ir ../../procedures/omd_provenance/_windows_after.sql
\ir ../../procedures/omd_provenance/_windows_over.sql
\ir ../../procedures/omd_provenance/_window_readers.sql
\ir ../../procedures/omd_provenance/_readers_of_run.sql
\ir ../../procedures/omd_provenance/_readers_in_ledger.sql
\ir ../../procedures/omd_provenance/direct_readers.sql
\ir ../../procedures/omd_provenance/_runs_writing.sql
\ir ../../procedures/omd_provenance/_sources_of_run.sql
\ir ../../procedures/omd_provenance/_sources_in_ledger.sql
\ir ../../procedures/omd_provenance/_writers_before.sql
\ir ../../procedures/omd_provenance/direct_sources.sql
\ir ../../procedures/omd_provenance/_walk.sql
\ir ../../procedures/omd_provenance/_runs_within.sql
\ir ../../procedures/omd_provenance/readers_of.sql
\ir ../../procedures/omd_provenance/sources_of.sql
\ir ../../procedures/omd_provenance/modules_reading.sql
\ir ../../procedures/omd_provenance/unknown_modules.sql
\ir ../../procedures/omd_provenance/_stale_runs.sql
\ir ../../procedures/omd_provenance/forget_unread.sql
\ir ../reference/omd_provenance/maintenance.sql
\ir ../views/omd_provenance/unknown_runs.sql
\ir ../views/omd_provenance/run_inputs.sql
\ir ../views/omd_provenance/stale_runs.sql
\ir ../views/omd_provenance/undone_reads.sql
\ir ../views/omd_provenance/undone_read_problems.sql

-- Recalls
\ir ../../procedures/omd_provenance/_room_of.sql
\ir ../../procedures/omd_provenance/_way_again.sql
\ir ../../procedures/omd_provenance/_runs_with.sql
\ir ../../procedures/omd_provenance/_withdrawals.sql
\ir ../../procedures/omd_provenance/_target.sql
\ir ../../procedures/omd_provenance/_runs_of_target.sql
\ir ../../procedures/omd_provenance/_loads_of.sql
\ir ../../procedures/omd_provenance/_follows.sql
\ir ../../procedures/omd_provenance/_reach.sql
\ir ../../procedures/omd_provenance/_modules_concerned.sql
\ir ../../procedures/omd_provenance/_may_have_read.sql
\ir ../../procedures/omd_provenance/_concern.sql
\ir ../../procedures/omd_provenance/_unknown_since.sql
\ir ../../procedures/omd_provenance/_effects_of_deliveries.sql
\ir ../../procedures/omd_provenance/_effects.sql
\ir ../../procedures/omd_provenance/_plan.sql
\ir ../../procedures/omd_provenance/_save_plan.sql
\ir ../../procedures/omd_provenance/_register_recall.sql
\ir ../../procedures/omd_provenance/_insert_recall.sql
\ir ../../procedures/omd_provenance/plan_recall.sql
\ir ../../procedures/omd_provenance/_require_planned.sql
\ir ../../procedures/omd_provenance/_require_accept.sql
\ir ../../procedures/omd_provenance/_wait_for_runs.sql
\ir ../../procedures/omd_provenance/wait_for_runs.sql
\ir ../../procedures/omd_provenance/_lock_recall.sql
\ir ../../procedures/omd_provenance/_plan_difference.sql
\ir ../../procedures/omd_provenance/_raise_changed.sql
\ir ../../procedures/omd_provenance/_raise_blocked.sql
\ir ../../procedures/omd_provenance/_require_consent.sql
\ir ../../procedures/omd_provenance/_begin_act.sql
\ir ../../procedures/omd_provenance/_upstream.sql
\ir ../../procedures/omd_provenance/_note_returns.sql
\ir ../../procedures/omd_provenance/_end_act.sql
\ir ../../procedures/omd_provenance/_take_back_deliveries.sql
\ir ../../procedures/omd_provenance/_take_back.sql
\ir ../../procedures/omd_provenance/_planned_rows.sql
\ir ../../procedures/omd_provenance/_act.sql
\ir ../../procedures/omd_provenance/recall.sql

-- Reporting views of recalls
\ir ../views/omd_provenance/recalls.sql
\ir ../views/omd_provenance/recall_items.sql

-- What comes again
\ir ../../procedures/omd_provenance/redeliver.sql
\ir ../../procedures/omd_provenance/drop_return.sql
\ir ../views/omd_provenance/recall_returns.sql
\ir ../../procedures/omd_provenance/_returns_by_hand.sql

-- Trace and explain
\ir ../../procedures/omd_provenance/_place.sql
\ir ../../procedures/omd_provenance/_versions.sql
\ir ../../procedures/omd_provenance/_deliveries_of.sql
\ir ../../procedures/omd_provenance/_shown_way.sql
\ir ../../procedures/omd_provenance/_trace.sql
\ir ../../procedures/omd_provenance/trace.sql
\ir ../../procedures/omd_provenance/trace_row.sql
\ir ../../procedures/omd_provenance/_way_steps.sql
\ir ../../procedures/omd_provenance/_run_steps.sql
\ir ../../procedures/omd_provenance/_decision_steps.sql
\ir ../../procedures/omd_provenance/_decision_inputs.sql
\ir ../../procedures/omd_provenance/_input_steps.sql
\ir ../../procedures/omd_provenance/_delivery_steps.sql
\ir ../../procedures/omd_provenance/_written_at.sql
\ir ../../procedures/omd_provenance/explain.sql
-- Erasure
\ir ../../procedures/omd_provenance/_targets.sql
\ir ../../procedures/omd_provenance/_subject.sql
\ir ../../procedures/omd_provenance/_plan_erasure.sql
\ir ../../procedures/omd_provenance/_holders.sql
\ir ../../procedures/omd_provenance/_erase_rooms.sql
\ir ../../procedures/omd_provenance/_tables_of.sql
\ir ../../procedures/omd_provenance/_not_reached.sql
\ir ../../procedures/omd_provenance/_erase_texts.sql
\ir ../../procedures/omd_provenance/_column_match.sql
\ir ../../procedures/omd_provenance/_put_off.sql
\ir ../../procedures/omd_provenance/_erase_table.sql
\ir ../../procedures/omd_provenance/_family.sql
\ir ../../procedures/omd_provenance/_shown_statistics.sql
\ir ../../procedures/omd_provenance/_analyze_empty.sql
\ir ../../procedures/omd_provenance/_forget_statistics.sql
\ir ../../procedures/omd_provenance/_forget_rooms_statistics.sql
\ir ../../procedures/omd_provenance/_showing_tables.sql
\ir ../../procedures/omd_provenance/_forget_statistics_of.sql
\ir ../../procedures/omd_provenance/_erase.sql
\ir ../../procedures/omd_provenance/_try_erase.sql
\ir ../../procedures/omd_provenance/_record_erasure.sql
\ir ../../procedures/omd_provenance/_subject_unfit.sql
\ir ../../procedures/omd_provenance/register_subject.sql
\ir ../../procedures/omd_provenance/erase.sql
\ir ../../procedures/omd_provenance/find_subject.sql
\ir ../../procedures/omd_provenance/pending_erasures.sql
\ir ../../procedures/omd_provenance/finish_erasure.sql

-- Views
\ir ../views/omd_provenance/erasures.sql
\ir ../views/omd_provenance/erasure_items.sql

-- Grants
\ir ../grants/omd_provenance.sql
\endif

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
\ir ../../procedures/omd_provenance/ledger/_require_run.sql
\ir ../../procedures/omd_provenance/ledger/_written_tables.sql
\ir ../../procedures/omd_provenance/ledger/_could_see.sql
\ir ../../procedures/omd_provenance/ledger/_stands.sql
\ir ../../procedures/omd_provenance/ledger/_may_have_rows.sql
\ir ../../procedures/omd_provenance/ledger/_undone_upto.sql
\ir ../../procedures/omd_provenance/ledger/_window_bounds.sql
\ir ../../procedures/omd_provenance/ledger/_row_positions.sql
\ir ../../procedures/omd_provenance/ledger/_looks_of_runs.sql
\ir ../../procedures/omd_provenance/ledger/_positions_of_runs.sql
\ir ../../procedures/omd_provenance/ledger/_windows_after.sql
\ir ../../procedures/omd_provenance/ledger/_windows_over.sql
\ir ../../procedures/omd_provenance/ledger/_window_readers.sql
\ir ../../procedures/omd_provenance/ledger/_readers_of_run.sql
\ir ../../procedures/omd_provenance/ledger/_readers_in_ledger.sql
\ir ../../procedures/omd_provenance/ledger/direct_readers.sql
\ir ../../procedures/omd_provenance/ledger/_runs_writing.sql
\ir ../../procedures/omd_provenance/ledger/_sources_of_run.sql
\ir ../../procedures/omd_provenance/ledger/_sources_in_ledger.sql
\ir ../../procedures/omd_provenance/ledger/_writers_before.sql
\ir ../../procedures/omd_provenance/ledger/direct_sources.sql
\ir ../../procedures/omd_provenance/ledger/_walk.sql
\ir ../../procedures/omd_provenance/ledger/_runs_within.sql
\ir ../../procedures/omd_provenance/ledger/readers_of.sql
\ir ../../procedures/omd_provenance/ledger/sources_of.sql
\ir ../../procedures/omd_provenance/ledger/modules_reading.sql
\ir ../../procedures/omd_provenance/ledger/unknown_modules.sql
\ir ../../procedures/omd_provenance/ledger/_stale_runs.sql
\ir ../../procedures/omd_provenance/ledger/forget_unread.sql
\ir ../reference/omd_provenance/maintenance.sql
\ir ../views/omd_provenance/unknown_runs.sql
\ir ../views/omd_provenance/run_inputs.sql
\ir ../views/omd_provenance/stale_runs.sql
\ir ../views/omd_provenance/undone_reads.sql
\ir ../views/omd_provenance/undone_read_problems.sql

-- Recalls
\ir ../../procedures/omd_provenance/plan/_room_of.sql
\ir ../../procedures/omd_provenance/plan/_way_again.sql
\ir ../../procedures/omd_provenance/act/_runs_with.sql
\ir ../../procedures/omd_provenance/plan/_withdrawals.sql
\ir ../../procedures/omd_provenance/plan/_target.sql
\ir ../../procedures/omd_provenance/plan/_runs_of_target.sql
\ir ../../procedures/omd_provenance/plan/_loads_of.sql
\ir ../../procedures/omd_provenance/plan/_follows.sql
\ir ../../procedures/omd_provenance/plan/_reach.sql
\ir ../../procedures/omd_provenance/plan/_modules_concerned.sql
\ir ../../procedures/omd_provenance/plan/_may_have_read.sql
\ir ../../procedures/omd_provenance/plan/_concern.sql
\ir ../../procedures/omd_provenance/plan/_unknown_since.sql
\ir ../../procedures/omd_provenance/plan/_effects_of_own.sql
\ir ../../procedures/omd_provenance/plan/_effects.sql
\ir ../../procedures/omd_provenance/plan/_plan.sql
\ir ../../procedures/omd_provenance/plan/_save_plan.sql
\ir ../../procedures/omd_provenance/plan/_register_recall.sql
\ir ../../procedures/omd_provenance/plan/_insert_recall.sql
\ir ../../procedures/omd_provenance/plan/plan_recall.sql
\ir ../../procedures/omd_provenance/act/_require_planned.sql
\ir ../../procedures/omd_provenance/act/_require_accept.sql
\ir ../../procedures/omd_provenance/act/_wait_for_runs.sql
\ir ../../procedures/omd_provenance/act/wait_for_runs.sql
\ir ../../procedures/omd_provenance/act/_lock_recall.sql
\ir ../../procedures/omd_provenance/act/_plan_difference.sql
\ir ../../procedures/omd_provenance/act/_raise_changed.sql
\ir ../../procedures/omd_provenance/act/_require_consent.sql
\ir ../../procedures/omd_provenance/act/_begin_act.sql
\ir ../../procedures/omd_provenance/returns/_upstream.sql
\ir ../../procedures/omd_provenance/returns/_note_returns.sql
\ir ../../procedures/omd_provenance/act/_end_act.sql
\ir ../../procedures/omd_provenance/act/_take_back_own.sql
\ir ../../procedures/omd_provenance/act/_take_back.sql
\ir ../../procedures/omd_provenance/act/_planned_rows.sql
\ir ../../procedures/omd_provenance/act/_act.sql
\ir ../../procedures/omd_provenance/act/recall.sql

-- Reporting views of recalls
\ir ../views/omd_provenance/recalls.sql
\ir ../views/omd_provenance/recall_items.sql

-- What comes again
\ir ../../procedures/omd_provenance/returns/redeliver.sql
\ir ../../procedures/omd_provenance/returns/drop_return.sql
\ir ../views/omd_provenance/recall_returns.sql
\ir ../../procedures/omd_provenance/returns/_returns_by_hand.sql

-- Trace and explain
\ir ../../procedures/omd_provenance/explain/_place.sql
\ir ../../procedures/omd_provenance/explain/_versions.sql
\ir ../../procedures/omd_provenance/explain/_deliveries_of.sql
\ir ../../procedures/omd_provenance/trace/_shown_way.sql
\ir ../../procedures/omd_provenance/trace/_trace.sql
\ir ../../procedures/omd_provenance/trace/trace.sql
\ir ../../procedures/omd_provenance/trace/trace_row.sql
\ir ../../procedures/omd_provenance/explain/_way_steps.sql
\ir ../../procedures/omd_provenance/explain/_run_steps.sql
\ir ../../procedures/omd_provenance/explain/_decision_steps.sql
\ir ../../procedures/omd_provenance/explain/_decision_inputs.sql
\ir ../../procedures/omd_provenance/explain/_input_steps.sql
\ir ../../procedures/omd_provenance/explain/_delivery_steps.sql
\ir ../../procedures/omd_provenance/explain/_written_at.sql
\ir ../../procedures/omd_provenance/explain/explain.sql
-- Erasure
\ir ../../procedures/omd_provenance/erasure/_targets.sql
\ir ../../procedures/omd_provenance/erasure/_subject.sql
\ir ../../procedures/omd_provenance/erasure/_plan_erasure.sql
\ir ../../procedures/omd_provenance/erasure/_holders.sql
\ir ../../procedures/omd_provenance/erasure/_erase_rooms.sql
\ir ../../procedures/omd_provenance/erasure/_tables_of.sql
\ir ../../procedures/omd_provenance/erasure/_not_reached.sql
\ir ../../procedures/omd_provenance/erasure/_erase_texts.sql
\ir ../../procedures/omd_provenance/erasure/_column_match.sql
\ir ../../procedures/omd_provenance/erasure/_put_off.sql
\ir ../../procedures/omd_provenance/erasure/_erase_table.sql
\ir ../../procedures/omd_provenance/statistics/_family.sql
\ir ../../procedures/omd_provenance/statistics/_shown_statistics.sql
\ir ../../procedures/omd_provenance/statistics/_analyze_empty.sql
\ir ../../procedures/omd_provenance/statistics/_forget_statistics.sql
\ir ../../procedures/omd_provenance/statistics/_forget_rooms_statistics.sql
\ir ../../procedures/omd_provenance/statistics/_showing_tables.sql
\ir ../../procedures/omd_provenance/statistics/_forget_statistics_of.sql
\ir ../../procedures/omd_provenance/erasure/_erase.sql
\ir ../../procedures/omd_provenance/erasure/_try_erase.sql
\ir ../../procedures/omd_provenance/erasure/_record_erasure.sql
\ir ../../procedures/omd_provenance/erasure/_subject_unfit.sql
\ir ../../procedures/omd_provenance/erasure/register_subject.sql
\ir ../../procedures/omd_provenance/erasure/erase.sql
\ir ../../procedures/omd_provenance/erasure/find_subject.sql
\ir ../../procedures/omd_provenance/erasure/pending_erasures.sql
\ir ../../procedures/omd_provenance/erasure/finish_erasure.sql

-- Views
\ir ../views/omd_provenance/erasures.sql
\ir ../views/omd_provenance/erasure_items.sql

-- Grants
\ir ../grants/omd_provenance.sql
\endif

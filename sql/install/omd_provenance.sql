-- This list says what is installed for provenance, in order. sql/install.sql includes it.

\set checksum '06b78f1a6d9f31b0b42c0b692c595ff26dfe9b25c0d278099eb8dede66dbedae'
\set migration 'V080__provenance'
\ir ../setup/claim.psql
\if :pending
\ir ../../migrations/V080__provenance.sql
\endif

-- Reference rows
\ir ../reference/omd_provenance/error_catalogue.sql

-- The ledger
\ir ../../procedures/omd_provenance/_require_run.sql
\ir ../../procedures/omd_provenance/_written_tables.sql
\ir ../../procedures/omd_provenance/_could_see.sql
\ir ../../procedures/omd_provenance/_stands.sql
\ir ../../procedures/omd_provenance/_may_have_rows.sql
\ir ../../procedures/omd_provenance/_undone_upto.sql
\ir ../../procedures/omd_provenance/_row_windows.sql
\ir ../../procedures/omd_provenance/_windows_after.sql
\ir ../../procedures/omd_provenance/_windows_over.sql
\ir ../../procedures/omd_provenance/_window_readers.sql
\ir ../../procedures/omd_provenance/_readers_of_run.sql
\ir ../../procedures/omd_provenance/direct_readers.sql
\ir ../../procedures/omd_provenance/readers_of.sql
\ir ../../procedures/omd_provenance/_runs_writing.sql
\ir ../../procedures/omd_provenance/_sources_of_run.sql
\ir ../../procedures/omd_provenance/direct_sources.sql
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
\ir ../../procedures/omd_provenance/_act.sql
\ir ../../procedures/omd_provenance/recall.sql

-- Reporting views of recalls
\ir ../views/omd_provenance/recalls.sql
\ir ../views/omd_provenance/recall_items.sql

-- What comes again
\ir ../../procedures/omd_provenance/redeliver.sql
\ir ../../procedures/omd_provenance/drop_return.sql
\ir ../views/omd_provenance/recall_returns.sql

-- Grants
\ir ../grants/omd_provenance.sql

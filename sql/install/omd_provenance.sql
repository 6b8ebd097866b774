-- This list says what is installed for provenance, in order. sql/install.sql includes it.

\set checksum '06b78f1a6d9f31b0b42c0b692c595ff26dfe9b25c0d278099eb8dede66dbedae'
\set migration 'V080__provenance'
\ir ../setup/claim.psql
\if :pending
\ir ../../migrations/V080__provenance.sql
\endif
\set checksum '8222f9fd0b2bf5b782671a1b694094c9762e1bfd8d07f03240d77593af874619'
\set migration 'V094__erase'
\ir ../setup/claim.psql
\if :pending
\ir ../../migrations/V094__erase.sql
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

-- Erasure
\ir ../../procedures/omd_provenance/_targets.sql
\ir ../../procedures/omd_provenance/_subject.sql
\ir ../../procedures/omd_provenance/_plan_erasure.sql
\ir ../../procedures/omd_provenance/_holders.sql
\ir ../../procedures/omd_provenance/_erase_rooms.sql
\ir ../../procedures/omd_provenance/_tables_of.sql
\ir ../../procedures/omd_provenance/_not_reached.sql
\ir ../../procedures/omd_provenance/_mask_texts.sql
\ir ../../procedures/omd_provenance/_erase_texts.sql
\ir ../../procedures/omd_provenance/_column_match.sql
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

-- Views
\ir ../views/omd_provenance/erasures.sql
\ir ../views/omd_provenance/erasure_items.sql

-- Grants
\ir ../grants/omd_provenance.sql

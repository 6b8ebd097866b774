-- This list says what is installed for the lake, in order. sql/install.sql includes it.

\set checksum '386bd452a8250b3086bf70a34c2337c6deb0c913963f0e858599bbcfb6439eb9'
\set phase 'baseline'
\set migration 'V151__omd_lake'
\ir ../setup/claim.psql
\if :pending
\ir ../../migrations/V151__omd_lake.sql
\endif

\set checksum '796fccd7685cc0f115336dda28fd9b563b2fe22935badae3548323f3fc3c65b4'
\set phase 'expand'
\set locks 'omd.module_instance'
\set migration 'V167__undone_in_the_lake'
\ir ../setup/claim.psql
\if :pending
\ir ../../migrations/V167__undone_in_the_lake.sql
\endif

\if :is_install
-- Reference rows
\ir ../reference/omd_lake/error_catalogue.sql
\ir ../reference/omd_lake/server.sql
\ir ../reference/omd_lake/texts.sql

-- Helpers
\ir ../../procedures/omd_lake/_spell_table.sql
\ir ../../procedures/omd_lake/_catalogue_name.sql
\ir ../../procedures/omd_lake/_plain_location.sql
\ir ../../procedures/omd_lake/_lies_within.sql
\ir ../../procedures/omd_lake/_overlap.sql
\ir ../../procedures/omd_lake/_namespace_location.sql
\ir ../../procedures/omd_lake/_default_location.sql
\ir ../../procedures/omd_lake/_location.sql
\ir ../../procedures/omd_lake/_location_of.sql
\ir ../../procedures/omd_lake/_is_closed.sql
\ir ../../procedures/omd_lake/_require_open.sql
\ir ../../procedures/omd_lake/_hear_server.sql
\ir ../../procedures/omd_lake/table_location.sql
\ir ../../procedures/omd_lake/_has_tables.sql
\ir ../../procedures/omd_lake/_is_catalogued.sql
\ir ../../procedures/omd_lake/is_catalogued.sql
\ir ../../procedures/omd_lake/is_known.sql
\ir ../../procedures/omd_lake/_require_known.sql
\ir ../../procedures/omd_lake/_require_admin.sql
\ir ../../procedures/omd_lake/_opened_tables.sql
\ir ../../procedures/omd_lake/_locked_tables.sql
\ir ../../procedures/omd_lake/_committed_tables.sql

-- Tables
\ir ../../procedures/omd_lake/register_namespace.sql
\ir ../../procedures/omd_lake/register_table.sql
\ir ../../procedures/omd_lake/find_table.sql
\ir ../../procedures/omd_lake/find_renamed.sql
\ir ../../procedures/omd_lake/create_table.sql

-- Commits
\ir ../../procedures/omd_lake/folder_problem.sql
\ir ../../procedures/omd_lake/announce_write.sql
\ir ../../procedures/omd_lake/begin_write.sql
\ir ../../procedures/omd_lake/record_folder_removal.sql
\ir ../../procedures/omd_lake/open_commit.sql
\ir ../../procedures/omd_lake/_lock_names.sql
\ir ../../procedures/omd_lake/lock_tables.sql
\ir ../../procedures/omd_lake/_whole_number.sql
\ir ../../procedures/omd_lake/_commit_problem.sql
\ir ../../procedures/omd_lake/_require_commits.sql
\ir ../../procedures/omd_lake/_writes_of.sql
\ir ../../procedures/omd_lake/_former_commits.sql
\ir ../../procedures/omd_lake/_commit_time.sql
\ir ../../procedures/omd_lake/commit_tables.sql
\ir ../../procedures/omd_lake/commit_as_of.sql
\ir ../../procedures/omd_lake/_withheld_text.sql
\ir ../../procedures/omd_lake/note_withheld.sql
\ir ../../procedures/omd_lake/settle_withheld.sql

-- Windows
\ir ../../procedures/omd_lake/newest_position.sql
\ir ../../procedures/omd_lake/next_block.sql
\ir ../../procedures/omd_lake/create_load_window.sql
\ir ../../procedures/omd_lake/runs_in_block.sql
\ir ../../procedures/omd_lake/instances_in_window.sql
\ir ../../procedures/omd_lake/written_tables.sql
\ir ../../procedures/omd_lake/modules_writing.sql
\ir ../../procedures/omd_lake/described_tables.sql
\ir ../../procedures/omd_lake/described_runs.sql

-- Maintenance and recalls
\ir ../../procedures/omd_lake/_register_helper.sql
\ir ../../procedures/omd_lake/register_maintenance.sql
\ir ../../procedures/omd_lake/register_recall.sql
\ir ../../procedures/omd_lake/runs_to_recall.sql
\ir ../../procedures/omd_lake/open_recall.sql

-- Rollback
\ir ../../procedures/omd_lake/_require_undo.sql
\ir ../triggers/omd_lake/undone_run.sql

-- Reporting views
\ir ../views/omd_lake/lake_commits.sql
\ir ../views/omd_lake/lake_folders.sql
\ir ../views/omd_lake/lake_tables.sql

-- Grants
\ir ../grants/omd_lake.sql
\endif

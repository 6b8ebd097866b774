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
\ir ../../procedures/omd_lake/tables/_spell_table.sql
\ir ../../procedures/omd_lake/tables/_catalogue_name.sql
\ir ../../procedures/omd_lake/places/_plain_location.sql
\ir ../../procedures/omd_lake/places/_lies_within.sql
\ir ../../procedures/omd_lake/places/_overlap.sql
\ir ../../procedures/omd_lake/places/_namespace_location.sql
\ir ../../procedures/omd_lake/places/_default_location.sql
\ir ../../procedures/omd_lake/places/_location.sql
\ir ../../procedures/omd_lake/places/_location_of.sql
\ir ../../procedures/omd_lake/places/_is_closed.sql
\ir ../../procedures/omd_lake/places/_require_open.sql
\ir ../../procedures/omd_lake/places/_hear_server.sql
\ir ../../procedures/omd_lake/places/table_location.sql
\ir ../../procedures/omd_lake/places/_has_tables.sql
\ir ../../procedures/omd_lake/tables/_is_catalogued.sql
\ir ../../procedures/omd_lake/tables/is_catalogued.sql
\ir ../../procedures/omd_lake/tables/is_known.sql
\ir ../../procedures/omd_lake/tables/_require_known.sql
\ir ../../procedures/omd_lake/commits/_require_admin.sql
\ir ../../procedures/omd_lake/commits/_opened_tables.sql
\ir ../../procedures/omd_lake/commits/_locked_tables.sql
\ir ../../procedures/omd_lake/commits/_committed_tables.sql

-- Tables
\ir ../../procedures/omd_lake/places/register_namespace.sql
\ir ../../procedures/omd_lake/tables/register_table.sql
\ir ../../procedures/omd_lake/tables/find_table.sql
\ir ../../procedures/omd_lake/tables/find_renamed.sql
\ir ../../procedures/omd_lake/tables/create_table.sql

-- Commits
\ir ../../procedures/omd_lake/places/folder_problem.sql
\ir ../../procedures/omd_lake/commits/announce_write.sql
\ir ../../procedures/omd_lake/commits/begin_write.sql
\ir ../../procedures/omd_lake/maintenance/record_folder_removal.sql
\ir ../../procedures/omd_lake/commits/open_commit.sql
\ir ../../procedures/omd_lake/commits/_lock_names.sql
\ir ../../procedures/omd_lake/commits/lock_tables.sql
\ir ../../procedures/omd_lake/commits/_whole_number.sql
\ir ../../procedures/omd_lake/commits/_commit_problem.sql
\ir ../../procedures/omd_lake/commits/_require_commits.sql
\ir ../../procedures/omd_lake/commits/_writes_of.sql
\ir ../../procedures/omd_lake/commits/_former_commits.sql
\ir ../../procedures/omd_lake/commits/_commit_time.sql
\ir ../../procedures/omd_lake/commits/commit_tables.sql
\ir ../../procedures/omd_lake/commits/commit_as_of.sql
\ir ../../procedures/omd_lake/rollback/_withheld_text.sql
\ir ../../procedures/omd_lake/rollback/note_withheld.sql
\ir ../../procedures/omd_lake/rollback/settle_withheld.sql

-- Windows
\ir ../../procedures/omd_lake/windows/newest_position.sql
\ir ../../procedures/omd_lake/windows/next_block.sql
\ir ../../procedures/omd_lake/windows/create_load_window.sql
\ir ../../procedures/omd_lake/windows/runs_in_block.sql
\ir ../../procedures/omd_lake/windows/instances_in_window.sql
\ir ../../procedures/omd_lake/commits/written_tables.sql
\ir ../../procedures/omd_lake/commits/modules_writing.sql
\ir ../../procedures/omd_lake/tables/described_tables.sql
\ir ../../procedures/omd_lake/commits/described_runs.sql

-- Maintenance and recalls
\ir ../../procedures/omd_lake/maintenance/_register_helper.sql
\ir ../../procedures/omd_lake/maintenance/register_maintenance.sql
\ir ../../procedures/omd_lake/rollback/register_recall.sql
\ir ../../procedures/omd_lake/rollback/runs_to_recall.sql
\ir ../../procedures/omd_lake/rollback/open_recall.sql

-- Rollback
\ir ../../procedures/omd_lake/rollback/_require_undo.sql
\ir ../triggers/omd_lake/undone_run.sql

-- Reporting views
\ir ../views/omd_lake/lake_commits.sql
\ir ../views/omd_lake/lake_folders.sql
\ir ../views/omd_lake/lake_tables.sql

-- What is called by its name
\ir ../reference/omd_lake/hooks.sql

-- Grants
\ir ../grants/omd_lake.sql
\endif

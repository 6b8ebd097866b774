-- This list says what is installed for the page, in order. sql/install.sql includes it.

\set checksum '46622eaf93597d7b3df0d7638419f79bfa28f291ba6b6f96caf076da49a7884a'
\set migration 'V115__web'
\ir ../setup/claim.psql
\if :pending
\ir ../../migrations/V115__web.sql
\endif

-- What a screen looks up
\ir ../../procedures/omd_web/_require_count.sql
\ir ../views/omd_web/definition.sql
\ir ../views/omd_web/numbered_object.sql
\ir ../../procedures/omd_web/_find_task.sql
\ir ../../procedures/omd_web/find.sql
\ir ../../procedures/omd_web/grid.sql
\ir ../../procedures/omd_web/grid_modules.sql

-- Grants
\ir ../grants/omd_web.sql

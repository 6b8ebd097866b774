-- This list says what is installed for the page, in order. sql/install.sql includes it.

-- What databases from before 1.0 lack.
\if :former
\set checksum '46622eaf93597d7b3df0d7638419f79bfa28f291ba6b6f96caf076da49a7884a'
\set phase 'before_1_0'
\set migration 'V115__web'
\ir ../setup/claim.psql
\if :pending
\ir ../../migrations/before_1_0/V115__web.sql
\endif

\set checksum '4850c81c3096c65b525fe42ecfb90c8ed4c0fe81bdd66b7e3102bc514f804e8c'
\set phase 'before_1_0'
\set migration 'V116__actions'
\ir ../setup/claim.psql
\if :pending
\ir ../../migrations/before_1_0/V116__actions.sql
\endif
\endif

\set checksum 'b70123c44a8c0864b289fbff2f7bc820b3e166f7bbdaca024a3ab1f05d86a51b'
\set phase 'baseline'
\set migration 'V159__omd_web'
\ir ../setup/claim.psql
\if :pending
\ir ../../migrations/V159__omd_web.sql
\endif

\if :is_install
-- What people act on
\ir ../views/omd_web/task_type.sql
\ir ../views/omd_web/topic.sql
\ir ../views/omd_web/ruleset.sql
\ir ../reference/omd_web/object_kinds.sql
\ir ../reference/omd_web/actions.sql
\ir ../reference/omd_web/texts.sql
\ir ../../procedures/omd_web/_require_action.sql
\ir ../../procedures/omd_web/_evaluate.sql
\ir ../../procedures/omd_web/_literal.sql
\ir ../../procedures/omd_web/_call.sql
\ir ../../procedures/omd_web/_needed_roles.sql
\ir ../../procedures/omd_web/actions.sql
\ir ../../procedures/omd_web/_commits.sql
\ir ../../procedures/omd_web/_with_reason.sql
\ir ../../procedures/omd_web/statement.sql
\ir ../../procedures/omd_web/bulk.sql
\ir ../../procedures/omd_web/_require_right.sql
\ir ../../procedures/omd_web/_is_out_of_time.sql
\ir ../../procedures/omd_web/_task_warnings.sql
\ir ../../procedures/omd_web/preview.sql

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
\endif

-- This list says what is installed for the page, in order. sql/install.sql includes it.

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

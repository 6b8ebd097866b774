-- This list says what is installed for decision, in order. sql/install.sql includes it.

\set checksum '253a3057e6cfc3d4f5e4bc76d1f3ec95d3143dadb214a81242d47de02ec867dd'
\set migration 'V027__decision'
\ir ../setup/claim.psql
\if :pending
\ir ../../migrations/V027__decision.sql
\endif

-- Reference rows
\ir ../reference/omd_decision/error_catalogue.sql

-- Helpers
\ir ../../procedures/omd_decision/_type_family.sql
\ir ../../procedures/omd_decision/_columns.sql
\ir ../../procedures/omd_decision/_interval.sql
\ir ../../procedures/omd_decision/_items.sql
\ir ../../procedures/omd_decision/_named_items.sql
\ir ../../procedures/omd_decision/_shape_problems.sql

-- Stages
\ir ../../procedures/omd_decision/_with_defaults.sql
\ir ../../procedures/omd_decision/_link_problems.sql
\ir ../../procedures/omd_decision/_output_problems.sql
\ir ../../procedures/omd_decision/_stage_problems.sql
\ir ../../procedures/omd_decision/_comparable.sql
\ir ../../procedures/omd_decision/_changes.sql
\ir ../../procedures/omd_decision/_raise_invalid.sql
\ir ../../procedures/omd_decision/_require_stage.sql
\ir ../../procedures/omd_decision/_register_stage_module.sql
\ir ../../procedures/omd_decision/define_stage.sql

-- Rulesets

-- Cycles
\ir ../../procedures/omd_decision/_sort_key_sql.sql
\ir ../../procedures/omd_decision/_batch_size.sql
\ir ../../procedures/omd_decision/_links.sql
\ir ../../procedures/omd_decision/_order_columns.sql
\ir ../../procedures/omd_decision/_records_sql.sql
\ir ../../procedures/omd_decision/_wave_sort_key_sql.sql
\ir ../../procedures/omd_decision/_key_sql.sql
\ir ../../procedures/omd_decision/_cells_sql.sql
\ir ../../procedures/omd_decision/_rejects_sql.sql
\ir ../../procedures/omd_decision/_link_sql.sql
\ir ../../procedures/omd_decision/_raise_arrival.sql
\ir ../../procedures/omd_decision/_raise_too_large.sql
\ir ../../procedures/omd_decision/_require_links.sql
\ir ../../procedures/omd_decision/_cycles_across_keys.sql
\ir ../../procedures/omd_decision/_buffers_sql.sql
\ir ../../procedures/omd_decision/_buffers.sql
\ir ../../procedures/omd_decision/_cycles.sql
\ir ../../procedures/omd_decision/_preview.sql
\ir ../../procedures/omd_decision/cycles.sql

-- Runs

-- Grants
\ir ../grants/omd_decision.sql

-- This list says what is installed for events, in order. sql/install.sql includes it.

\set checksum 'f16797741cdeac8945ec64a25fec6e1c886d5ecb8be316a4ea6fd21482606600'
\set migration 'V100__events'
\ir ../setup/claim.psql
\if :pending
\ir ../../migrations/V100__events.sql
\endif

\set checksum 'f723b77d43fda2894df77fc017d6b746eab2765008d8a1621b7f87178beb44a7'
\set migration 'V107__metrics'
\ir ../setup/claim.psql
\if :pending
\ir ../../migrations/V107__metrics.sql
\endif

-- Reference rows
\ir ../reference/omd_event/error_catalogue.sql
\ir ../reference/omd_event/metrics.sql

-- Metrics, and what is watched
\ir ../../procedures/omd_event/_run_seconds_buckets.sql
\ir ../../procedures/omd_event/_count_events.sql
\ir ../../procedures/omd_event/_sample_line.sql
\ir ../../procedures/omd_event/_event_text.sql
\ir ../../procedures/omd_event/_cloud_events.sql
\ir ../views/omd_event/problem_list.sql
\ir ../../procedures/omd_event/watch.sql

-- Grants
\ir ../grants/omd_event.sql

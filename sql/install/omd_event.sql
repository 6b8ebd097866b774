-- This list says what is installed for events, in order. sql/install.sql includes it.

\set checksum 'f16797741cdeac8945ec64a25fec6e1c886d5ecb8be316a4ea6fd21482606600'
\set migration 'V100__events'
\ir ../setup/claim.psql
\if :pending
\ir ../../migrations/V100__events.sql
\endif

\set checksum '1898ef0d592b9b7aa6c0a9cc8ecdf3c1122f076f15c9b055bb9540be55e8f036'
\set migration 'V102__event_tables'
\ir ../setup/claim.psql
\if :pending
\ir ../../migrations/V102__event_tables.sql
\endif

-- Reference rows
\ir ../reference/omd_event/error_catalogue.sql
\ir ../reference/omd_event/event_types.sql

-- Names
\ir ../../procedures/omd_event/_run_uuid.sql
\ir ../../procedures/omd_event/_job_namespace.sql
\ir ../../procedures/omd_event/_dataset_namespace.sql
\ir ../../procedures/omd_event/_job_name.sql
\ir ../../procedures/omd_event/run_id.sql
\ir ../../procedures/omd_event/parent_id.sql

-- Events
\ir ../../procedures/omd_event/_event_row.sql
\ir ../../procedures/omd_event/_require_event_types.sql
\ir ../../procedures/omd_event/_log_edit.sql
\ir ../views/omd_event/events.sql
\ir ../../procedures/omd_event/events_after.sql
\ir ../../procedures/omd_event/configure.sql
\ir ../../procedures/omd_event/_count.sql

-- What a sink gets
\ir ../../procedures/omd_event/_openlineage.sql
\ir ../../procedures/omd_event/_cloud_event.sql
\ir ../../procedures/omd_event/_text.sql

-- Grants
\ir ../grants/omd_event.sql

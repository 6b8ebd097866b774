-- This list says what is installed for events, in order. sql/install.sql includes it.

\set checksum 'f16797741cdeac8945ec64a25fec6e1c886d5ecb8be316a4ea6fd21482606600'
\set migration 'V100__events'
\ir ../setup/claim.psql
\if :pending
\ir ../../migrations/V100__events.sql
\endif

-- Reference rows
\ir ../reference/omd_event/error_catalogue.sql

-- Grants
\ir ../grants/omd_event.sql

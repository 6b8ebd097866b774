-- This list says what is installed for provenance, in order. sql/install.sql includes it.

\set checksum '06b78f1a6d9f31b0b42c0b692c595ff26dfe9b25c0d278099eb8dede66dbedae'
\set migration 'V080__provenance'
\ir ../setup/claim.psql
\if :pending
\ir ../../migrations/V080__provenance.sql
\endif

-- Reference rows
\ir ../reference/omd_provenance/error_catalogue.sql

-- Routines
\ir ../../procedures/omd_provenance/_register_recall.sql

-- Grants
\ir ../grants/omd_provenance.sql

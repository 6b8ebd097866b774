-- This list says what is installed for provenance, in order. sql/install.sql includes it.

\set checksum '06b78f1a6d9f31b0b42c0b692c595ff26dfe9b25c0d278099eb8dede66dbedae'
\set migration 'V080__provenance'
\ir ../setup/claim.psql
\if :pending
\ir ../../migrations/V080__provenance.sql
\endif

-- Reference rows
\ir ../reference/omd_provenance/error_catalogue.sql

-- What comes again
\ir ../../procedures/omd_provenance/redeliver.sql
\ir ../../procedures/omd_provenance/drop_return.sql
\ir ../views/omd_provenance/recall_returns.sql

-- Grants
\ir ../grants/omd_provenance.sql

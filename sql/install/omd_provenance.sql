-- This list says what is installed for provenance, in order. sql/install.sql includes it.

\set checksum '06b78f1a6d9f31b0b42c0b692c595ff26dfe9b25c0d278099eb8dede66dbedae'
\set migration 'V080__provenance'
\ir ../setup/claim.psql
\if :pending
\ir ../../migrations/V080__provenance.sql
\endif

-- Reference rows
\ir ../reference/omd_provenance/error_catalogue.sql

-- Trace and explain
\ir ../../procedures/omd_provenance/_place.sql
\ir ../../procedures/omd_provenance/_versions.sql
\ir ../../procedures/omd_provenance/_deliveries_of.sql
\ir ../../procedures/omd_provenance/_trace.sql
\ir ../../procedures/omd_provenance/trace.sql
\ir ../../procedures/omd_provenance/trace_row.sql
\ir ../../procedures/omd_provenance/_run_steps.sql
\ir ../../procedures/omd_provenance/_decision_steps.sql
\ir ../../procedures/omd_provenance/_decision_inputs.sql
\ir ../../procedures/omd_provenance/_input_steps.sql
\ir ../../procedures/omd_provenance/_delivery_steps.sql
\ir ../../procedures/omd_provenance/_written_at.sql
\ir ../../procedures/omd_provenance/explain.sql

-- Grants
\ir ../grants/omd_provenance.sql

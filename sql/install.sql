-- This is the one list of what is installed, in order: psql -f sql/install.sql, omd install, the
-- tests and the wheel use it. Each room has a list of its own. A migration is applied once, and the
-- checksum before it is the SHA-256 of the released file; any other file is applied whenever it
-- changes. The installation is one transaction. Before and after it come migrations that have
-- transactions of their own, since they serve calls that execute during an upgrade: psql reads this
-- list once for each of these parts (setup/parts.psql). Run it as a superuser, or as a role with
-- CREATEROLE that owns the database, or may create schemas in it and grant that.

\set ON_ERROR_STOP on
\ir setup/release.psql

\if :{?in_parts}
\else
\ir setup/parts.psql
\quit
\endif

\if :is_before
\ir setup/before.psql
\endif

\if :is_install
BEGIN;
\ir setup/lock.sql
\ir roles.sql
\ir setup/begin.sql
\ir setup/version.psql
\ir setup/state.psql
\ir setup/lock_views.psql
\endif

-- A room knows only those above it in this list.
\ir install/omd.sql
\ir install/omd_lake.sql
\ir install/omd_lineage.sql
\ir install/omd_dispatch.sql
\ir install/omd_delivery.sql
\ir install/omd_facts.sql
\ir install/omd_decision.sql
\ir install/omd_provenance.sql
\ir install/omd_event.sql
\ir install/omd_report.sql
\ir install/omd_web.sql

\if :is_install
\ir rights/release.sql
\ir rights/settle.sql
\ir setup/finish.psql
COMMIT;

BEGIN;
\ir cleanup/drop_retired.sql
\ir cleanup/replica_identity.sql
COMMIT;

BEGIN;
\ir cleanup/server.sql
COMMIT;
\endif

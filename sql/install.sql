-- The one list of what is installed, in order: psql -f sql/install.sql, omd install, the tests and
-- the wheel use it. Each room has a list of its own. A migration is applied once; the checksum
-- before it is the SHA-256 of the released file. The rest is applied whenever it changes. Run it as
-- a superuser, or as a role with CREATEROLE that may create schemas. One transaction; another before
-- it, and one after it, are there for the calls that execute meanwhile.

\set ON_ERROR_STOP on
BEGIN;
\ir prepare/lineage_positions.sql
COMMIT;

BEGIN;
\ir setup/lock.sql
\ir roles.sql
\ir setup/begin.sql

-- Rooms; a room knows only those above it in this list.
\ir install/omd.sql
\ir install/omd_lineage.sql

\ir setup/finish.psql
COMMIT;

BEGIN;
\ir cleanup/drop_retired.sql
COMMIT;

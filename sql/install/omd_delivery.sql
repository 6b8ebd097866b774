-- This list says what is installed for delivery, in order. sql/install.sql includes it.

\set checksum '9d205a25138cace8b796faf065bc2f0c94379c1da99071eaa89f68ef0852047a'
\set migration 'V023__model'
\ir ../setup/claim.psql
\if :pending
\ir ../../migrations/V023__model.sql
\endif

-- Reference rows
\ir ../reference/omd_delivery/error_catalogue.sql
\ir ../reference/omd_delivery/constraint_types.sql

-- Model
\ir ../../procedures/omd_delivery/_hold_interface.sql
\ir ../../procedures/omd_delivery/_model_document.sql
\ir ../../procedures/omd_delivery/model_document.sql

-- Grants
\ir ../grants/omd_delivery.sql

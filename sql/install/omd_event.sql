-- This list says what is installed for events, in order. sql/install.sql includes it.

\set checksum 'f16797741cdeac8945ec64a25fec6e1c886d5ecb8be316a4ea6fd21482606600'
\set migration 'V100__events'
\ir ../setup/claim.psql
\if :pending
\ir ../../migrations/V100__events.sql
\endif

\set checksum '7ccbab59fc11751ee0d5ed1787f4060260f4d31f03ab500343ffc4594944df2d'
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
\ir ../../procedures/omd_event/_is_idle.sql
\ir ../../procedures/omd_event/publish.sql

-- What is heard
\ir ../../procedures/omd_event/_hear_undo.sql
\ir ../../procedures/omd_event/_hear_delivery.sql
\ir ../../procedures/omd_event/_hear_death.sql
\ir ../../procedures/omd_event/_hear_schedule.sql
\ir ../../procedures/omd_event/_hear_lake.sql
\ir ../triggers/omd_event/heard.sql

-- What a sink gets
\ir ../../procedures/omd_event/_open_lineage.sql
\ir ../../procedures/omd_event/_cloud_event.sql
\ir ../../procedures/omd_event/_text.sql

-- Sinks
\ir ../../procedures/omd_event/_is_wanted.sql
\ir ../../procedures/omd_event/_raise_unknown_sink.sql
\ir ../../procedures/omd_event/_require_sink_fit.sql
\ir ../../procedures/omd_event/register_sink.sql
\ir ../../procedures/omd_event/remove_sink.sql
\ir ../../procedures/omd_event/send_again.sql
\ir ../../procedures/omd_event/_event_bodies.sql
\ir ../../procedures/omd_event/take_events.sql
\ir ../../procedures/omd_event/_raise_not_held.sql
\ir ../../procedures/omd_event/_refuse_events.sql
\ir ../../procedures/omd_event/confirm_events.sql
\ir ../../procedures/omd_event/sink_definition.sql
\ir ../views/omd_event/event_sinks.sql

-- Copies and purges
\ir ../../procedures/omd_event/_end_leases.sql
\ir ../../procedures/omd_event/_hear_server.sql
\ir ../../procedures/omd_event/continue_as.sql
\ir ../../procedures/omd_event/_before_purge.sql
\ir ../../procedures/omd_event/_needed_instances.sql
\ir ../../procedures/omd_event/_purge_step.sql
\ir ../../procedures/omd_event/_log_purge.sql
\ir ../../procedures/omd_event/purge_events.sql
\ir ../reference/omd_event/listeners.sql

-- Grants
\ir ../grants/omd_event.sql

-- This list says what is installed for events, in order. sql/install.sql includes it.

\set checksum '1e7e1be5dbc674046df7f46eb82e6f1d92ca9143304025dfdb167ccda379dcef'
\set phase 'baseline'
\set migration 'V158__omd_event'
\ir ../setup/claim.psql
\if :pending
\ir ../../migrations/V158__omd_event.sql
\endif

\set checksum '8ee9794230589f5d8aa279310c27c5b53baf901a9ca988a3772346ced5befd86'
\set phase 'expand'
\set locks 'omd_dispatch.task_schedule'
\set migration 'V172__schedules_recover'
\ir ../setup/claim.psql
\if :pending
\ir ../../migrations/V172__schedules_recover.sql
\endif

\set checksum '752837d9aa5bf017a18ac55aef86b7f177ce28d7627f431d1750e74fa43e6b6e'
\set phase 'expand'
\set locks 'omd_event.setting'
\set migration 'V225__tries_of_events'
\ir ../setup/claim.psql
\if :pending
\ir ../../migrations/V225__tries_of_events.sql
\endif

\set checksum 'ac87f93bdcca7c209b3b4a616601b88b25378db730b854a1f0ede8772184b2ee'
\set migration 'V226__configure_tries'
\ir ../setup/claim.psql
\if :pending
\ir ../../migrations/V226__configure_tries.sql
\endif

\if :is_install
-- Reference rows
\ir ../reference/omd_event/error_catalogue.sql
\ir ../reference/omd_event/server.sql
\ir ../reference/omd_event/event_types.sql
\ir ../reference/omd_event/metrics.sql
\ir ../reference/omd_event/texts.sql

-- Names
\ir ../../procedures/omd_event/names/_run_uuid.sql
\ir ../../procedures/omd_event/names/_job_namespace.sql
\ir ../../procedures/omd_event/names/_dataset_namespace.sql
\ir ../../procedures/omd_event/names/_job_name.sql
\ir ../../procedures/omd_event/names/run_id.sql
\ir ../../procedures/omd_event/names/parent_id.sql

-- Events
\ir ../../procedures/omd_event/publishing/_event_row.sql
\ir ../../procedures/omd_event/publishing/_require_event_types.sql
\ir ../../procedures/omd_event/sinks/_log_edit.sql
\ir ../views/omd_event/events.sql
\ir ../../procedures/omd_event/publishing/events_after.sql
\ir ../../procedures/omd_event/names/_context_parent.sql
\ir ../../procedures/omd_event/names/_is_job_namespace.sql
\ir ../../procedures/omd_event/names/configure.sql
\ir ../../procedures/omd_event/publishing/_run_seconds_buckets.sql
\ir ../views/omd_event/uncounted.sql
\ir ../../procedures/omd_event/publishing/_count_published.sql
\ir ../../procedures/omd_event/publishing/_is_idle.sql
\ir ../../procedures/omd_event/publishing/publish.sql

-- What is heard
\ir ../../procedures/omd_event/publishing/_hear_undo.sql
\ir ../../procedures/omd_event/publishing/_hear_delivery.sql
\ir ../../procedures/omd_event/publishing/_hear_death.sql
\ir ../../procedures/omd_event/publishing/_hear_schedule.sql
\ir ../../procedures/omd_event/publishing/_hear_lake.sql
\ir ../triggers/omd_event/heard.sql

-- OpenLineage
\ir ../../procedures/omd_event/openlineage/_instant.sql
\ir ../../procedures/omd_event/openlineage/_facet.sql
\ir ../../procedures/omd_event/openlineage/_dataset_of_uri.sql
\ir ../../procedures/omd_event/openlineage/_datasets.sql
\ir ../../procedures/omd_event/openlineage/_job_type.sql
\ir ../../procedures/omd_event/openlineage/_documentation.sql
\ir ../../procedures/omd_event/openlineage/_job_facets.sql
\ir ../../procedures/omd_event/columns/_view_reads.sql
\ir ../../procedures/omd_event/columns/_column_lineage.sql
\ir ../../procedures/omd_event/columns/_column_facet.sql
\ir ../../procedures/omd_event/openlineage/_callers.sql
\ir ../../procedures/omd_event/openlineage/_parent_facet.sql
\ir ../../procedures/omd_event/openlineage/_assertions.sql
\ir ../../procedures/omd_event/openlineage/_run_tables.sql
\ir ../../procedures/omd_event/openlineage/_nominal_time.sql
\ir ../../procedures/omd_event/openlineage/_engine_facet.sql
\ir ../../procedures/omd_event/openlineage/_error_facet.sql
\ir ../../procedures/omd_event/openlineage/_run_facet.sql
\ir ../../procedures/omd_event/openlineage/_output_facets.sql
\ir ../../procedures/omd_event/openlineage/_staged.sql
\ir ../../procedures/omd_event/openlineage/_described_tables.sql
\ir ../../procedures/omd_event/openlineage/_run_event.sql
\ir ../../procedures/omd_event/openlineage/_open_lineage.sql
\ir ../views/omd_event/openlineage_event.sql
\ir ../../procedures/omd_event/openlineage/_context_problems.sql
\ir ../views/omd_event/openlineage_problems.sql
\ir ../../procedures/omd_event/columns/transform_views.sql
\ir ../../procedures/omd_event/columns/save_view_columns.sql

-- What a sink gets
\ir ../../procedures/omd_event/sinks/_cloud_event.sql
\ir ../../procedures/omd_event/sinks/_event_text.sql
\ir ../../procedures/omd_event/sinks/_text.sql

-- Sinks
\ir ../../procedures/omd_event/sinks/_is_wanted.sql
\ir ../../procedures/omd_event/sinks/_raise_unknown_sink.sql
\ir ../../procedures/omd_event/sinks/_require_sink_fit.sql
\ir ../../procedures/omd_event/sinks/register_sink.sql
\ir ../../procedures/omd_event/sinks/remove_sink.sql
\ir ../../procedures/omd_event/sinks/send_again.sql
\ir ../../procedures/omd_event/sinks/_event_bodies.sql
\ir ../../procedures/omd_event/sinks/take_events.sql
\ir ../../procedures/omd_event/sinks/_raise_not_held.sql
\ir ../../procedures/omd_event/sinks/_refuse_events.sql
\ir ../../procedures/omd_event/sinks/confirm_events.sql
\ir ../../procedures/omd_event/sinks/sink_definition.sql
\ir ../views/omd_event/event_sinks.sql

-- What runs cost
\ir ../../procedures/omd_event/costs/session_cost.sql
\ir ../../procedures/omd_event/costs/_require_run.sql
\ir ../../procedures/omd_event/costs/record_cost.sql
\ir ../../procedures/omd_event/costs/_purge_costs.sql

-- Copies and purges
\ir ../../procedures/omd_event/copies/_end_leases.sql
\ir ../../procedures/omd_event/copies/_hear_server.sql
\ir ../../procedures/omd_event/copies/_skip_event_numbers.sql
\ir ../../procedures/omd_event/copies/continue_as.sql
\ir ../../procedures/omd_event/purge/_before_purge.sql
\ir ../../procedures/omd_event/purge/_needed_instances.sql
\ir ../../procedures/omd_event/purge/_purge_published.sql
\ir ../reference/omd_event/purge_steps.sql

-- Metrics, and what is watched
\ir ../views/omd_event/metric_list.sql
\ir ../views/omd_event/problem_list.sql
\ir ../../procedures/omd_event/publishing/watch.sql

-- What is called by its name
\ir ../reference/omd_event/hooks.sql

-- Grants
\ir ../grants/omd_event.sql
\endif

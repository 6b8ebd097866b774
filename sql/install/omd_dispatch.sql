-- This list says what is installed for dispatch, in order. sql/install.sql includes it.

\set checksum 'e99fafb769f89cd3a28a6a5d485c6cbe17f5ee9edb4229af6234a4312ee39f09'
\set phase 'baseline'
\set migration 'V153__omd_dispatch'
\ir ../setup/claim.psql
\if :pending
\ir ../../migrations/V153__omd_dispatch.sql
\endif

\set checksum '75e568fa54d7d517804f12dc8c037f51e37c9609021f329cc0933a8a4a09c6e3'
\set phase 'expand'
\set locks 'omd_dispatch.task_schedule'
\set migration 'V171__lost_in_a_row'
\ir ../setup/claim.psql
\if :pending
\ir ../../migrations/V171__lost_in_a_row.sql
\endif

\set checksum '77df38010820a37989dea6327f4bb7d6abe70ac1153918620992439e6ec51c36'
\set migration 'V185__rights_of_families'
\ir ../setup/claim.psql
\if :pending
\ir ../../migrations/V185__rights_of_families.sql
\endif

\set checksum '6d3dfb2b16647c827ea753c8fa5f288db4359a9d75312f34c603c625248499b8'
\set phase 'expand'
\set locks 'omd_dispatch.backend_registration'
\set migration 'V199__slots_of_workers'
\ir ../setup/claim.psql
\if :pending
\ir ../../migrations/V199__slots_of_workers.sql
\endif

\set checksum 'c9165ab67db378490e52d6fa6d874579d2f8f1112788bbd47bdb2cd2c079066f'
\set phase 'expand'
\set migration 'V200__error_classes'
\ir ../setup/claim.psql
\if :pending
\ir ../../migrations/V200__error_classes.sql
\endif

\if :is_install
-- Reference rows
\ir ../reference/omd_dispatch/error_catalogue.sql
\ir ../reference/omd_dispatch/server.sql
\ir ../reference/omd_dispatch/texts.sql

-- Helpers
\ir ../../procedures/omd_dispatch/_partition_code.sql
\ir ../../procedures/omd_dispatch/_data_table.sql
\ir ../../procedures/omd_dispatch/_migration_status.sql
\ir ../../procedures/omd_dispatch/_model_table.sql
\ir ../../procedures/omd_dispatch/_task_tables.sql
\ir ../../procedures/omd_dispatch/_set_storage.sql
\ir ../../procedures/omd_dispatch/_partition_sql.sql
\ir ../../procedures/omd_dispatch/_hold_model.sql
\ir ../../procedures/omd_dispatch/_try_hold_model.sql
\ir ../../procedures/omd_dispatch/_try_hold_models.sql
\ir ../../procedures/omd_dispatch/_change_model.sql
\ir ../../procedures/omd_dispatch/_make_model_lock.sql
\ir ../../procedures/omd_dispatch/_job_table.sql
\ir ../../procedures/omd_dispatch/_require_code.sql
\ir ../../procedures/omd_dispatch/_require_family.sql
\ir ../../procedures/omd_dispatch/_require_type.sql
\ir ../../procedures/omd_dispatch/_require_criterion.sql
\ir ../../procedures/omd_dispatch/_lane.sql
\ir ../../procedures/omd_dispatch/_criteria_sql.sql
\ir ../../procedures/omd_dispatch/_key_criteria.sql
\ir ../../procedures/omd_dispatch/_key_sql.sql
\ir ../../procedures/omd_dispatch/_tell_due.sql
\ir ../../procedures/omd_dispatch/_notify_due.sql

-- Configuration
\ir ../../procedures/omd_dispatch/_raise_cache_version.sql
\ir ../../procedures/omd_dispatch/_log_definition_edit.sql
\ir ../../procedures/omd_dispatch/_set_rights.sql
\ir ../../procedures/omd_dispatch/_class_of_error.sql
\ir ../../procedures/omd_dispatch/_shown_error.sql
\ir ../../procedures/omd_dispatch/_shown_problem.sql
\ir ../../procedures/omd_dispatch/_comment_task_tables.sql
\ir ../../procedures/omd_dispatch/_name_indexes.sql
\ir ../../procedures/omd_dispatch/_index_tasks.sql
\ir ../../procedures/omd_dispatch/_make_task_table.sql
\ir ../../procedures/omd_dispatch/_make_job_tables.sql
\ir ../../procedures/omd_dispatch/_claim_routine.sql
\ir ../../procedures/omd_dispatch/_create_sql.sql
\ir ../../procedures/omd_dispatch/_note_created.sql
\ir ../../procedures/omd_dispatch/_create_one_sql.sql
\ir ../../procedures/omd_dispatch/_make_claims.sql
\ir ../../procedures/omd_dispatch/_make_insert.sql
\ir ../../procedures/omd_dispatch/register_family.sql
\ir ../../procedures/omd_dispatch/register_task_type.sql
\ir ../../procedures/omd_dispatch/set_custom.sql
\ir ../../procedures/omd_dispatch/set_external_name.sql
\ir ../../procedures/omd_dispatch/allow_search.sql

-- Tasks
\ir ../../procedures/omd_dispatch/_require_new_model.sql
\ir ../../procedures/omd_dispatch/_suspension_holds.sql
\ir ../../procedures/omd_dispatch/_matching_suspension.sql
\ir ../../procedures/omd_dispatch/suspended_modules.sql
\ir ../../procedures/omd_dispatch/_require_criteria.sql
\ir ../../procedures/omd_dispatch/_raise_invalid_criterion.sql
\ir ../../procedures/omd_dispatch/_require_task_arguments.sql
\ir ../../procedures/omd_dispatch/_insert_tasks.sql
\ir ../../procedures/omd_dispatch/create_task.sql
\ir ../../procedures/omd_dispatch/create_tasks.sql
\ir ../../procedures/omd_dispatch/_has_task.sql
\ir ../../procedures/omd_dispatch/_family_of_task.sql
\ir ../../procedures/omd_dispatch/_lock_task.sql
\ir ../../procedures/omd_dispatch/cancel_task.sql
\ir ../../procedures/omd_dispatch/reschedule_task.sql
\ir ../../procedures/omd_dispatch/revive_task.sql
\ir ../../procedures/omd_dispatch/_filter_sql.sql
\ir ../../procedures/omd_dispatch/count_tasks.sql
\ir ../../procedures/omd_dispatch/_pick_tasks.sql
\ir ../../procedures/omd_dispatch/_note_bulk.sql
\ir ../../procedures/omd_dispatch/_take_keys.sql
\ir ../../procedures/omd_dispatch/revive_tasks.sql
\ir ../../procedures/omd_dispatch/cancel_tasks.sql
\ir ../../procedures/omd_dispatch/reschedule_tasks.sql

-- Backends and claims
\ir ../../procedures/omd_dispatch/_lives.sql
\ir ../../procedures/omd_dispatch/_hold_backend.sql
\ir ../../procedures/omd_dispatch/backend_position.sql
\ir ../../procedures/omd_dispatch/renew_backend.sql
\ir ../../procedures/omd_dispatch/_due_lanes.sql
\ir ../../procedures/omd_dispatch/_other_lanes.sql
\ir ../../procedures/omd_dispatch/_claimable_lanes.sql
\ir ../../procedures/omd_dispatch/_free_in_lane.sql
\ir ../../procedures/omd_dispatch/_claim_lane.sql
\ir ../../procedures/omd_dispatch/claim_tasks.sql
\ir ../../procedures/omd_dispatch/_tell_dead.sql
\ir ../../procedures/omd_dispatch/_note_ends.sql
\ir ../../procedures/omd_dispatch/_end_claims.sql
\ir ../../procedures/omd_dispatch/_end_done.sql
\ir ../../procedures/omd_dispatch/complete_tasks.sql
\ir ../../procedures/omd_dispatch/_complete_and_claim.sql
\ir ../../procedures/omd_dispatch/_give_back_of.sql
\ir ../../procedures/omd_dispatch/_give_back.sql
\ir ../../procedures/omd_dispatch/release_tasks.sql
\ir ../../procedures/omd_dispatch/leave_backend.sql
\ir ../../procedures/omd_dispatch/_give_up_runs.sql
\ir ../../procedures/omd_dispatch/_settle_claims.sql
\ir ../../procedures/omd_dispatch/_hear_server.sql
\ir ../../procedures/omd_dispatch/register_backend.sql

-- Suspensions
\ir ../../procedures/omd_dispatch/_mark_suspended.sql
\ir ../../procedures/omd_dispatch/suspend.sql
\ir ../../procedures/omd_dispatch/_release_held_tasks.sql
\ir ../../procedures/omd_dispatch/resume.sql

-- Schedules
\ir ../../procedures/omd_dispatch/_cron_field.sql
\ir ../../procedures/omd_dispatch/_cron_instants.sql
\ir ../../procedures/omd_dispatch/_is_time_zone.sql
\ir ../../procedures/omd_dispatch/cron_next.sql
\ir ../../procedures/omd_dispatch/_next_occurrence.sql
\ir ../../procedures/omd_dispatch/_due_occurrences.sql
\ir ../../procedures/omd_dispatch/register_schedule.sql
\ir ../../procedures/omd_dispatch/_require_schedule.sql
\ir ../../procedures/omd_dispatch/remove_schedule.sql
\ir ../../procedures/omd_dispatch/_backoff.sql
\ir ../../procedures/omd_dispatch/_may_fire.sql
\ir ../../procedures/omd_dispatch/_due_schedules.sql
\ir ../../procedures/omd_dispatch/_lock_schedule.sql
\ir ../../procedures/omd_dispatch/_lose_occurrence.sql
\ir ../../procedures/omd_dispatch/_note_recovery.sql
\ir ../../procedures/omd_dispatch/_take_rest.sql
\ir ../../procedures/omd_dispatch/_keep_rest.sql
\ir ../../procedures/omd_dispatch/_end_firing.sql
\ir ../../procedures/omd_dispatch/_read_source.sql
\ir ../../procedures/omd_dispatch/_fire_schedule.sql
\ir ../../procedures/omd_dispatch/_fire.sql
\ir ../../procedures/omd_dispatch/fire_schedule.sql

-- Sources of tasks
\ir ../../procedures/omd_dispatch/_tell_sources.sql
\ir ../../procedures/omd_dispatch/register_source.sql
\ir ../../procedures/omd_dispatch/set_work.sql
\ir ../../procedures/omd_dispatch/_rests_until.sql
\ir ../../procedures/omd_dispatch/_source_is_due.sql
\ir ../../procedures/omd_dispatch/_due_sources.sql
\ir ../../procedures/omd_dispatch/_wait_for_sources.sql
\ir ../../procedures/omd_dispatch/_lock_source.sql
\ir ../../procedures/omd_dispatch/_end_source.sql
\ir ../../procedures/omd_dispatch/_fire_source.sql
\ir ../../procedures/omd_dispatch/fire_sources.sql
\ir ../../procedures/omd_dispatch/live_work.sql

-- Maintenance and reports
\ir ../../procedures/omd_dispatch/_follow_clock.sql
\ir ../../procedures/omd_dispatch/_maintain_backends.sql
\ir ../../procedures/omd_dispatch/_maintain_suspensions.sql
\ir ../../procedures/omd_dispatch/maintain.sql
\ir ../../procedures/omd_dispatch/explain_task.sql
\ir ../../procedures/omd_dispatch/task_state.sql
\ir ../../procedures/omd_dispatch/task_text.sql
\ir ../../procedures/omd_dispatch/search_index.sql
\ir ../../procedures/omd_dispatch/search_tasks.sql
\ir ../../procedures/omd_dispatch/_tasks_of_status.sql
\ir ../../procedures/omd_dispatch/_some_dead.sql
\ir ../../procedures/omd_dispatch/_dead_types.sql
\ir ../../procedures/omd_dispatch/_unserved_types.sql
\ir ../../procedures/omd_dispatch/_queue.sql
\ir ../../procedures/omd_dispatch/dead_tasks.sql
\ir ../../procedures/omd_dispatch/dead_groups.sql
\ir ../../procedures/omd_dispatch/queue_lanes.sql

-- Purge
\ir ../../procedures/omd_dispatch/_has_partition.sql
\ir ../../procedures/omd_dispatch/_require_spare_partition.sql
\ir ../../procedures/omd_dispatch/_move_pending.sql
\ir ../../procedures/omd_dispatch/_exchange_partition.sql
\ir ../../procedures/omd_dispatch/_empty_spare_partition.sql
\ir ../../procedures/omd_dispatch/purge_partition.sql
\ir ../../procedures/omd_dispatch/_partitions_past_retention.sql
\ir ../../procedures/omd_dispatch/purge_family.sql
\ir ../../procedures/omd_dispatch/_purge_rooms.sql

-- Old model and migration
\ir ../../procedures/omd_dispatch/_image_difference.sql
\ir ../../procedures/omd_dispatch/_task_image.sql
\ir ../../procedures/omd_dispatch/_remove_copy.sql
\ir ../../procedures/omd_dispatch/_copy_tasks.sql
\ir ../../procedures/omd_dispatch/_empty_model.sql
\ir ../../procedures/omd_dispatch/_mirror_task.sql
\ir ../../procedures/omd_dispatch/compare_models.sql
\ir ../../procedures/omd_dispatch/set_migration_status.sql

-- Erasure
\ir ../../procedures/omd_dispatch/tasks_unfit.sql
\ir ../../procedures/omd_dispatch/erase_tasks.sql

-- Triggers
\ir ../../procedures/omd_dispatch/_fence_run.sql
\ir ../triggers/omd_dispatch/cache_version.sql
\ir ../triggers/omd_dispatch/run_fence.sql

-- Reporting views
\ir ../views/omd_dispatch/dispatch_queue.sql
\ir ../views/omd_dispatch/dispatch_running.sql
\ir ../views/omd_dispatch/dispatch_dead.sql
\ir ../views/omd_dispatch/problem_list.sql
\ir ../views/omd_dispatch/dispatch_backends.sql
\ir ../views/omd_dispatch/dispatch_sessions.sql
\ir ../views/omd_dispatch/dispatch_suspensions.sql
\ir ../views/omd_dispatch/dispatch_schedules.sql
\ir ../views/omd_dispatch/dispatch_sources.sql
\ir ../views/omd_dispatch/history.sql

-- Shipped families, of which no event tells
\ir ../reference/omd_dispatch/codes.sql
\ir ../triggers/omd_dispatch/definition_edit.sql
\ir ../triggers/omd_dispatch/source_edit.sql

-- Grants
\ir ../grants/omd_dispatch.sql
\endif

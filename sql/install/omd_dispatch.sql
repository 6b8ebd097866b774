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

\set checksum '437d20bbf70ba82194cdbc01dee127ef719c83813de6b7f06a8128588f7762d1'
\set phase 'expand'
\set locks 'omd_dispatch.task_suspension'
\set migration 'V246__marks_in_parts'
\ir ../setup/claim.psql
\if :pending
\ir ../../migrations/V246__marks_in_parts.sql
\endif

\if :is_install
-- Reference rows
\ir ../reference/omd_dispatch/error_catalogue.sql
\ir ../reference/omd_dispatch/server.sql
\ir ../reference/omd_dispatch/texts.sql

-- Helpers
\ir ../../procedures/omd_dispatch/tables/_partition_code.sql
\ir ../../procedures/omd_dispatch/tables/_data_table.sql
\ir ../../procedures/omd_dispatch/migration/_migration_status.sql
\ir ../../procedures/omd_dispatch/tables/_model_table.sql
\ir ../../procedures/omd_dispatch/tables/_task_tables.sql
\ir ../../procedures/omd_dispatch/tables/_set_storage.sql
\ir ../../procedures/omd_dispatch/tables/_partition_sql.sql
\ir ../../procedures/omd_dispatch/migration/_hold_model.sql
\ir ../../procedures/omd_dispatch/migration/_try_hold_model.sql
\ir ../../procedures/omd_dispatch/migration/_try_hold_models.sql
\ir ../../procedures/omd_dispatch/migration/_change_model.sql
\ir ../../procedures/omd_dispatch/migration/_make_model_lock.sql
\ir ../../procedures/omd_dispatch/tables/_job_table.sql
\ir ../../procedures/omd_dispatch/families/_require_code.sql
\ir ../../procedures/omd_dispatch/families/_require_family.sql
\ir ../../procedures/omd_dispatch/families/_require_type.sql
\ir ../../procedures/omd_dispatch/criteria/_require_criterion.sql
\ir ../../procedures/omd_dispatch/lanes/_lane.sql
\ir ../../procedures/omd_dispatch/generated/_criteria_sql.sql
\ir ../../procedures/omd_dispatch/keys/_key_criteria.sql
\ir ../../procedures/omd_dispatch/generated/_key_sql.sql
\ir ../../procedures/omd_dispatch/workers/_tell_due.sql
\ir ../../procedures/omd_dispatch/workers/_notify_due.sql

-- Configuration
\ir ../../procedures/omd_dispatch/families/_raise_cache_version.sql
\ir ../../procedures/omd_dispatch/families/_log_definition_edit.sql
\ir ../../procedures/omd_dispatch/tables/_set_rights.sql
\ir ../../procedures/omd_dispatch/outcomes/_class_of_error.sql
\ir ../../procedures/omd_dispatch/reports/_shown_error.sql
\ir ../../procedures/omd_dispatch/schedules/_shown_problem.sql
\ir ../../procedures/omd_dispatch/tables/_comment_task_tables.sql
\ir ../../procedures/omd_dispatch/tables/_name_indexes.sql
\ir ../../procedures/omd_dispatch/tables/_index_tasks.sql
\ir ../../procedures/omd_dispatch/tables/_make_task_table.sql
\ir ../../procedures/omd_dispatch/tables/_make_job_tables.sql
\ir ../../procedures/omd_dispatch/claims/_claim_routine.sql
\ir ../../procedures/omd_dispatch/generated/_create_sql.sql
\ir ../../procedures/omd_dispatch/creation/_note_created.sql
\ir ../../procedures/omd_dispatch/generated/_create_one_sql.sql
\ir ../../procedures/omd_dispatch/outcomes/_next_status.sql
\ir ../../procedures/omd_dispatch/generated/_due_template.sql
\ir ../../procedures/omd_dispatch/generated/_other_template.sql
\ir ../../procedures/omd_dispatch/generated/_claim_template.sql
\ir ../../procedures/omd_dispatch/generated/_take_template.sql
\ir ../../procedures/omd_dispatch/generated/_done_template.sql
\ir ../../procedures/omd_dispatch/generated/_end_template.sql
\ir ../../procedures/omd_dispatch/generated/_lost_template.sql
\ir ../../procedures/omd_dispatch/generated/_stray_template.sql
\ir ../../procedures/omd_dispatch/generated/_insert_template.sql
\ir ../../procedures/omd_dispatch/generated/_create_template.sql
\ir ../../procedures/omd_dispatch/generated/_make_claims.sql
\ir ../../procedures/omd_dispatch/generated/_make_insert.sql
\ir ../../procedures/omd_dispatch/families/register_family.sql
\ir ../../procedures/omd_dispatch/families/register_task_type.sql
\ir ../../procedures/omd_dispatch/criteria/set_custom.sql
\ir ../../procedures/omd_dispatch/criteria/set_external_name.sql
\ir ../../procedures/omd_dispatch/searches/allow_search.sql

-- Tasks
\ir ../../procedures/omd_dispatch/migration/_require_new_model.sql
\ir ../../procedures/omd_dispatch/suspensions/_suspension_holds.sql
\ir ../../procedures/omd_dispatch/suspensions/_matching_suspension.sql
\ir ../../procedures/omd_dispatch/suspensions/_held_sql.sql
\ir ../../procedures/omd_dispatch/suspensions/suspended_modules.sql
\ir ../../procedures/omd_dispatch/criteria/_require_criteria.sql
\ir ../../procedures/omd_dispatch/criteria/_raise_invalid_criterion.sql
\ir ../../procedures/omd_dispatch/creation/_require_task_arguments.sql
\ir ../../procedures/omd_dispatch/creation/_insert_tasks.sql
\ir ../../procedures/omd_dispatch/creation/create_task.sql
\ir ../../procedures/omd_dispatch/creation/create_tasks.sql
\ir ../../procedures/omd_dispatch/tasks/_has_task.sql
\ir ../../procedures/omd_dispatch/tasks/_family_of_task.sql
\ir ../../procedures/omd_dispatch/tasks/_lock_task.sql
\ir ../../procedures/omd_dispatch/tasks/cancel_task.sql
\ir ../../procedures/omd_dispatch/tasks/reschedule_task.sql
\ir ../../procedures/omd_dispatch/tasks/revive_task.sql
\ir ../../procedures/omd_dispatch/tasks/_filter_sql.sql
\ir ../../procedures/omd_dispatch/tasks/count_tasks.sql
\ir ../../procedures/omd_dispatch/tasks/_pick_tasks.sql
\ir ../../procedures/omd_dispatch/tasks/_note_bulk.sql
\ir ../../procedures/omd_dispatch/keys/_take_keys.sql
\ir ../../procedures/omd_dispatch/tasks/revive_tasks.sql
\ir ../../procedures/omd_dispatch/tasks/cancel_tasks.sql
\ir ../../procedures/omd_dispatch/tasks/reschedule_tasks.sql

-- Backends and claims
\ir ../../procedures/omd_dispatch/workers/_lives.sql
\ir ../../procedures/omd_dispatch/workers/_hold_backend.sql
\ir ../../procedures/omd_dispatch/workers/backend_position.sql
\ir ../../procedures/omd_dispatch/workers/renew_backend.sql
\ir ../../procedures/omd_dispatch/lanes/_due_lanes.sql
\ir ../../procedures/omd_dispatch/lanes/_other_lanes.sql
\ir ../../procedures/omd_dispatch/lanes/_claimable_lanes.sql
\ir ../../procedures/omd_dispatch/lanes/_free_in_lane.sql
\ir ../../procedures/omd_dispatch/claims/_claim_lane.sql
\ir ../../procedures/omd_dispatch/claims/claim_tasks.sql
\ir ../../procedures/omd_dispatch/outcomes/_tell_dead.sql
\ir ../../procedures/omd_dispatch/outcomes/_note_ends.sql
\ir ../../procedures/omd_dispatch/outcomes/_end_claims.sql
\ir ../../procedures/omd_dispatch/outcomes/_end_done.sql
\ir ../../procedures/omd_dispatch/outcomes/complete_tasks.sql
\ir ../../procedures/omd_dispatch/claims/complete_and_claim.sql
\ir ../../procedures/omd_dispatch/claims/_give_back_of.sql
\ir ../../procedures/omd_dispatch/claims/_give_back.sql
\ir ../../procedures/omd_dispatch/claims/release_tasks.sql
\ir ../../procedures/omd_dispatch/workers/leave_backend.sql
\ir ../../procedures/omd_dispatch/claims/_give_up_runs.sql
\ir ../../procedures/omd_dispatch/claims/_settle_claims.sql
\ir ../../procedures/omd_dispatch/maintenance/_hear_server.sql
\ir ../../procedures/omd_dispatch/workers/register_backend.sql

-- Suspensions
\ir ../../procedures/omd_dispatch/suspensions/_mark_suspended.sql
\ir ../../procedures/omd_dispatch/suspensions/suspend.sql
\ir ../../procedures/omd_dispatch/suspensions/_release_held_tasks.sql
\ir ../../procedures/omd_dispatch/suspensions/resume.sql

-- Schedules
\ir ../../procedures/omd_dispatch/occurrences/_cron_field.sql
\ir ../../procedures/omd_dispatch/occurrences/_cron_instants.sql
\ir ../../procedures/omd_dispatch/occurrences/_is_time_zone.sql
\ir ../../procedures/omd_dispatch/occurrences/cron_next.sql
\ir ../../procedures/omd_dispatch/occurrences/_next_occurrence.sql
\ir ../../procedures/omd_dispatch/occurrences/_due_occurrences.sql
\ir ../../procedures/omd_dispatch/schedules/register_schedule.sql
\ir ../../procedures/omd_dispatch/schedules/_require_schedule.sql
\ir ../../procedures/omd_dispatch/schedules/remove_schedule.sql
\ir ../../procedures/omd_dispatch/schedules/_backoff.sql
\ir ../../procedures/omd_dispatch/schedules/_may_fire.sql
\ir ../../procedures/omd_dispatch/schedules/_due_schedules.sql
\ir ../../procedures/omd_dispatch/schedules/_lock_schedule.sql
\ir ../../procedures/omd_dispatch/schedules/_lose_occurrence.sql
\ir ../../procedures/omd_dispatch/schedules/_note_recovery.sql
\ir ../../procedures/omd_dispatch/schedules/_take_rest.sql
\ir ../../procedures/omd_dispatch/schedules/_keep_rest.sql
\ir ../../procedures/omd_dispatch/schedules/_end_firing.sql
\ir ../../procedures/omd_dispatch/sources/_read_source.sql
\ir ../../procedures/omd_dispatch/schedules/_fire_schedule.sql
\ir ../../procedures/omd_dispatch/schedules/_fire.sql
\ir ../../procedures/omd_dispatch/schedules/fire_schedule.sql

-- Sources of tasks
\ir ../../procedures/omd_dispatch/sources/_tell_sources.sql
\ir ../../procedures/omd_dispatch/sources/register_source.sql
\ir ../../procedures/omd_dispatch/sources/set_work.sql
\ir ../../procedures/omd_dispatch/sources/_rests_until.sql
\ir ../../procedures/omd_dispatch/sources/_source_is_due.sql
\ir ../../procedures/omd_dispatch/sources/_due_sources.sql
\ir ../../procedures/omd_dispatch/sources/_wait_for_sources.sql
\ir ../../procedures/omd_dispatch/sources/_lock_source.sql
\ir ../../procedures/omd_dispatch/sources/_end_source.sql
\ir ../../procedures/omd_dispatch/sources/_fire_source.sql
\ir ../../procedures/omd_dispatch/sources/fire_sources.sql
\ir ../../procedures/omd_dispatch/sources/live_work.sql

-- Maintenance and reports
\ir ../../procedures/omd_dispatch/maintenance/_follow_clock.sql
\ir ../../procedures/omd_dispatch/workers/_maintain_backends.sql
\ir ../../procedures/omd_dispatch/suspensions/_maintain_suspensions.sql
\ir ../../procedures/omd_dispatch/maintenance/maintain.sql
\ir ../../procedures/omd_dispatch/reports/explain_task.sql
\ir ../../procedures/omd_dispatch/reports/task_text.sql
\ir ../../procedures/omd_dispatch/searches/search_index.sql
\ir ../../procedures/omd_dispatch/searches/search_tasks.sql
\ir ../../procedures/omd_dispatch/reports/_tasks_of_status.sql
\ir ../../procedures/omd_dispatch/reports/_some_dead.sql
\ir ../../procedures/omd_dispatch/reports/_dead_types.sql
\ir ../../procedures/omd_dispatch/reports/_unserved_types.sql
\ir ../../procedures/omd_dispatch/reports/_queue.sql
\ir ../../procedures/omd_dispatch/reports/dead_tasks.sql
\ir ../../procedures/omd_dispatch/reports/dead_groups.sql
\ir ../../procedures/omd_dispatch/reports/queue_lanes.sql

-- Purge
\ir ../../procedures/omd_dispatch/purge/_has_partition.sql
\ir ../../procedures/omd_dispatch/purge/_require_spare_partition.sql
\ir ../../procedures/omd_dispatch/purge/_move_pending.sql
\ir ../../procedures/omd_dispatch/purge/_exchange_partition.sql
\ir ../../procedures/omd_dispatch/purge/_empty_spare_partition.sql
\ir ../../procedures/omd_dispatch/purge/purge_partition.sql
\ir ../../procedures/omd_dispatch/purge/_partitions_past_retention.sql
\ir ../../procedures/omd_dispatch/purge/purge_family.sql
\ir ../../procedures/omd_dispatch/purge/_purge_rooms.sql

-- Old model and migration
\ir ../../procedures/omd_dispatch/migration/_image_difference.sql
\ir ../../procedures/omd_dispatch/migration/_task_image.sql
\ir ../../procedures/omd_dispatch/migration/_remove_copy.sql
\ir ../../procedures/omd_dispatch/migration/_copy_tasks.sql
\ir ../../procedures/omd_dispatch/migration/_empty_model.sql
\ir ../../procedures/omd_dispatch/migration/_mirror_task.sql
\ir ../../procedures/omd_dispatch/migration/compare_models.sql
\ir ../../procedures/omd_dispatch/migration/set_migration_status.sql

-- Erasure
\ir ../../procedures/omd_dispatch/erasure/tasks_unfit.sql
\ir ../../procedures/omd_dispatch/erasure/_erase_tasks.sql
\ir ../../procedures/omd_dispatch/erasure/erase_subject.sql

-- Triggers
\ir ../../procedures/omd_dispatch/claims/_fence_run.sql
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

-- What is called by its name
\ir ../reference/omd_dispatch/hooks.sql

-- Grants
\ir ../grants/omd_dispatch.sql
\endif

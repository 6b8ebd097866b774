"""The exceptions of rooms from the rules of the house, each with its reason."""

from __future__ import annotations

import re

# These have no SET: they end their own transactions, which PostgreSQL refuses to a routine with
# SET, or a SET would hide the settings that they read.
CONTROLS_TRANSACTIONS = {
    "omd.run_module",
    "omd.run_batch",
    "omd.execute_module",
    "omd._execute_batch",
    "omd.purge",
    "omd.ask_whether_to_commit",
    "omd.maintain_rooms",
    "omd.require_no_transaction_block",
    "omd._restore_settings",
    "omd._session_settings",
    "omd._listed_settings",
    "omd._named_settings",
    "omd.finish_run",
    "omd._execute_runs",
    "omd_decision.run_stage",
    "omd_dispatch._fire",
    "omd_dispatch.fire_schedule",
    "omd_dispatch.fire_sources",
    "omd_dispatch.maintain",
    "omd_dispatch.purge_family",
    "omd_dispatch.purge_partition",
    "omd_dispatch._purge_rooms",
    "omd_facts.load",
    "omd_facts.load_all",
    "omd_facts.undo",
    "omd_lineage.step",
    "omd_lineage.probe_sources",
    "omd_lineage.restate",
}

# What an installation creates stands in a file of the product, so they execute it as it is.
CREATE_WHAT_FILES_SAY = {"omd.put_trigger", "omd.put_view"}

# These work with the rights of the owner on tables whose names are known only at run time: those of
# the families. The text is format() over what _data_table, _model_table, _job_table, _criteria_sql,
# _create_sql, _claim_routine, _held_sql and _partition_sql return, which quote registered codes, or
# over codes as %I and values as %L; it never is an argument, and never contains one. In delivery
# they are those of the interfaces, by the codes of the registry; a check of a model is written anew
# by its parser.
OVER_GENERATED_TABLES = {
    "omd.base_tables",
    "omd.block_routine",
    "omd.block_stands",
    "omd.block_upto",
    "omd.block_view",
    "omd.mask_columns",
    "omd.hide_columns",
    "omd.next_position",
    "omd.plan_block",
    "omd.show_block",
    "omd_delivery._apply_entity",
    "omd_delivery._check_delta",
    "omd_delivery._check_problem",
    "omd_delivery._context_keys",
    "omd_delivery._delete_delta",
    "omd_delivery._delete_strays",
    "omd_delivery._empty_hashes",
    "omd_delivery._empty_staging",
    "omd_delivery._equip_agreement",
    "omd_delivery._forget_keys",
    "omd_delivery._has_duplicates",
    "omd_delivery._guard_table",
    "omd_delivery._has_rows",
    "omd_delivery._make_indexes",
    "omd_delivery._make_schema",
    "omd_delivery._make_tables",
    "omd_delivery._remove_keys",
    "omd_delivery._revert_entity",
    "omd_delivery.recall_effects",
    "omd_delivery.count_references",
    "omd_delivery.erase_keys",
    "omd_delivery.subject_texts",
    "omd_delivery.require_delta",
    "omd_delivery.undo_update",
    "omd_decision._preview",
    "omd_facts._analyze_grown",
    "omd_facts._analyze_removed",
    "omd_facts._copy_control",
    "omd_facts._current_row",
    "omd_facts._execute_all",
    "omd_facts._export_cuts",
    "omd_facts._has_rows",
    "omd_facts._index_all",
    "omd_facts._index_tables",
    "omd_facts._is_agreed",
    "omd_facts._lacks_members",
    "omd_facts._lacks_roots",
    "omd_facts._load_entity",
    "omd_facts._load_roots",
    "omd_facts._note_erased",
    "omd_facts._refused_key",
    "omd_facts._removed_anchors",
    "omd_facts._run_controls",
    "omd_facts._switch_changes",
    "omd_facts._undo_load",
    "omd_facts.count_references",
    "omd_facts.erase_keys",
    "omd_facts.hold_erasure",
    "omd_facts.subject_texts",
    "omd_facts.hold_views",
    "omd_facts.recall_effects",
    "omd_facts.resync",
    "omd_facts.verify",
    "omd_dispatch.dead_tasks",
    "omd_dispatch.queue_lanes",
    "omd_dispatch._some_dead",
    "omd_dispatch._unserved_types",
    "omd_dispatch.task_text",
    "omd_dispatch._change_model",
    "omd_dispatch._claim_lane",
    "omd_dispatch._comment_task_tables",
    "omd_dispatch._copy_tasks",
    "omd_dispatch._due_lanes",
    "omd_dispatch._other_lanes",
    "omd_dispatch._empty_model",
    "omd_dispatch._empty_spare_partition",
    "omd_dispatch._end_claims",
    "omd_dispatch._end_done",
    "omd_dispatch._exchange_partition",
    "omd_dispatch._fence_run",
    "omd_dispatch._free_in_lane",
    "omd_dispatch._give_back_of",
    "omd_dispatch._has_task",
    "omd_dispatch._hold_model",
    "omd_dispatch._index_tasks",
    "omd_dispatch._insert_tasks",
    "omd_dispatch._release_held_tasks",
    "omd_dispatch._lock_task",
    "omd_dispatch._make_claims",
    "omd_dispatch._make_insert",
    "omd_dispatch._follow_clock",
    "omd_dispatch._maintain_suspensions",
    "omd_dispatch._make_job_tables",
    "omd_dispatch._make_model_lock",
    "omd_dispatch._set_rights",
    "omd_dispatch._make_task_table",
    "omd_dispatch._mark_suspended",
    "omd_dispatch._mirror_task",
    "omd_dispatch._move_pending",
    "omd_dispatch._name_indexes",
    "omd_dispatch._queue",
    "omd_dispatch._raise_invalid_criterion",
    "omd_dispatch._remove_copy",
    "omd_dispatch._require_spare_partition",
    "omd_dispatch._set_storage",
    "omd_dispatch._settle_claims",
    "omd_dispatch._partitions_past_retention",
    "omd_dispatch._tasks_of_status",
    "omd_dispatch._try_hold_model",
    "omd_dispatch._try_hold_models",
    "omd_dispatch.allow_search",
    "omd_dispatch._filter_sql",
    "omd_dispatch._pick_tasks",
    "omd_dispatch._take_keys",
    "omd_dispatch.cancel_task",
    "omd_dispatch.cancel_tasks",
    "omd_dispatch.compare_models",
    "omd_dispatch.count_tasks",
    "omd_dispatch._erase_tasks",
    "omd_dispatch.explain_task",
    "omd_dispatch.register_family",
    "omd_dispatch.register_task_type",
    "omd_dispatch.renew_backend",
    "omd_dispatch.reschedule_task",
    "omd_dispatch.reschedule_tasks",
    "omd_dispatch.revive_task",
    "omd_dispatch.revive_tasks",
    "omd_dispatch.search_tasks",
    "omd_dispatch.set_migration_status",
    "omd_dispatch.suspend",
    # The text is the name of a routine, which a room has entered when it was installed.
    "omd.tell_undo",
    "omd.readable_until",
    "omd._prepare_purge",
    "omd._old_history",
    "omd._without_needed",
    "omd.confirm_server",
    "omd._skip_counters",
    # The text names tables and columns that rooms have entered, and sequences of omd_owner.
    "omd._skip_numbers",
    "omd._clear_server_bound",
    # The text is the name of a routine, which a room has entered for its kinds.
    "omd._undo_for_room",
    "omd._forget_attempts",
    "omd_provenance._effects_of_own",
    "omd_provenance._erase_rooms",
    "omd_provenance._follows",
    "omd_provenance._lock_recall",
    "omd_provenance._take_back_own",
}

# Each family has these of its own, which _make_claims writes, so they have no file; _make_insert
# writes two for all.
OF_FAMILIES = re.compile(
    r"omd_dispatch\.(_(due|other|claim|take|done|end|lost|stray|insert|create)_(old_)?task_data_\w+"
    r"|_insert_new_tasks|_create_new_task)"
)

# The worker calls these itself, as the role of its connection.
CALLED_BY_THE_WORKER = {
    "omd_facts._refuse_export",  # by the query of an export
    "omd_facts._load_item",  # by the SQL of a load
    "omd_dispatch._take_task_data_call",
    "omd_dispatch._take_task_data_run",
    "omd_dispatch._take_task_data_work",
}

# These are for rooms, and a text that is executed with the rights of its caller names them; or the
# page does, which is the room omd_web.
NAMED_IN_TEXTS = {
    "omd_delivery.delivery_date",  # by the check of a model
    "omd_delivery.matches",  # the same
    "omd_decision.process_stage",  # by what run_module executes for a stage
    "omd_lineage.put_back_rows",  # by the rollback of a topic
    "omd_web.bulk",
    "omd_web.find",
    "omd_web.grid",
    "omd_web.grid_modules",
}

# Rooms with tables that have no hook for a person's erasure, or for runs to take back, and why.
_TEXTS = "what it keeps of persons are texts, and these are masked by omd.text_column"
_NO_RUNS = "no rows of runs are in its tables"
NO_HOOK = {
    ("omd", "ERASE"): _TEXTS,
    ("omd_event", "ERASE"): _TEXTS,
    ("omd_provenance", "ERASE"): _TEXTS,
    ("omd_lake", "ERASE"): "Spark rewrites the tables: omd_provenance._put_off leaves it to finish",
    ("omd_web", "ERASE"): "it has definitions of the installation only",
    ("omd_dispatch", "TAKE_BACK"): "a task stays done; the room of its run takes that back",
    ("omd_lake", "TAKE_BACK"): "its tables are targets of Modules of process control, which asks",
    ("omd_provenance", "TAKE_BACK"): _NO_RUNS,
    ("omd_event", "TAKE_BACK"): _NO_RUNS,
    ("omd_web", "TAKE_BACK"): _NO_RUNS,
}

# Routines of omd.room_hook, which run_module calls by their names in it.
PARTS_OF_KINDS = {"begin_run", "end_run", "undo_runs"}

# Routines of omd.room_hook, which next_act calls by their names in it.
ACTS_OF_KINDS = {
    "omd.next_program",
    "omd_decision.next_stage",
    "omd_delivery.next_delivery",
    "omd_facts.next_export",
    "omd_facts.next_load",
    "omd_lineage.next_step",
}

# Routines of omd.maintenance, which maintain_rooms calls by their names in it.
MAINTENANCE = {"declare_missing", "forget_unread", "look_at_inputs"}

# These succeed with every argument NULL.
NULL_IS_AN_ANSWER = {
    "omd.reap_expired_instances": "all its arguments are answers",
    "omd.settle_server": "its only argument is an answer",
    "omd.tell_row_counts": "a count that is not given is 0",
    "omd_facts.load_all": "NULL is every interface",
    "omd_dispatch.maintain": "all its arguments are answers",
    "omd_dispatch.fire_sources": "NULL: there is news now",
    "omd.recorded_write": "it reads; nothing is recorded under NULL",
    "omd_lineage.in_block": "a condition of views: a row without a position is in no block",
    "omd_lineage.until_block_end": "a condition of views: outside of a step it is true",
    "omd_lineage.id_in_block": "the same, where the position is the id alone",
    "omd_lineage.probe_sources": "its only argument is an answer",
    "omd_event.configure": "NULL keeps what is set",
    "omd_event.transform_views": "NULL: the views of all topics",
    "omd.purge": "without a keep it deletes what nobody needs",
    "omd.quote_table": "as an operator: NULL where an argument is NULL",
    "omd.show_block": "a source without a kind shows no block",
    "omd_dispatch.complete_and_claim": "NULL: there is nothing to report and nothing to claim",
    "omd_lineage.ready_near": "nothing has moved",
    "omd_report.ready_tasks_near": "nothing has ended, moved or arrived",
}

# A reader may execute it although it is volatile.
CHANGES_NOTHING = {
    "omd_facts.as_of": "it sets a setting of the session",
    "omd.explain_begin": "it asks what a begin asks, in a subtransaction that always rolls back",
    "omd_web.preview": "it makes a call with the rights of its caller, and always rolls it back",
}

# Errors of a callee that a caller can't cause: errors, reason, caller > callee.
NEVER_RAISED: list[tuple[str, str, list[str]]] = [
    (
        "OM013",
        "it gives no argument",
        ["omd_web.actions > omd_web._call"],
    ),
    (
        "OM072",
        "the task has just been written",
        ["omd_web.preview > omd_web._task_warnings"],
    ),
    (
        "OM170",
        "it returns the text of a function that raises it",
        ["omd_dispatch._make_claims > omd_dispatch._create_one_sql"],
    ),
    (
        "OM102",
        "only a success asks for the indicator P",
        [
            "omd._answer_module > omd._close_module_instance",
            "omd._decide_batch > omd._close_batch_instance",
            "omd._fail_batch_instance > omd._close_batch_instance",
            "omd.abort_run > omd._close_batch_instance",
            "omd.batch_abort > omd._close_batch_instance",
            "omd.batch_skip > omd._close_batch_instance",
            "omd.fail_module_instance > omd._close_module_instance",
            "omd.module_abort > omd._close_module_instance",
            "omd.module_skip > omd._close_module_instance",
        ],
    ),
    (
        "OM102",
        "it asks only after an instance that is unknown or has ended",
        [
            "omd._answer_module > omd._raise_module_instance_state",
            "omd._decide_batch > omd._raise_batch_instance_state",
            "omd._require_rollback > omd._raise_module_instance_state",
            "omd._ask_rollback > omd._raise_module_instance_state",
            "omd.heartbeat > omd._raise_module_instance_state",
            "omd.heartbeat_batch > omd._raise_batch_instance_state",
        ],
    ),
    (
        "OM101 OM102",
        "it asks only after an instance that is unknown",
        ["omd._rollback_parts > omd._raise_module_instance_state"],
    ),
    (
        "OM011",
        "it gives no lease",
        ["omd.create_batch_instance > omd._insert_batch_instance"],
    ),
    (
        "OM011 OM013",
        "it gives no lease, and the context is its own",
        [
            "omd._execute_batch > omd._insert_batch_instance",
            "omd.begin_in_database_run > omd._open_module_instance",
            "omd_lineage.step > omd_lineage._begin_in_database",
        ],
    ),
    (
        "OM011 OM101",
        "it gives no lease, and evaluates nothing",
        ["omd.create_module_instance > omd._open_module_instance"],
    ),
    (
        "OM003 OM005 OM101",
        "it has the row locked, and the instance executes",
        ["omd.end_instances > omd._fail_batch_instance"],
    ),
    (
        "OM004 OM005 OM101",
        "it has the row locked, and the instance executes",
        [
            "omd._fail_members > omd.fail_module_instance",
            "omd._give_up_module_instances > omd.fail_module_instance",
            "omd.end_instances > omd.fail_module_instance",
            "omd.give_up_runs_of_task > omd.fail_module_instance",
            "omd_lineage._claim_topic > omd.fail_module_instance",
        ],
    ),
    (
        "OM003 OM005 OM101",
        "it has the row locked, and the instance executes",
        [
            "omd._fail_members > omd._fail_batch_instance",
            "omd._give_up_batch_instances > omd._fail_batch_instance",
            "omd.give_up_runs_of_task > omd._fail_batch_instance",
        ],
    ),
    (
        "OM003 OM101",
        "the Batch Instance is its own, of this moment",
        ["omd._execute_batch > omd._decide_batch", "omd.begin_batch > omd._decide_batch"],
    ),
    (
        "OM004 OM101 OM102",
        "the instance is its own, of this moment",
        ["omd._open_module_instance > omd._close_module_instance"],
    ),
    ("OM004", "the run is its own", ["omd.execute_module > omd.module_failure"]),
    ("OM003", "the Batch Instance of a run exists", ["omd._answer_module > omd._decide_module"]),
    (
        "OM003 OM102",
        "it has seen the Batch Instance proceed, which can only end",
        ["omd._decide_module > omd._hold_batch_instance"],
    ),
    (
        "OM003 OM102",
        "the run was told to roll back in a Batch Instance that proceeded",
        ["omd._resume_begin > omd._hold_batch_instance"],
    ),
    (
        "OM004 OM103 OM204",
        "the instance exists, was told to roll back, and its target is here",
        ["omd._settle_rollback > omd.rollback_module"],
    ),
    (
        "OM004",
        "the instance exists",
        ["omd._settle_rollback > omd.build_rollback_sql"],
    ),
    ("OM204", "the target may be anywhere", ["omd.confirm_rollback > omd._require_rollback"]),
    (
        "OM009 OM201 OM202 OM205",
        "it asks for no statements",
        ["omd.confirm_rollback > omd._rollback_plan"],
    ),
    (
        "OM005",
        "it names itself",
        [
            "omd.maintain_rooms > omd.require_no_transaction_block",
            "omd_dispatch.maintain > omd.require_no_transaction_block",
        ],
    ),
    (
        "OM004 OM103 OM204",
        "the instance exists and was told to roll back, and the target may be anywhere",
        ["omd._undo_for_room > omd._require_rollback"],
    ),
    (
        "OM013",
        "the Module is its own",
        [
            "omd_delivery._make_interface > omd.set_module_kind",
            "omd_delivery._register_agreement_module > omd.set_module_kind",
            "omd_facts._register_module > omd.set_module_kind",
            "omd_facts.equip_agreement > omd.set_module_kind",
            "omd_lake._register_helper > omd.set_module_kind",
            "omd_provenance._register_recall > omd.set_module_kind",
            "omd_lineage.remove_topic > omd.set_module_kind",
        ],
    ),
    (
        "OM002 OM004 OM005",
        "the kind of the Module is known, and no run is named",
        ["omd._try_begin > omd.note_failure"],
    ),
    (
        "OM004 OM005",
        "the instance is its own, of this moment",
        ["omd.explain_begin > omd._answer_module", "omd.explain_begin > omd.rollback_steps"],
    ),
    (
        "OM101",
        "it answers what a begin would raise",
        ["omd.explain_begin > omd._answer_module", "omd.explain_begin > omd.evaluate_batch"],
    ),
    (
        "OM009 OM201 OM202 OM205",
        "it answers what a begin would raise",
        ["omd.explain_begin > omd.rollback_steps"],
    ),
    (
        "OM002 OM003 OM009",
        "the Module of a topic exists, has a target with a name, and runs in no Batch",
        [
            "omd_lineage.begin_step > omd.begin_in_database_run",
            "omd_lineage.begin_step > omd.begin_module",
            "omd_lineage.undo_failed > omd.begin_module",
        ],
    ),
    (
        "OM011 OM013 OM101",
        "it gives no lease and no context, and it runs in no Batch",
        ["omd_lineage.undo_failed > omd.begin_module"],
    ),
    (
        "OM004 OM007 OM101 OM102",
        "the run is its own, of this moment, and proceeds",
        ["omd_lineage.undo_failed > omd.succeed_rollback"],
    ),
    (
        "OM101 OM112 OM201 OM202 OM205",
        "it records what is not the mistake of its caller, and answers ERROR",
        [
            "omd_lineage.begin_step > omd.begin_in_database_run",
            "omd_lineage.begin_step > omd.begin_module",
        ],
    ),
    (
        "OM004 OM009 OM101 OM112 OM201 OM202 OM205",
        "it records what is not the mistake of its caller, and answers ERROR",
        ["omd_lineage.begin_step > omd.undo_instances"],
    ),
    (
        "OM204 OM214 OM219",
        "it gives what to execute; a target elsewhere is recorded, and answered with ERROR",
        ["omd_lineage.begin_step > omd.begin_in_database_run"],
    ),
    (
        "OM003 OM004 OM006 OM013 OM106",
        "it names steps that stand and an indicator that there is, under the lock of the topic",
        ["omd_lineage._undo_later > omd.set_next_run_indicator"],
    ),
    (
        "OM206 OM212",
        "it records what is not the mistake of its caller, and answers ERROR or NOJOBS",
        [
            "omd_lineage.begin_step > omd_lineage._newest_row",
            "omd_lineage.begin_step > omd_lineage._find_block",
        ],
    ),
    (
        "OM004",
        "it has seen the instance execute",
        ["omd_lineage.fail_step > omd.module_failure"],
    ),
    (
        "OM004 OM005 OM102",
        "it has seen the instance execute",
        ["omd_lineage.fail_step > omd.abort_written"],
    ),
    (
        "OM004 OM005",
        "it has seen the instance execute",
        ["omd.execute_module > omd.module_abort"],
    ),
    (
        "OM004 OM005 OM101",
        "the run is its own and has failed",
        ["omd_lineage.end_run > omd_lineage.fail_step"],
    ),
    (
        "OM002 OM006 OM009 OM013 OM204 OM210",
        "the target is a table of delivery, and the codes are its own",
        ["omd_delivery._make_interface > omd.save_module"],
    ),
    (
        "OM214 OM219",
        "it gives what to execute",
        ["omd_decision._begin_stage_run > omd.begin_in_database_run"],
    ),
    (
        "OM002 OM013 OM209",
        "the Module is there, and the template is a text of delivery",
        ["omd_delivery._register_agreement_module > omd.register_rollback"],
    ),
    (
        "OM005",
        "a schedule has a time zone, and cron or a time between occurrences",
        [
            "omd_dispatch._fire_schedule > omd_dispatch._due_occurrences",
            "omd_dispatch._fire_schedule > omd_dispatch._next_occurrence",
        ],
    ),
    (
        "OM070 OM071",
        "the task exists, and so do its family and its type",
        ["omd_dispatch.explain_task > omd_dispatch._require_type"],
    ),
    (
        "OM070",
        "it has just registered the family",
        ["omd_dispatch.register_family > omd_dispatch.set_migration_status"],
    ),
    (
        "OM170",
        "it only makes the function that raises it",
        [
            "omd_dispatch._make_claims > omd_dispatch._create_one_sql",
            "omd_dispatch._make_insert > omd_dispatch._create_new_task",
        ],
    ),
    (
        "OM173",
        "the type has its tables already",
        ["omd_dispatch.set_custom > omd_dispatch._make_job_tables"],
    ),
    (
        "OM002",
        "it names no companions, and the Module is there",
        [
            "omd_lineage._register_topic_module > omd.save_module",
            "omd_lineage._register_topic_module > omd.register_rollback",
        ],
    ),
    (
        "OM002 OM005 OM013 OM209",
        "the Module is there, and the template is a text of lineage",
        ["omd_lineage._register_put_back > omd.register_rollback"],
    ),
    (
        "OM004 OM005 OM101 OM102",
        "it has the row locked, and the instance executes",
        ["omd.abort_run > omd._close_module_instance"],
    ),
    (
        "OM003 OM005 OM102 OM104",
        "the Batch Instance is its own and proceeds, and all that is in it has succeeded",
        ["omd_delivery._succeed_run > omd.batch_success"],
    ),
    (
        "OM004 OM007 OM102",
        "the instances are its own and proceed, and counts are not negative",
        ["omd_delivery._succeed_run > omd.module_success"],
    ),
    (
        "OM003 OM005",
        "a delivery that runs has a Batch Instance",
        ["omd_delivery._end_run > omd.batch_failure"],
    ),
    (
        "OM003 OM005 OM013",
        "the run is its own, and the reason a text of delivery",
        ["omd_delivery.stage_verdict > omd.abort_run"],
    ),
    (
        "OM003 OM005 OM013 OM101",
        "the run is its own, of this moment, and the reason a text of delivery",
        ["omd_delivery.begin_delivery > omd.abort_run"],
    ),
    (
        "OM001 OM003",
        "the agreement has its Batch, and no other calls it",
        ["omd_delivery.begin_delivery > omd.begin_batch"],
    ),
    (
        "OM002 OM003 OM101",
        "the entity has its Module, and the Batch Instance is of this moment",
        ["omd_delivery.begin_delivery > omd.begin_for_room"],
    ),
    (
        "OM004",
        "a delivery that has begun has its instances",
        ["omd_delivery.heartbeat_delivery > omd.heartbeat"],
    ),
    (
        "OM001 OM002 OM005 OM006",
        "the Batch is its own, and the entity has its Module",
        ["omd_delivery._equip_agreement > omd.add_module_to_batch"],
    ),
    (
        "OM005 OM006 OM013",
        "the name of the Batch is made of a code",
        ["omd_delivery._equip_agreement > omd.register_batch"],
    ),
    (
        "OM002 OM005 OM009 OM013 OM204 OM210",
        "it names no companions, and the document has been checked",
        ["omd_decision._register_stage_module > omd.save_module"],
    ),
    (
        "OM002 OM005 OM013 OM209",
        "the Module is there, and the template is a text of decision",
        ["omd_decision._register_stage_module > omd.register_rollback"],
    ),
    (
        "OM003 OM004 OM005 OM006 OM013",
        "the run exists, and the event is of type 6",
        [
            "omd_decision._pin_run > omd.log_event",
            "omd_decision._finish_run > omd.log_event",
            "omd_decision._note_positions > omd.log_event",
            "omd_lake.note_withheld > omd.log_event",
        ],
    ),
    (
        "OM004 OM005 OM102 OM105",
        "it has seen the run execute, which has no window yet",
        ["omd_decision._pin_run > omd.create_load_window"],
    ),
    ("OM221", "a format is given", ["omd_lake.begin_write > omd_lake.find_table"]),
    (
        "OM181",
        "the run is its own, of this moment",
        [
            "omd_decision._begin_stage_run > omd_decision._pin_run",
            "omd_decision.begin_stage > omd_decision._pin_run",
            "omd_decision.begin_stage > omd_decision._run_plan",
            "omd_decision.process_stage > omd_decision._process_run",
        ],
    ),
    (
        "OM005",
        "the run is known",
        [
            "omd_decision._process_run > omd_decision._run_plan",
            "omd_decision._name_unwritten > omd_decision._run_plan",
            "omd_decision.begin_stage > omd_decision._run_plan",
        ],
    ),
    (
        "OM288",
        "Spark runs every kind",
        [
            "omd_decision.begin_stage > omd_decision._stage_plan",
            "omd_decision.begin_stage > omd_decision._pin_run",
        ],
    ),
    (
        "OM288",
        "it asks only for a FUNCTION",
        ["omd_decision.activate_ruleset > omd_decision.test_ruleset"],
    ),
    (
        "OM005 OM013 OM081",
        "it has just saved the version",
        ["omd_decision.define_ruleset > omd_decision.activate_ruleset"],
    ),
    (
        "OM004 OM007",
        "the run exists, and its counts have been checked",
        ["omd_decision.commit_stage > omd.module_success"],
    ),
    (
        "OM007 OM013",
        "the commits have been checked",
        ["omd_lake.commit_tables > omd.record_write"],
    ),
    (
        "OM144",
        "it says of no write how many rows were read",
        ["omd_lake.commit_tables > omd.record_write"],
    ),
    (
        "OM002 OM005 OM006 OM009 OM013 OM111 OM204 OM210",
        "the Module is its own, and was not there",
        [
            "omd_lake._register_helper > omd.save_module",
            "omd_provenance._register_recall > omd.save_module",
        ],
    ),
    (
        "OM002 OM013 OM209",
        "the Module is there, and the template is its own",
        ["omd_provenance._register_recall > omd.register_rollback"],
    ),
    (
        "OM091",
        "it is caught, and says that the plan has changed",
        ["omd_provenance._act > omd_provenance._plan"],
    ),
    (
        "OM002 OM003 OM011",
        "the Module is there, no Batch calls it, and it has no lease",
        ["omd.begin_recall > omd._open_module_instance"],
    ),
    (
        "OM007 OM101 OM102",
        "the run executes, and the counts are those of the plan",
        ["omd.end_recall > omd.module_success"],
    ),
    (
        "OM171",
        "only a worker begins runs for tasks, and the room dispatch tells of it",
        [
            "omd._insert_batch_instance > omd_dispatch._fence_run",
            "omd.explain_begin > omd_dispatch._fence_run",
            "omd._open_module_instance > omd_dispatch._fence_run",
            "omd.record_failure > omd_dispatch._fence_run",
        ],
    ),
    (
        "OM112",
        "only a confirmed rollback marks a run as undone that has committed to a lake table",
        [
            "omd._answer_module > omd_lake._require_undo",
            "omd._ask_rollback > omd_lake._require_undo",
            "omd._claim_companions > omd_lake._require_undo",
            "omd._close_module_instance > omd_lake._require_undo",
            "omd._decide_module > omd_lake._require_undo",
            "omd._direct_modules_of_batch > omd_lake._require_undo",
            "omd._end_take_back > omd_lake._require_undo",
            "omd._guard_instance_edit > omd_lake._require_undo",
            "omd._resume_begin > omd_lake._require_undo",
            "omd.abort_written > omd_lake._require_undo",
            "omd.ask_for_rollback > omd_lake._require_undo",
            "omd.batch_success > omd_lake._require_undo",
            "omd.begin_recall > omd_lake._require_undo",
            "omd.end_recall > omd_lake._require_undo",
            "omd.heartbeat > omd_lake._require_undo",
            "omd.mark_taken_back > omd_lake._require_undo",
            "omd.mark_undone > omd_lake._require_undo",
            "omd.module_success > omd_lake._require_undo",
            "omd.note_one_transaction > omd_lake._require_undo",
            "omd.set_next_run_indicator > omd_lake._require_undo",
            "omd.set_next_run_indicators > omd_lake._require_undo",
            "omd.withdraw_fenced > omd_lake._require_undo",
            "omd._undo_for_room > omd._mark_rolled_back",
        ],
    ),
    (
        "OM219",
        "a room gives neither SQL nor a job",
        [
            "omd_decision._register_stage_module > omd.save_module",
            "omd_delivery._make_interface > omd.save_module",
            "omd_delivery._register_agreement_module > omd.save_module",
            "omd_facts._register_module > omd.save_module",
            "omd_facts.equip_agreement > omd.save_module",
            "omd_lake._register_helper > omd.save_module",
            "omd_lineage._register_topic_module > omd.save_module",
            "omd_provenance._register_recall > omd.save_module",
        ],
    ),
    (
        "OM002 OM005 OM006 OM009 OM013 OM111 OM204 OM210",
        "the Module is its own, and its target is only a name",
        ["omd_delivery._register_agreement_module > omd.save_module"],
    ),
    (
        "OM002 OM006 OM009 OM013 OM111 OM204 OM210",
        "the target is a table of facts, and the codes are its own",
        [
            "omd_facts._register_module > omd.save_module",
            "omd_facts.equip_agreement > omd.save_module",
        ],
    ),
    (
        "OM002 OM003 OM011 OM101",
        "the interface has its Module, no Batch calls it, and it gives no lease",
        [
            "omd_facts._begin_item > omd.begin_for_room",
            "omd_facts.resync > omd.begin_for_room",
            "omd_facts._undo > omd.begin_for_room",
        ],
    ),
    (
        "OM002 OM003 OM011 OM101",
        "the agreement has its Module, no Batch calls it, and it gives no lease",
        ["omd_facts.open_delivery > omd.begin_for_room"],
    ),
    (
        "OM002",
        "the agreement has its Module",
        ["omd_facts.begin_export > omd.begin_for_room"],
    ),
    (
        "OM007",
        "its counts are sums of natural numbers",
        ["omd_facts.finish_export > omd.module_success"],
    ),
    (
        "OM004 OM007 OM101 OM102",
        "the instance is its own, of this moment, and proceeds",
        [
            "omd_facts._begin_item > omd.module_success",
            "omd_facts.resync > omd.module_success",
            "omd_facts._undo > omd.module_success",
        ],
    ),
    (
        "OM004 OM007 OM102",
        "the instance is its own and proceeds, and it gives no counts",
        ["omd_facts.close_delivery > omd.module_success"],
    ),
    (
        "OM003 OM006",
        "it names a Module Instance and an indicator that there is",
        ["omd_facts._undo > omd.set_next_run_indicator"],
    ),
    (
        "OM013 OM031",
        "it has found the interface",
        [
            "omd_facts.close_delivery > omd_delivery.hold_interface",
            "omd_facts.undo_loads > omd_delivery.hold_interface",
            "omd_facts._take_interface > omd_delivery.hold_interface",
            "omd_facts.recall_locks > omd_delivery.hold_interface",
            "omd_facts._hold > omd_delivery.hold_interface",
            "omd_provenance._plan_erasure > omd_delivery.hold_interface",
        ],
    ),
    (
        "OM034",
        "the delivery is its own, of this moment",
        ["omd_facts.open_delivery > omd_delivery.move_delivery"],
    ),
    (
        "OM013 OM033",
        "it has found the agreement",
        [
            "omd_delivery.forget_arrival > omd_delivery._hold_agreement",
            "omd_delivery.redeliver > omd_delivery._hold_agreement",
            "omd_delivery.drop_return > omd_delivery._hold_agreement",
        ],
    ),
    (
        "OM037",
        "it makes one that is brought by hand",
        ["omd_delivery._redeliver_entry > omd_delivery._require_marks"],
    ),
    (
        "OM039",
        "it makes one that is brought by hand",
        ["omd_delivery._redeliver_entry > omd_delivery._require_contexts"],
    ),
    (
        "OM038",
        "the snapshot of a former delivery is past",
        ["omd_delivery.redeliver > omd_delivery._require_effective"],
    ),
    (
        "OM034 OM130",
        "the delivery is its own, and has not ended",
        ["omd_delivery.redeliver > omd_delivery.cancel_delivery"],
    ),
    (
        "OM037 OM038 OM039 OM041 OM131 OM232",
        "it refuses the folder, and the next goes on",
        ["omd_delivery.take_arrival > omd_delivery.create_delivery"],
    ),
    (
        "OM031",
        "it has found the agreement",
        ["omd_facts.due_export > omd_delivery.hold_interface"],
    ),
    (
        "OM036 OM232 OM251",
        "the view says that the export is due",
        ["omd_facts.due_export > omd_facts.create_export"],
    ),
    (
        "OM038",
        "it gives no time",
        [
            "omd_facts.create_export > omd_delivery.insert_delivery",
            "omd_facts.open_delivery > omd_delivery.insert_delivery",
        ],
    ),
    (
        "OM130",
        "the delivery is its own, of this moment",
        ["omd_facts.open_delivery > omd_delivery.move_delivery"],
    ),
    (
        "OM138",
        "it only makes a trigger",
        [
            "omd_delivery._guard_table > omd_delivery._guard_change",
            "omd_delivery._guard_table > omd_delivery._guard_delta",
            "omd_delivery._guard_table > omd_delivery._guard_staging",
        ],
    ),
    (
        "OM014 OM069 OM150 OM151",
        "it only writes the text of a function",
        ["omd_facts._writer_sql > omd_facts._hold"],
    ),
    (
        "OM059 OM253",
        "it only writes the text of a function",
        ["omd_facts._writer_sql > omd_facts._run_controls"],
    ),
    (
        "OM063 OM156 OM159",
        "it only writes the text of a function",
        ["omd_facts._writer_sql > omd_facts._deletes_physically"],
    ),
    (
        "OM062",
        "it only writes the text of a function",
        ["omd_facts._writer_sql > omd_facts._require_agreed"],
    ),
    (
        "OM051 OM052 OM053 OM054 OM055 OM056 OM057 OM058 OM061 OM157",
        "it only writes the text of a function",
        ["omd_facts._view_statements > omd_facts._writer_sql"],
    ),
]

# Keys of persons who are being erased: only routines of the erasure read them.
READ_BY_NOBODY = {"omd_provenance.pending_erasure"}

# Business rows, or texts that may hold their values: only who has omd_data_reader reads all of it.
HOLDS_ROWS = re.compile(
    r"omd\.(event_log|module_state)|omd_decision\.(cycle|reject|ruleset_test_result)"
    r"|omd_report\.delivery_quarantine|omd_delivery\.sample"
    r"|omd_dispatch\.task_(schedule|source)|omd_dispatch\.(old_)?task_data_\w+"
    r"|omd_lineage\.(offsets|replaced_row|source_probe)|omd_facts\.change_slice"
    r"|omd_event\.(sink|refused_event)"
)
# The schemas that a room may name besides omd.
KNOWS = {
    "omd_facts": {"omd_delivery"},
    "omd_lineage": {"omd_lake"},
    # These are installed over all rooms.
    "omd_provenance": {
        "omd_decision",
        "omd_delivery",
        "omd_dispatch",
        "omd_facts",
        "omd_lake",
        "omd_lineage",
        "omd_report",
    },
    "omd_event": {
        "omd_decision",
        "omd_delivery",
        "omd_dispatch",
        "omd_facts",
        "omd_lake",
        "omd_lineage",
        "omd_provenance",
        "omd_report",
    },
    "omd_report": {"omd_decision", "omd_delivery", "omd_dispatch", "omd_lineage"},
    "omd_web": {
        "omd_decision",
        "omd_delivery",
        "omd_dispatch",
        "omd_facts",
        "omd_lake",
        "omd_lineage",
        "omd_provenance",
        "omd_report",
    },
}
# A setting that has the name of a table.
SETTINGS = {"omd.reason"}

# The rights of omd_admin on tables, as in sql/grants: on all rows, or UPDATE of columns.
ADMIN_ROWS = {
    "omd.parameter",
    "omd.batch_parameter",
    "omd.module_parameter",
}
# It removes a worker that hangs: whoever deletes the row declares it dead.
ADMIN_DELETES = {"omd_dispatch.backend_registration"}
# A run writes what it keeps with the rights of its caller; a trigger refuses all other rows.
RUNNER_INSERTS = {"omd_decision.cycle", "omd_decision.reject"}
ADMIN_COLUMNS = {
    "omd_dispatch.task_schedule.inactive_indicator",
    "omd_dispatch.task_schedule.next_time",
    "omd.installation.on_failover",
    "omd.batch_instance.next_run_indicator",
    "omd.module_instance.next_run_indicator",
    "omd.batch.inactive_indicator",
    "omd.batch.continue_on_failure",
    "omd.module.inactive_indicator",
    "omd.batch_module.inactive_indicator",
    "omd.batch_hierarchy.inactive_indicator",
    "omd_lineage.topic.inactive_indicator",
    "omd_lineage.offsets.hostid",
    "omd_lineage.offsets.last",
    "omd_lineage.offsets.next",
    "omd_lineage.offsets.attempts",
    "omd_lineage.offsets.state",
}

# What no routine can know: how a contract reads, whether a transport says that it has arrived, what
# a connection or Spark does on the way, and what is in files.
RAISED_BY_PROGRAMS = {
    "OM096",
    "OM123",
    "OM124",
    *(f"OM14{number}" for number in range(8)),
    "OM222",
    "OM223",
    "OM240",
    "OM241",
    "OM242",
    "OM243",
    "OM296",
}

# Exceptions of the driver that are none of the eleven classes and have no SQLSTATE, and what
# becomes of each.
_PAGE = "the page answers with it"
NEVER_LEAVE = {
    "omd._core.rows.MissingColumns": "the link raises NotInstalled",
    "omd._core.signals.Terminated": "users catch SystemExit, whose code is 143",
    "omd.integrations.view_columns._Untraceable": "it ends the look at a view",
    "omd.programs.cli.doctor_health._NotWell": "omd doctor --health prints it",
    "omd.programs.demo.control.story._Broken": "the job of the demo fails by it",
    "omd.programs.install.dry_run._RolledBack": "it rolls the rehearsal back",
    "omd.programs.sender.dialing.NotPublic": "it is recorded as the failure of a delivery",
    "omd.programs.terminal.yaml_file._OutOfBounds": "the reader of YAML raises OM030",
    "omd.programs.web.bulk.TooManyError": _PAGE,
    "omd.programs.web.dialog.UnknownActionError": _PAGE,
    "omd.programs.web.download.OverTime": _PAGE,
    "omd.programs.web.guard.Refused": _PAGE,
    "omd.programs.web.opening.NotLetInError": _PAGE,
    "omd.programs.web.personal.AllAtWorkError": _PAGE,
    "omd.programs.web.section.NotThere": _PAGE,
    "omd.rooms.decision.rules.NoJson": "the call of the ruleset has failed, which is OM283",
    "omd.rooms.delivery.folders._LinkInside": "the reader of the folder raises OM036",
    "omd.rooms.delivery.run._Later": "the block waits, or raises Aborted",
    "omd.spark.decision.failed.Failed": "it is a row of the answer of the operator",
    "omd.spark.delivery.words.NoTreeError": "the check of the model raises OM030",
    "omd.spark.delivery.words.NotPermittedError": "the check of the model raises OM030",
    "omd.spark.failure.TaskFailed": "its text reaches the driver, which makes an error of it",
    "omd.tables.iceberg_run.Moved": "the commit is tried again",
    "omd.tables.run.Unstaged": "what calls it leaves the table to its Module",
    "omd.tables.schema.UnknownType": "the engine raises an error of its own",
}

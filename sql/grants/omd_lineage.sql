-- Who may do what in the room of lineage. Nothing is granted to PUBLIC.

GRANT USAGE ON SCHEMA omd_lineage TO omd_reader;

-- omd_reader: look at everything.
GRANT SELECT ON ALL TABLES IN SCHEMA omd_lineage, omd_report TO omd_reader;
GRANT EXECUTE ON FUNCTION
omd_lineage.block_start,
omd_lineage.block_end,
omd_lineage.in_block,
omd_lineage.newest_row,
omd_lineage.uncounted_instances,
omd_lineage.horizon,
omd_lineage.holder_lives,
omd_lineage.in_run_window,
omd_lineage.topic_parts,
omd_lineage.require_topic,
omd_lineage.topic_definition,
omd_lineage.may_be_swapped,
omd_lineage.add_counts
TO omd_reader;

-- Who takes steps or mends them may see what is next.
GRANT EXECUTE ON FUNCTION
omd_lineage.plan,
omd_lineage.next_block,
omd_lineage.oldest_writer,
omd_lineage.safe_position
TO omd_runner, omd_admin;
GRANT EXECUTE ON PROCEDURE
omd_lineage.set_block,
omd_lineage.write_block
TO omd_runner, omd_admin;

-- omd_runner: take steps. The routines after the empty line are parts of those before it, which run
-- with the rights of the caller because they read and write his tables.
GRANT EXECUTE ON PROCEDURE
omd_lineage.step,
omd_lineage.begin_step,
omd_lineage.commit_step,
omd_lineage.fail_step,
omd_lineage.note_error,
omd_lineage.probe_sources,
omd_lineage.set_offset,

omd_lineage.process_block
TO omd_runner;
GRANT EXECUTE ON FUNCTION
omd.tell_row_counts,
omd_lineage.probe_source,
omd_lineage.see_position,
omd_lineage.move_source,
omd_lineage.write_state,
omd_lineage.claim_topic,
omd_lineage.note_no_jobs,
omd_lineage.start_step,
omd_lineage.insert_transform,
omd_lineage.reload_table,
omd_lineage.advance_offset,
omd_lineage.raise_fenced
TO omd_runner;

-- omd_admin: register topics, and mend what is stuck.
GRANT EXECUTE ON PROCEDURE
omd_lineage.register_topic,
omd_lineage.remove_topic,
omd_lineage.purge_log,
omd_lineage.release,
omd_lineage.retry,
omd_lineage.set_offset,
omd_lineage.save_topic
TO omd_admin;
GRANT EXECUTE ON FUNCTION
omd_lineage.probe_source,
omd_lineage.see_position,
omd_lineage.move_source
TO omd_admin;
GRANT UPDATE (
    hostid, last, next, attempts, state
) ON omd_lineage.offsets TO omd_admin;
GRANT UPDATE (inactive_indicator) ON omd_lineage.topic TO omd_admin;

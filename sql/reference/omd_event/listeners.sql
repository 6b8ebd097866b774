-- What this room does for process control before history is purged.

INSERT INTO omd.before_purge (schema_name, before_routine, needed_routine)
VALUES ('omd_event', '_before_purge', '_needed_instances')
ON CONFLICT (schema_name) DO UPDATE SET
    before_routine = excluded.before_routine,
    needed_routine = excluded.needed_routine;

-- What this room does for others.

INSERT INTO omd.room_hook (hook, for_code, room, routine, position)
VALUES
('BEFORE_PURGE', '', 'omd_event', 'omd_event._before_purge', 60),
('NEEDED_INSTANCES', '', 'omd_event', 'omd_event._needed_instances', 60),
('HEAR_SERVER', '', 'omd_event', 'omd_event._hear_server', 60),
('SKIP_COUNTERS', '', 'omd_event', 'omd_event._skip_event_numbers', 60)
ON CONFLICT (hook, for_code, room) DO UPDATE SET
    routine = excluded.routine,
    position = excluded.position;

-- What this room does for others.

INSERT INTO omd.room_hook (hook, for_code, room, routine, position)
VALUES
('HEAR_SERVER', '', 'omd_dispatch', 'omd_dispatch._hear_server', 50),
('ERASE', '', 'omd_dispatch', 'omd_dispatch.erase_subject', 50)
ON CONFLICT (hook, for_code, room) DO UPDATE SET
    routine = excluded.routine,
    position = excluded.position;

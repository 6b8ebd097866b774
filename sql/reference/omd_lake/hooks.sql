-- What this room does for others.

INSERT INTO omd.room_hook (hook, for_code, room, routine, position)
VALUES
('HEAR_SERVER', '', 'omd_lake', 'omd_lake._hear_server', 70)
ON CONFLICT (hook, for_code, room) DO UPDATE SET
    routine = excluded.routine,
    position = excluded.position;

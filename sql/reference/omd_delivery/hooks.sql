-- What this room does for others. What is a part, as an entity is, is undone here.

INSERT INTO omd.room_hook (hook, for_code, room, routine, position)
VALUES
('NEXT_ACT', 'DELIVERY', 'omd_delivery', 'omd_delivery.next_delivery', 10),
('UNDO_RUNS', 'PART', 'omd_delivery', 'omd_delivery.undo_runs', 10),
('RECALL_FOLLOWS', '', 'omd_delivery', 'omd_delivery.recall_follows', 10),
('RECALL_EFFECTS_OWN', '', 'omd_delivery', 'omd_delivery.recall_effects', 10),
('RECALL_LOCKS', '', 'omd_delivery', 'omd_delivery.recall_locks', 10),
('TAKE_BACK_OWN', 'PART lvl.%', 'omd_delivery', 'omd_delivery.take_back', 10),
('ERASE', '', 'omd_delivery', 'omd_delivery.erase_keys', 10)
ON CONFLICT (hook, for_code, room) DO UPDATE SET
    routine = excluded.routine,
    position = excluded.position;

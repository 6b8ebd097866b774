-- What this room does for others.

INSERT INTO omd.room_hook (hook, for_code, room, routine, position)
VALUES
('BEGIN_RUN', 'TOPIC', 'omd_lineage', 'omd_lineage.begin_run', 30),
('END_RUN', 'TOPIC', 'omd_lineage', 'omd_lineage.end_run', 30),
('NEXT_ACT', 'TOPIC', 'omd_lineage', 'omd_lineage.next_step', 30),
('FORGET_ATTEMPTS', 'TOPIC', 'omd_lineage', 'omd_lineage.forget_attempts', 30),
('HEAR_UNDO', '', 'omd_lineage', 'omd_lineage.hear_undo', 30),
('RECALL_FOLLOWS', '', 'omd_lineage', 'omd_lineage.recall_follows', 30),
('RECALL_EFFECTS', '', 'omd_lineage', 'omd_lineage.recall_effects', 30),
('RECALL_LOCKS', '', 'omd_lineage', 'omd_lineage.recall_locks', 30),
('TAKE_BACK', 'TOPIC %', 'omd_lineage', 'omd_lineage.take_back', 30),
('ERASE', '', 'omd_lineage', 'omd_lineage.erase_subject', 30)
ON CONFLICT (hook, for_code, room) DO UPDATE SET
    routine = excluded.routine,
    position = excluded.position;

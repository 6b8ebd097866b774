-- What this room does for others.

INSERT INTO omd.room_hook (hook, for_code, room, routine, position)
VALUES
('BEGIN_RUN', 'STAGE', 'omd_decision', 'omd_decision.begin_run', 40),
('END_RUN', 'STAGE', 'omd_decision', 'omd_decision.end_run', 40),
('NEXT_ACT', 'STAGE', 'omd_decision', 'omd_decision.next_stage', 40),
('HEAR_UNDO', '', 'omd_decision', 'omd_decision.hear_undo', 40),
('RECALL_FOLLOWS', '', 'omd_decision', 'omd_decision.recall_follows', 40),
('RECALL_EFFECTS', '', 'omd_decision', 'omd_decision.recall_effects', 40),
('RECALL_LOCKS', '', 'omd_decision', 'omd_decision.recall_locks', 40),
('TAKE_BACK', 'STAGE %', 'omd_decision', 'omd_decision.take_back', 40),
('ERASE', '', 'omd_decision', 'omd_decision.erase_subject', 40)
ON CONFLICT (hook, for_code, room) DO UPDATE SET
    routine = excluded.routine,
    position = excluded.position;
